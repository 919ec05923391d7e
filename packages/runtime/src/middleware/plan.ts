import type { ChatMessage, PlanSettings } from "@thinkery/sdk";
import { type ModelMessage, type ModelRequest, getMessageText, type ToolDefinition } from "../model/model.ts";
import { deepFreeze } from "../store/persisted-object.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import { type PlanEdits, PlanDraft } from "./plan-draft.ts";

export interface PlanOptions {
  model: string;
  step: number;
  system: string;
  messages: readonly ModelMessage[];
  tools: Toolbox;
  settings: PlanSettings;
}

/** The request to the model while middleware shapes it, one draft after the other. */
export class Plan {
  readonly #options: PlanOptions;
  #edits: PlanEdits;
  #draft: PlanDraft | undefined;
  #messages: readonly ChatMessage[] | undefined;

  constructor(start: PlanOptions) {
    this.#options = start;
    this.#edits = { system: [], reminders: [], tools: start.tools.definitions(), settings: start.settings };
  }

  /** For one middleware: what it does counts when it is kept, and as a whole. */
  createDraft(): PlanDraft {
    const { model, step, tools } = this.#options;
    this.#draft = new PlanDraft(
      { model, step, tools, messages: () => this.#getMessages(), edits: this.#edits },
      (edits) => {
        if (edits) this.#edits = edits;
        this.#draft = undefined;
      },
    );
    return this.#draft;
  }

  /** A tool was registered while the plan was made. */
  offer(definition: ToolDefinition): void {
    if (this.#draft) this.#draft.offer(definition);
    else this.#edits = { ...this.#edits, tools: [...this.#edits.tools, definition] };
  }

  /** What nobody changed is the very same object as before. */
  toRequest(): ModelRequest {
    const { system, messages } = this.#options;
    const { reminders, tools, settings, system: parts } = this.#edits;
    return {
      system: parts.length > 0 ? [system, ...parts].join("\n\n") : system,
      messages: reminders.length > 0 ? [...messages, ...reminders.map(toReminder)] : messages,
      tools,
      ...(Object.keys(settings).length > 0 ? { settings } : {}),
    };
  }

  #getMessages(): readonly ChatMessage[] {
    this.#messages ??= deepFreeze(this.#options.messages.map(toChatMessage));
    return this.#messages;
  }
}

function toReminder(text: string): ModelMessage {
  return { role: "user", content: `<reminder>\n${text}\n</reminder>` };
}

function toChatMessage(message: ModelMessage): ChatMessage {
  if (message.role === "tool") return { role: "tool", content: message.content, toolCallId: message.callId };
  if (message.role === "assistant") {
    const calls = message.toolCalls?.map(({ id, name, input }) => ({ id, name, args: input }));
    return { role: "assistant", content: message.content, ...(calls ? { toolCalls: calls } : {}) };
  }
  return { role: "user", content: getMessageText(message) };
}
