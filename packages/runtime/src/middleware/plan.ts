import type { ChatMessage, ModelPlan, PlanSettings } from "@thinkery/sdk";
import type { ModelMessage, ModelRequest, ToolDefinition } from "../model/model.ts";
import type { Toolbox } from "../tools/toolbox.ts";

export interface PlanStart {
  model: string;
  step: number;
  system: string;
  messages: readonly ModelMessage[];
  tools: Toolbox;
  settings: PlanSettings;
}

interface Edits {
  system: readonly string[];
  reminders: readonly string[];
  tools: readonly ToolDefinition[];
  settings: PlanSettings;
}

const longestText = 100_000;

/** The request to the model while middleware shapes it. What one middleware did to it can be undone as a whole. */
export class Plan implements ModelPlan {
  readonly #start: PlanStart;
  #edits: Edits;
  #messages: readonly ChatMessage[] | undefined;

  constructor(start: PlanStart) {
    this.#start = start;
    this.#edits = { system: [], reminders: [], tools: start.tools.definitions(), settings: start.settings };
  }

  get model(): string {
    return this.#start.model;
  }

  get step(): number {
    return this.#start.step;
  }

  get messages(): readonly ChatMessage[] {
    this.#messages ??= Object.freeze(this.#start.messages.map((message) => Object.freeze(chatMessage(message))));
    return this.#messages;
  }

  get tools(): readonly string[] {
    return this.#edits.tools.map(({ name }) => name);
  }

  get settings(): Readonly<PlanSettings> {
    return Object.freeze({ ...this.#edits.settings });
  }

  addSystem(text: string): void {
    this.#edits = { ...this.#edits, system: [...this.#edits.system, checkedText(text, "A system part")] };
  }

  remind(text: string): void {
    this.#edits = { ...this.#edits, reminders: [...this.#edits.reminders, checkedText(text, "A reminder")] };
  }

  onlyTools(names: readonly string[]): void {
    const wanted = this.#known(names);
    this.#keep((name) => wanted.has(name) || this.#start.tools.isCore(name));
  }

  withoutTools(names: readonly string[]): void {
    const unwanted = this.#known(names);
    for (const name of unwanted) if (this.#start.tools.isCore(name)) throw new Error(`The tool “${name}” is a core tool and cannot be taken away.`);
    this.#keep((name) => !unwanted.has(name));
  }

  set(settings: PlanSettings): void {
    const { temperature, maxOutputTokens, ...others } = settings;
    const [unknown] = Object.keys(others);
    if (unknown) throw new Error(`There is no setting “${unknown}”; there are temperature and maxOutputTokens.`);
    if (temperature !== undefined && !(temperature >= 0 && temperature <= 2)) throw new Error(`A temperature is from 0 to 2, not ${temperature}.`);
    if (maxOutputTokens !== undefined && !(Number.isSafeInteger(maxOutputTokens) && maxOutputTokens > 0)) {
      throw new Error(`maxOutputTokens is a whole number above 0, not ${maxOutputTokens}.`);
    }
    this.#edits = { ...this.#edits, settings: { ...this.#edits.settings, ...settings } };
  }

  /** Answers how to take back everything that is done to the plan from now on. A tool added meanwhile is offered. */
  savepoint(): () => void {
    const edits = this.#edits;
    return () => {
      this.#edits = edits;
    };
  }

  /** A tool was registered while the plan was made. */
  offer(definition: ToolDefinition): void {
    this.#edits = { ...this.#edits, tools: [...this.#edits.tools, definition] };
  }

  /** What nobody changed is the very same object as before. */
  request(): ModelRequest {
    const { system, messages } = this.#start;
    const { reminders, tools, settings, system: parts } = this.#edits;
    return {
      system: parts.length > 0 ? [system, ...parts].join("\n\n") : system,
      messages: reminders.length > 0 ? [...messages, ...reminders.map(reminder)] : messages,
      tools,
      ...(Object.keys(settings).length > 0 ? { settings } : {}),
    };
  }

  #known(names: readonly string[]): Set<string> {
    const known = this.#start.tools;
    return new Set(
      names.map((name) => {
        const tool = known.find(name);
        if (!tool) throw new Error(known.unknown(name));
        return tool.name;
      }),
    );
  }

  #keep(test: (name: string) => boolean): void {
    this.#edits = { ...this.#edits, tools: this.#edits.tools.filter(({ name }) => test(name)) };
  }
}

function checkedText(text: unknown, what: string): string {
  if (typeof text !== "string" || text.trim() === "") throw new Error(`${what} is a text, and not an empty one.`);
  if (text.length > longestText) throw new Error(`${what} may have ${longestText} characters; this one has ${text.length}.`);
  return text.trim();
}

function reminder(text: string): ModelMessage {
  return { role: "user", content: `<reminder>\n${text}\n</reminder>` };
}

function chatMessage(message: ModelMessage): ChatMessage {
  if (message.role === "tool") return { role: "tool", content: message.content, toolCallId: message.callId };
  if (message.role === "assistant") {
    const calls = message.toolCalls?.map(({ id, name, input }) => ({ id, name, args: input }));
    return { role: "assistant", content: message.content, ...(calls ? { toolCalls: calls } : {}) };
  }
  const { content } = message;
  if (typeof content === "string") return { role: "user", content };
  return { role: "user", content: content.map((part) => (part.type === "text" ? part.text : `[image, ${part.mediaType}]`)).join("\n") };
}
