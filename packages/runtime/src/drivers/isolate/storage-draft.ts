import type { JsonValue } from "@thinkery/sdk/agent-host";
import type { CodeValues } from "../../store/code/code-values.ts";
import { storageLimits } from "./host-call-schemas.ts";

/** Of one request; they are in memory until it ends. */
const maxDraftChars = 16 * 1024 * 1024;

/** The stored values of an agent as one request sees them. Its changes are written when it has succeeded. */
export class StorageDraft {
  readonly #values: CodeValues;
  /** JSON by key; undefined if it is to be deleted. */
  readonly #changes = new Map<string, string | undefined>();
  #chars = 0;

  constructor(values: CodeValues) {
    this.#values = values;
  }

  get(key: string): { value?: JsonValue } {
    const json = this.#read(key);
    return json === undefined ? {} : { value: JSON.parse(json) as JsonValue };
  }

  set(key: string, value: JsonValue): void {
    const json = JSON.stringify(value);
    if (json.length > storageLimits.valueChars)
      throw new Error(
        `The value of “${key}” has ${json.length} characters; a stored value may have at most ${storageLimits.valueChars}.`,
      );
    this.#change(key, json);
  }

  delete(key: string): { existed: boolean } {
    const existed = this.#read(key) !== undefined;
    this.#change(key, undefined);
    return { existed };
  }

  list({ prefix, after, limit }: { prefix: string; after: string; limit: number }) {
    const isListed = (key: string) => compareKeys(key, after) > 0 && key.startsWith(prefix);
    const changed = [...this.#changes].filter(([key]) => isListed(key));
    // Each deleted key can hide one that is stored.
    const stored = this.#values.list(prefix, after, limit + 1 + changed.length);
    const byKey = new Map(stored.map(({ key, chars }) => [key, chars]));
    const lastStored = stored.length > limit + changed.length ? stored.at(-1)?.key : undefined;
    for (const [key, json] of changed) {
      if (json === undefined) byKey.delete(key);
      else if (lastStored === undefined || compareKeys(key, lastStored) <= 0) byKey.set(key, json.length);
    }
    const keys = [...byKey.keys()].sort(compareKeys);
    const entries = keys.slice(0, limit).map((key) => ({ key, chars: byKey.get(key) ?? 0 }));
    const last = entries.at(-1);
    return { entries, ...(keys.length > limit && last ? { next: last.key } : {}) };
  }

  /** Writes the changes. Throws if the agent would have too much; call it in a transaction. */
  commit(): void {
    if (this.#changes.size === 0) return;
    for (const [key, json] of this.#changes) {
      if (json === undefined) this.#values.delete(key);
      else this.#values.set(key, json);
    }
    const { entries, chars } = this.#values.measure();
    if (entries > storageLimits.entries || chars > storageLimits.totalChars)
      throw new Error(
        `The agent's storage would have ${entries} values with ${chars} characters; it may have at most ${storageLimits.entries} with ${storageLimits.totalChars}. Delete some.`,
      );
  }

  #read(key: string): string | undefined {
    return this.#changes.has(key) ? this.#changes.get(key) : this.#values.get(key);
  }

  #change(key: string, json: string | undefined): void {
    const former = this.#changes.get(key)?.length ?? 0;
    const chars = this.#chars - former + (json?.length ?? 0);
    if (chars > maxDraftChars)
      throw new Error(`A request can store at most ${maxDraftChars} characters. Store less at a time.`);
    this.#chars = chars;
    this.#changes.set(key, json);
  }
}

/** As SQLite does, which compares the bytes of UTF-8. */
const compareKeys = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));
