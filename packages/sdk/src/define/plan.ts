import type { ReasoningEffort } from "../protocol/choices.ts";
import type { ChatMessage } from "../protocol/turn.ts";

/** Settings of one model call. */
export interface PlanSettings {
  /** From 0 to 2. */
  temperature?: number;
  maxOutputTokens?: number;
  /** How much the model thinks before it responds. */
  reasoningEffort?: ReasoningEffort;
  /** Tokens that the model may think for. Models without such a limit use the nearest effort. */
  thinkingBudget?: number;
}

/**
 * The next request to the model, as far as middleware may change it. Middleware can add to it, but cannot remove the
 * core of the prompt, messages, or core tools. Methods throw at once if an argument is invalid.
 *
 * Providers cache the unchanged beginning of a request. Add the same system parts for every call, and put what changes
 * into a reminder, which goes to the end.
 */
export interface ModelPlan {
  readonly model: string;
  readonly step: number;
  /** The messages that will be sent to the model, oldest first. */
  readonly messages: readonly ChatMessage[];
  /** The names of the tools that the model will be offered. */
  readonly tools: readonly string[];
  readonly settings: Readonly<PlanSettings>;
  /** Appends a part to the system prompt. */
  addSystem(text: string): void;
  /** Appends a message to the end of the conversation, for this call only. */
  addReminder(text: string): void;
  /** Offers only these tools, and the core tools, for this call. */
  restrictTools(names: readonly string[]): void;
  /** Does not offer these tools for this call. Core tools cannot be removed. */
  removeTools(names: readonly string[]): void;
  updateSettings(settings: PlanSettings): void;
}
