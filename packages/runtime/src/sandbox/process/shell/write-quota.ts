import type { FileBody } from "./file-body.ts";
import type { Entry, Folder, Tree } from "./tree.ts";

/** Limits the size of what a command wrote and still exists. */
export class WriteQuota {
  readonly #tree: Tree;
  readonly #maxBytes: number;
  readonly #own = new WeakSet<FileBody>();
  /** An upper bound, made exact by measuring when the limit is reached. */
  #usedBytes = 0;

  constructor(tree: Tree, maxBytes: number) {
    this.#tree = tree;
    this.#maxBytes = maxBytes;
  }

  take(body: FileBody): void {
    if (this.#usedBytes + body.size > this.#maxBytes) this.#usedBytes = this.#measure(this.#tree.root, new Set());
    if (this.#usedBytes + body.size > this.#maxBytes)
      throw new Error(
        `ENOSPC: no space left on device, a command may write at most ${Math.floor(this.#maxBytes / 1024 / 1024)} MB`,
      );
    this.#own.add(body);
    this.#usedBytes += body.size;
  }

  /** Removed folders are only accounted for when the quota is measured again. */
  release(entry: Entry | undefined): void {
    if (entry?.kind === "file" && this.#own.has(entry.body))
      this.#usedBytes = Math.max(0, this.#usedBytes - entry.body.size);
  }

  #measure(folder: Folder, seen: Set<FileBody>): number {
    let size = 0;
    for (const entry of folder.entries.values()) {
      if (entry.kind === "folder" && entry.owner === this.#tree) size += this.#measure(entry, seen);
      if (entry.kind !== "file" || !this.#own.has(entry.body) || seen.has(entry.body)) continue;
      seen.add(entry.body);
      size += entry.body.size;
    }
    return size;
  }
}
