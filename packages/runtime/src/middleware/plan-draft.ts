import type { ChatMessage, ModelPlan, PlanSettings } from "@thinkery/sdk";
import type { ToolDefinition } from "../model/model.ts";
import type { Toolbox } from "../tools/toolbox.ts";

/** What has become of a plan so far. */
export interface PlanEdits {
  readonly system: readonly string[];
  readonly reminders: readonly string[];
  readonly tools: readonly ToolDefinition[];
  readonly settings: PlanSettings;
}

interface DraftOptions {
  model: string;
  step: number;
  tools: Toolbox;
  messages(): readonly ChatMessage[];
  edits: PlanEdits;
}

/** What one middleware may add to one call, in parts and in characters. */
const maxParts = 64;
const maxTextChars = 100_000;

/** The plan as one middleware has it while its hook runs. */
export class PlanDraft implements ModelPlan {
  readonly #options: DraftOptions;
  readonly #close: (edits: PlanEdits | undefined) => void;
  #edits: PlanEdits;
  #parts = 0;
  #characters = 0;
  #isClosed = false;

  /** Told what is to become of the plan: these edits, or nothing new. */
  constructor(start: DraftOptions, close: (edits: PlanEdits | undefined) => void) {
    this.#options = start;
    this.#edits = start.edits;
    this.#close = close;
  }

  get model(): string {
    return this.#options.model;
  }

  get step(): number {
    return this.#options.step;
  }

  get messages(): readonly ChatMessage[] {
    return this.#options.messages();
  }

  get tools(): readonly string[] {
    return this.#edits.tools.map(({ name }) => name);
  }

  get settings(): Readonly<PlanSettings> {
    return Object.freeze({ ...this.#edits.settings });
  }

  addSystem(text: string): void {
    this.#edit({ system: [...this.#edits.system, this.#checkText(text, "A system part")] });
  }

  addReminder(text: string): void {
    this.#edit({ reminders: [...this.#edits.reminders, this.#checkText(text, "A reminder")] });
  }

  restrictTools(names: readonly string[]): void {
    const wanted = this.#resolveNames(names);
    this.#keepTools((name) => wanted.has(name) || this.#options.tools.isCore(name));
  }

  removeTools(names: readonly string[]): void {
    const unwanted = this.#resolveNames(names);
    for (const name of unwanted) {
      if (this.#options.tools.isCore(name))
        throw new Error(`The tool “${name}” is a core tool and cannot be taken away.`);
    }
    this.#keepTools((name) => !unwanted.has(name));
  }

  updateSettings(settings: PlanSettings): void {
    const { temperature, maxOutputTokens, ...others } = settings;
    const [unknown] = Object.keys(others);
    if (unknown) throw new Error(`There is no setting “${unknown}”; there are temperature and maxOutputTokens.`);
    if (temperature !== undefined && !(typeof temperature === "number" && temperature >= 0 && temperature <= 2)) {
      throw new Error(`A temperature is a number from 0 to 2, not ${String(temperature)}.`);
    }
    if (maxOutputTokens !== undefined && !(Number.isSafeInteger(maxOutputTokens) && maxOutputTokens > 0)) {
      throw new Error(`maxOutputTokens is a whole number above 0, not ${String(maxOutputTokens)}.`);
    }
    this.#edit({ settings: { ...this.#edits.settings, ...settings } });
  }

  offer(definition: ToolDefinition): void {
    this.#edit({ tools: [...this.#edits.tools, definition] });
  }

  /** The hook came back: what it did is part of the plan. */
  keep(): void {
    this.#end(this.#edits);
  }

  /** The hook failed: nothing that it did, or still does, is. */
  drop(): void {
    this.#end(undefined);
  }

  #end(edits: PlanEdits | undefined): void {
    this.#isClosed = true;
    this.#close(edits);
  }

  #edit(edits: Partial<PlanEdits>): void {
    if (this.#isClosed) throw new Error("The hook that had this plan is over, and so are its changes.");
    this.#edits = { ...this.#edits, ...edits };
  }

  #checkText(text: unknown, what: string): string {
    if (typeof text !== "string" || text.trim() === "") throw new Error(`${what} is a text, and not an empty one.`);
    this.#parts++;
    this.#characters += text.length;
    if (this.#parts > maxParts)
      throw new Error(`One middleware may add ${maxParts} system parts and reminders to a call, and no more.`);
    if (this.#characters > maxTextChars)
      throw new Error(
        `One middleware may add ${maxTextChars} characters to a call; with this there are ${this.#characters}.`,
      );
    return text.trim();
  }

  #resolveNames(names: readonly string[]): Set<string> {
    const { tools } = this.#options;
    return new Set(
      names.map((name) => {
        const tool = tools.find(name);
        if (!tool) throw new Error(tools.describeUnknown(name));
        return tool.name;
      }),
    );
  }

  #keepTools(test: (name: string) => boolean): void {
    this.#edit({ tools: this.#edits.tools.filter(({ name }) => test(name)) });
  }
}
