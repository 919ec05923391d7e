import type { ChatMessage } from "../protocol/turn.ts";

/** What can be set for one call to a model. */
export interface PlanSettings {
  /** 0 to 2. */
  temperature?: number;
  maxOutputTokens?: number;
}

/**
 * The next request to the model, as far as middleware may shape it. It can be added to; the core of the prompt, what
 * was said, and the core tools cannot be taken away. What is not valid throws at once.
 *
 * Providers cache what stays the same from call to call: add the same system parts every time, and what changes as a
 * reminder, which stands at the end.
 */
export interface ModelPlan {
  readonly model: string;
  readonly step: number;
  /** The conversation that the model will be told, oldest first. */
  readonly messages: readonly ChatMessage[];
  /** The names of the tools it will be offered. */
  readonly tools: readonly string[];
  readonly settings: Readonly<PlanSettings>;
  /** A part of the system prompt, after all others. */
  addSystem(text: string): void;
  /** Something the model is told at the end of the conversation, for this call only. */
  addReminder(text: string): void;
  /** Offers the model only these tools, and the core ones, for this call. */
  restrictTools(names: readonly string[]): void;
  removeTools(names: readonly string[]): void;
  updateSettings(settings: PlanSettings): void;
}
