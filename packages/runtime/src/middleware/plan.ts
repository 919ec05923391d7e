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

/** A model request while middleware edits it, one draft at a time. */
export class Plan {
  readonly #options: PlanOptions;
  #edits: PlanEdits;
  #draft: PlanDraft | undefined;
  #messages: readonly ChatMessage[] | undefined;

  constructor(options: PlanOptions) {
    this.#options = options;
    this.#edits = { system: [], reminders: [], tools: options.tools.definitions(), settings: options.settings };
  }

  /** Creates the draft for one middleware. Its edits apply all at once when it is committed. */
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

  /** Adds a tool that was registered while the plan was edited. */
  addTool(definition: ToolDefinition): void {
    if (this.#draft) this.#draft.addTool(definition);
    else this.#edits = { ...this.#edits, tools: [...this.#edits.tools, definition] };
  }

  /** Parts that were not changed are the same objects as before. */
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
