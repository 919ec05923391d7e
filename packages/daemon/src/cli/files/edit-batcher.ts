import { isThinkeryError } from "@thinkery/sdk";
import type { RemoteEdit } from "./sync-remote.ts";

/** Files up to this size are sent in batches; each batch is one version. */
export const maxBatchedFileBytes = 256 * 1024;
const batchLimits = { edits: 500, bytes: 3 * 1024 * 1024 };

interface EditBatcherOptions {
  send(edits: readonly RemoteEdit[]): Promise<void>;
  /** Called for each edit that the host rejects. */
  onRefused(edit: RemoteEdit, error: Error): void;
}

/** Sends small edits to the host in batches. */
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

  /** Bisects a rejected batch until the rejected edits are isolated, so that they do not block the others. */
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

/** Returns whether the host rejected this particular edit. */
export function isRefusal(error: unknown): error is Error {
  return isThinkeryError(error) && ["bad_request", "conflict", "too_large", "precondition_failed"].includes(error.code);
}
