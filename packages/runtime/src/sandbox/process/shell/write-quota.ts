import type { FileBody } from "./file-body.ts";
import type { Entry, Folder, Tree } from "./tree.ts";

/** What a command may have written and still be there. */
export class WriteQuota {
  readonly #tree: Tree;
  /** In bytes. */
  readonly #size: number;
  readonly #own = new WeakSet<FileBody>();
  /** Never less than what was written and is still there. */
  #usedBytes = 0;

  constructor(tree: Tree, size: number) {
    this.#tree = tree;
    this.#size = size;
  }

  take(body: FileBody): void {
    if (this.#usedBytes + body.size > this.#size) this.#usedBytes = this.#measure(this.#tree.root, new Set());
    if (this.#usedBytes + body.size > this.#size)
      throw new Error(
        `ENOSPC: no space left on device, a command may write ${Math.floor(this.#size / 1024 / 1024)} MB`,
      );
    this.#own.add(body);
    this.#usedBytes += body.size;
  }

  /** What is freed below a folder is found out when room is short. */
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
