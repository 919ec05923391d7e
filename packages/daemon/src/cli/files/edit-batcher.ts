import { isThinkeryError } from "@thinkery/sdk";
import type { RemoteEdit } from "./sync-remote.ts";

/** Files up to this size go in batches, which are one version each. */
export const maxBatchedFileBytes = 256 * 1024;
const batchLimits = { edits: 500, bytes: 3 * 1024 * 1024 };

interface EditBatcherOptions {
  send(edits: readonly RemoteEdit[]): Promise<void>;
  /** The host does not take just this one. */
  onRefused(edit: RemoteEdit, error: Error): void;
}

/** Small changes on their way to the host, many at a time. */
export class EditBatcher {
  readonly #options: EditBatcherOptions;
  #batch: RemoteEdit[] = [];
  #bytes = 0;

  constructor(options: EditBatcherOptions) {
    this.#options = options;
  }

  async add(edit: RemoteEdit): Promise<void> {
    this.#batch.push(edit);
    this.#bytes += "write" in edit ? edit.bytes.length : 0;
    if (this.#batch.length >= batchLimits.edits || this.#bytes >= batchLimits.bytes) await this.flush();
  }

  async flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#bytes = 0;
    if (batch.length > 0) await this.#send(batch);
  }

  /** One that is refused keeps the others of its batch; the halves of it are tried, until it is alone. */
  async #send(edits: readonly RemoteEdit[]): Promise<void> {
    try {
      await this.#options.send(edits);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (edits.length === 1) return this.#options.onRefused(edits[0] as RemoteEdit, error);
      const half = Math.ceil(edits.length / 2);
      await this.#send(edits.slice(0, half));
      await this.#send(edits.slice(half));
    }
  }
}

export function getEditPath(edit: RemoteEdit): string {
  if ("write" in edit) return edit.write;
  return "delete" in edit ? edit.delete : edit.to;
}

/** The host has understood, and says no to just this. */
export function isRefusal(error: unknown): error is Error {
  return isThinkeryError(error) && ["bad_request", "conflict", "too_large", "precondition_failed"].includes(error.code);
}
