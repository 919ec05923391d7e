import { statSync } from "node:fs";
import { fail } from "@thinkery/sdk";
import { type FileState, isFresh, isSameState } from "../../folder/file-state.ts";
import { look, type Look } from "../../folder/look.ts";
import { readContent, readIfAtRest } from "../../folder/read.ts";

/** A file of the folder as it was found. */
export interface Local {
  hash: string;
  state: FileState;
}

export interface Found extends Look {
  local: Map<string, Local>;
  /** Files that are being written: what is in them is not what will be. */
  moving: Set<string>;
}

interface Options {
  /** A file is whole when nobody has written to it for so long. */
  restMs: number;
  /** One that is always written to is taken now and then all the same. */
  longestUnrestMs: number;
  largest: number;
}

/** The folder's side of a mirror: what is in it, with hashes, read again only where something has changed. */
export class LocalSide {
  readonly #folder: string;
  readonly #options: Options;
  readonly #known = new Map<string, Local>();
  readonly #written = new Map<string, FileState>();
  readonly #unrest = new Map<string, number>();

  constructor(folder: string, options: Options) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Which folder it is: one that takes its place has another. */
  identity(): string {
    const found = statSync(this.#folder, { throwIfNoEntry: false });
    if (!found) throw gone();
    // The number of a disk is not the same after every start of a machine.
    const { ino, birthtimeMs } = found;
    return `${ino}:${birthtimeMs}`;
  }

  /** What an earlier run knew. */
  recall(path: string, hash: string, state: FileState): void {
    this.#known.set(path, { hash, state });
  }

  async found(): Promise<Found> {
    const looked = await look(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") throw gone();
      throw error;
    });
    const local = new Map<string, Local>();
    const moving = new Set<string>();
    for (const [path, state] of looked.files) {
      if (state.size > this.#options.largest) {
        looked.untaken.push({ path, why: `it is larger than ${Math.floor(this.#options.largest / 1024 / 1024)} MB` });
        moving.add(path);
        continue;
      }
      const file = await this.#read(path, state);
      if (file && file !== "moving") local.set(path, file);
      else moving.add(path);
      if (!file) looked.untaken.push({ path, why: "it cannot be read" });
    }
    for (const path of this.#known.keys()) if (!looked.files.has(path)) this.#known.delete(path);
    return { ...looked, local, moving };
  }

  /** The bytes of a file, if it is still what was found. */
  async bytes(path: string, hash: string): Promise<Uint8Array | undefined> {
    const content = await readContent(this.#folder, path, this.#options.largest);
    return content?.hash === hash ? content.bytes : undefined;
  }

  /** It was us who wrote that, so it is whole. */
  wrote(path: string, state: FileState): void {
    this.#written.set(path, state);
  }

  async #read(path: string, state: FileState): Promise<Local | "moving" | undefined> {
    const known = this.#known.get(path);
    if (known && isSameState(known.state, state)) return known;
    if (!this.#isOurs(path, state) && this.#isMoving(path, state)) return "moving";
    const content = await readIfAtRest(this.#folder, path, this.#options.largest);
    if (!content || content === "moving") return content;
    const file = { hash: content.hash, state: content.state };
    // What could have been written to since without its times telling is read again.
    if (isFresh(content.state, Date.now())) this.#known.delete(path);
    else {
      this.#known.set(path, file);
      this.#written.delete(path);
    }
    return file;
  }

  #isOurs(path: string, { size, mtimeMs, ino }: FileState): boolean {
    const written = this.#written.get(path);
    return written?.size === size && written.mtimeMs === mtimeMs && written.ino === ino;
  }

  #isMoving(path: string, { mtimeMs }: FileState): boolean {
    const { restMs, longestUnrestMs } = this.#options;
    const now = Date.now();
    const age = now - mtimeMs;
    // A time in the future says nothing of when it was written.
    const rests = age >= restMs || age < -restMs;
    if (rests) {
      this.#unrest.delete(path);
      return false;
    }
    const since = this.#unrest.get(path) ?? now;
    this.#unrest.set(path, since);
    if (now - since < longestUnrestMs) return true;
    this.#unrest.delete(path);
    return false;
  }
}

function gone(): Error {
  return fail("not_found", "The folder is not there any more; nothing was done about its files.");
}
