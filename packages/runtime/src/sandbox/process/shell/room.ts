import type { Body } from "./body.ts";
import type { Entry, Folder, Tree } from "./tree.ts";

/** What a command may have written and still be there. */
export class Room {
  readonly #tree: Tree;
  /** In bytes. */
  readonly #size: number;
  readonly #own = new WeakSet<Body>();
  /** Never less than what was written and is still there. */
  #taken = 0;

  constructor(tree: Tree, size: number) {
    this.#tree = tree;
    this.#size = size;
  }

  take(body: Body): void {
    if (this.#taken + body.size > this.#size) this.#taken = this.#takenIn(this.#tree.root, new Set());
    if (this.#taken + body.size > this.#size) throw new Error(`ENOSPC: no space left on device, a command may write ${Math.floor(this.#size / 1024 / 1024)} MB`);
    this.#own.add(body);
    this.#taken += body.size;
  }

  /** What is freed below a folder is found out when room is short. */
  release(entry: Entry | undefined): void {
    if (entry?.kind === "file" && this.#own.has(entry.body)) this.#taken = Math.max(0, this.#taken - entry.body.size);
  }

  #takenIn(folder: Folder, seen: Set<Body>): number {
    let size = 0;
    for (const entry of folder.entries.values()) {
      if (entry.kind === "folder" && entry.owner === this.#tree) size += this.#takenIn(entry, seen);
      if (entry.kind !== "file" || !this.#own.has(entry.body) || seen.has(entry.body)) continue;
      seen.add(entry.body);
      size += entry.body.size;
    }
    return size;
  }
}
