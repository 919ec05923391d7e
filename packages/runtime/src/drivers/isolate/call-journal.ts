import { createHash } from "node:crypto";
import type { Journal, JournalRequest } from "../../store/code/journal.ts";

/** Longer outputs are not kept: the call is then made again, if it may be. */
const maxOutputChars = 500_000;

/**
 * The calls of one request, by what they are: name, input, and how many like it were made before. Parallel calls match
 * however they are interleaved. Without a request nothing is kept.
 */
export class CallJournal {
  readonly #journal: Journal;
  readonly #request: JournalRequest | undefined;
  readonly #counts = new Map<string, number>();

  constructor(journal: Journal, request: JournalRequest | undefined) {
    this.#journal = journal;
    this.#request = request;
  }

  /** Returns the key of the next call like this. */
  begin(name: string, json: string): string {
    const digest = createHash("sha256").update(`${name}\n${json}`).digest("base64url").slice(0, 22);
    const count = this.#counts.get(digest) ?? 0;
    this.#counts.set(digest, count + 1);
    return `${digest}.${count}`;
  }

  /** Returns the output of a call that was made before. */
  find(key: string): string | undefined {
    return this.#request && this.#journal.findCall(this.#request, key)?.output;
  }

  wasBegun(key: string): boolean {
    return this.#request !== undefined && this.#journal.findCall(this.#request, key) !== undefined;
  }

  /** Notes that a call begins, with what it takes to find its outcome. */
  note(key: string): void {
    if (this.#request) this.#journal.putCall(this.#request, key, undefined);
  }

  complete(key: string, output: string): void {
    if (this.#request && output.length <= maxOutputChars) this.#journal.putCall(this.#request, key, output);
  }
}
