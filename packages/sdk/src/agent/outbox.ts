import type { HostClient } from "./host-client.ts";
import type { ReplyOperation } from "./wire.ts";

/** Per call; longer text is sent in several. */
const maxOperations = 500;
const maxChars = 200_000;

interface Entry {
  operation: ReplyOperation;
  resolve(): void;
  reject(error: unknown): void;
}

/** Sends what replies do to the host, in order: one call at a time, with everything that came up meanwhile. */
export class Outbox {
  readonly #host: HostClient;
  #entries: Entry[] = [];
  #sending: Promise<void> | undefined;
  #error: unknown;
  #replies = 0;

  constructor(host: HostClient) {
    this.#host = host;
  }

  nextReply(): number {
    return this.#replies++;
  }

  /** Resolves when the host has it. */
  add(operation: ReplyOperation): Promise<void> {
    const added = new Promise<void>((resolve, reject) => this.#entries.push({ operation, resolve, reject }));
    // Most callers do not wait; the error is thrown by `flush`.
    added.catch(() => {});
    this.#sending ??= Promise.resolve().then(() => this.#send());
    return added;
  }

  /** Resolves when everything was sent. Throws the first error. */
  async flush(): Promise<void> {
    while (this.#sending) await this.#sending;
    if (this.#error !== undefined) throw this.#error;
  }

  async #send(): Promise<void> {
    while (this.#entries.length > 0) {
      const batch = this.#takeBatch();
      try {
        await this.#host.call("reply", { operations: mergeWrites(batch.map(({ operation }) => operation)) });
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#error ??= error;
        for (const { reject } of [...batch, ...this.#entries]) reject(error);
        this.#entries = [];
      }
    }
    this.#sending = undefined;
  }

  #takeBatch(): Entry[] {
    let chars = 0;
    let count = 0;
    for (const { operation } of this.#entries) {
      chars += "text" in operation ? operation.text.length : 0;
      if (count > 0 && (count >= maxOperations || chars > maxChars)) break;
      count++;
    }
    return this.#entries.splice(0, count);
  }
}

/** Joins consecutive writes to the same reply. */
function mergeWrites(operations: readonly ReplyOperation[]): ReplyOperation[] {
  const merged: ReplyOperation[] = [];
  for (const operation of operations) {
    const last = merged.at(-1);
    if (operation.type === "write" && last?.type === "write" && last.reply === operation.reply)
      merged[merged.length - 1] = { ...last, text: last.text + operation.text };
    else merged.push(operation);
  }
  return merged;
}
