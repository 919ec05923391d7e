import { toJson } from "./json.ts";
import type { AgentState, JsonValue, StateChanges } from "./wire.ts";

/** The host refuses a larger state. */
export const maxStateBytes = 1024 * 1024;

/** The state of an agent during one request. */
export class StateDraft {
  readonly #initial: AgentState;
  #current: Readonly<AgentState>;
  readonly #set = new Map<string, JsonValue>();
  readonly #deleted = new Set<string>();

  constructor(initial: AgentState, stored: AgentState) {
    this.#initial = initial;
    this.#current = Object.freeze({ ...initial, ...stored });
  }

  /** With all changes so far. */
  get current(): Readonly<AgentState> {
    return this.#current;
  }

  /** Throws, and changes nothing, if a value is not JSON or the state would get too large. */
  apply(changes: Record<string, unknown>): void {
    if (typeof changes !== "object" || changes === null || Array.isArray(changes))
      throw new TypeError("setState takes an object with the keys to change.");
    if (Object.hasOwn(changes, "__proto__")) throw new TypeError("The state cannot have the key “__proto__”.");
    const next: AgentState = { ...this.#current };
    const entries = Object.entries(changes).map(
      ([key, value]) => [key, value === undefined ? undefined : toJson(value, `state.${key}`)] as const,
    );
    for (const [key, value] of entries) {
      // A key that is removed has its initial value again, if it was declared.
      const changed = value === undefined && Object.hasOwn(this.#initial, key) ? this.#initial[key] : value;
      if (changed === undefined) delete next[key];
      else next[key] = changed;
    }
    const bytes = new TextEncoder().encode(JSON.stringify(next)).length;
    if (bytes > maxStateBytes)
      throw new RangeError(
        `The state would have ${bytes} bytes, and may have at most ${maxStateBytes}. Keep large values with ctx.storage.`,
      );
    this.#current = Object.freeze(next);
    for (const [key, value] of entries) {
      this.#set.delete(key);
      this.#deleted.delete(key);
      if (value === undefined) this.#deleted.add(key);
      else this.#set.set(key, value);
    }
  }

  get changes(): StateChanges {
    return { set: Object.fromEntries(this.#set), deleted: [...this.#deleted] };
  }
}
