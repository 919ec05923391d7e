import { type ChatMessage, type ModelPlan, type PlanSettings, reasoningEfforts } from "@thinkery/sdk";
import type { ToolDefinition } from "../model/model.ts";
import type { Toolbox } from "../tools/toolbox.ts";

/** The changes made to a plan so far. */
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

/** What one middleware may add to one model call. */
const maxParts = 64;
const maxTextChars = 100_000;

/** The plan as one middleware sees and edits it while its hook runs. */
export class PlanDraft implements ModelPlan {
  readonly #options: DraftOptions;
  readonly #close: (edits: PlanEdits | undefined) => void;
  #edits: PlanEdits;
  #partCount = 0;
  #charCount = 0;
  #isClosed = false;

  /** `close` is called with the edits to commit, or with undefined to discard them. */
  constructor(options: DraftOptions, close: (edits: PlanEdits | undefined) => void) {
    this.#options = options;
    this.#edits = options.edits;
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
    const allowed = this.#resolveNames(names);
    this.#filterTools((name) => allowed.has(name) || this.#options.tools.isCore(name));
  }

  removeTools(names: readonly string[]): void {
    const removed = this.#resolveNames(names);
    for (const name of removed) {
      if (this.#options.tools.isCore(name)) throw new Error(`The tool “${name}” is a core tool and cannot be removed.`);
    }
    this.#filterTools((name) => !removed.has(name));
  }

  updateSettings(settings: PlanSettings): void {
    const { temperature, maxOutputTokens, reasoningEffort, thinkingBudget, ...others } = settings;
    const [unknown] = Object.keys(others);
    if (unknown)
      throw new Error(
        `Unknown setting “${unknown}”; expected temperature, maxOutputTokens, reasoningEffort or thinkingBudget.`,
      );
    if (temperature !== undefined && !(typeof temperature === "number" && temperature >= 0 && temperature <= 2)) {
      throw new Error(`temperature must be a number from 0 to 2, not ${String(temperature)}.`);
    }
    if (maxOutputTokens !== undefined && !(Number.isSafeInteger(maxOutputTokens) && maxOutputTokens > 0)) {
      throw new Error(`maxOutputTokens must be a positive integer, not ${String(maxOutputTokens)}.`);
    }
    if (reasoningEffort !== undefined && !reasoningEfforts.includes(reasoningEffort)) {
      throw new Error(`reasoningEffort must be one of ${reasoningEfforts.join(", ")}, not ${String(reasoningEffort)}.`);
    }
    if (thinkingBudget !== undefined && !(Number.isSafeInteger(thinkingBudget) && thinkingBudget >= 0)) {
      throw new Error(`thinkingBudget must be 0 or a positive integer, not ${String(thinkingBudget)}.`);
    }
    this.#edit({ settings: { ...this.#edits.settings, ...settings } });
  }

  addTool(definition: ToolDefinition): void {
    // A mock in its place may be there already.
    const others = this.#edits.tools.filter(({ name }) => name !== definition.name);
    this.#edit({ tools: [...others, definition] });
  }

  /** The hook completed: its edits become part of the plan. */
  commit(): void {
    this.#end(this.#edits);
  }

  /** The hook failed: its edits are discarded, including those it may still make. */
  discard(): void {
    this.#end(undefined);
  }

  #end(edits: PlanEdits | undefined): void {
    this.#isClosed = true;
    this.#close(edits);
  }

  #edit(edits: Partial<PlanEdits>): void {
    if (this.#isClosed) throw new Error("The plan can no longer be changed: its hook has ended.");
    this.#edits = { ...this.#edits, ...edits };
  }

  #checkText(text: unknown, label: string): string {
    if (typeof text !== "string" || text.trim() === "") throw new Error(`${label} must be a non-empty string.`);
    this.#partCount++;
    this.#charCount += text.length;
    if (this.#partCount > maxParts)
      throw new Error(`A middleware may add at most ${maxParts} system parts and reminders per call.`);
    if (this.#charCount > maxTextChars)
      throw new Error(`A middleware may add at most ${maxTextChars} characters per call, not ${this.#charCount}.`);
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

  #filterTools(predicate: (name: string) => boolean): void {
    this.#edit({ tools: this.#edits.tools.filter(({ name }) => predicate(name)) });
  }
}
