import { statSync } from "node:fs";
import { fail } from "@thinkery/sdk";
import { type FileState, isFresh, isSameState } from "../../folder/file-state.ts";
import { readContent, readSettled } from "../../folder/read.ts";
import { scanFolder, type FolderScan } from "../../folder/scan.ts";

/** A file of the folder as it was found. */
export interface LocalFile {
  hash: string;
  state: FileState;
}

export interface LocalScan extends FolderScan {
  local: Map<string, LocalFile>;
  /** Files that are being written: what is in them is not what will be. */
  moving: Set<string>;
}

interface LocalSideOptions {
  /** A file is whole when nobody has written to it for so long. */
  restMs: number;
  /** One that is always written to is taken now and then all the same. */
  maxUnrestMs: number;
  largest: number;
}

/** The folder's side of a mirror: what is in it, with hashes, read again only where something has changed. */
export class LocalSide {
  readonly #folder: string;
  readonly #options: LocalSideOptions;
  readonly #known = new Map<string, LocalFile>();
  readonly #ownWrites = new Map<string, FileState>();
  readonly #unrestSince = new Map<string, number>();

  constructor(folder: string, options: LocalSideOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Which folder it is: one that takes its place has another. */
  readIdentity(): string {
    const found = statSync(this.#folder, { throwIfNoEntry: false });
    if (!found) throw createMissingFolderError();
    // The number of a disk is not the same after every start of a machine.
    const { ino, birthtimeMs } = found;
    return `${ino}:${birthtimeMs}`;
  }

  /** What an earlier run knew. */
  remember(path: string, hash: string, state: FileState): void {
    this.#known.set(path, { hash, state });
  }

  async scan(): Promise<LocalScan> {
    const looked = await scanFolder(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") throw createMissingFolderError();
      throw error;
    });
    const local = new Map<string, LocalFile>();
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
  async readBytes(path: string, hash: string): Promise<Uint8Array | undefined> {
    const content = await readContent(this.#folder, path, this.#options.largest);
    return content?.hash === hash ? content.bytes : undefined;
  }

  /** It was us who wrote that, so it is whole. */
  recordWrite(path: string, state: FileState): void {
    this.#ownWrites.set(path, state);
  }

  async #read(path: string, state: FileState): Promise<LocalFile | "moving" | undefined> {
    const known = this.#known.get(path);
    if (known && isSameState(known.state, state)) return known;
    if (!this.#isOurs(path, state) && this.#isMoving(path, state)) return "moving";
    const content = await readSettled(this.#folder, path, this.#options.largest);
    if (!content || content === "moving") return content;
    const file = { hash: content.hash, state: content.state };
    // What could have been written to since without its times telling is read again.
    if (isFresh(content.state, Date.now())) this.#known.delete(path);
    else {
      this.#known.set(path, file);
      this.#ownWrites.delete(path);
    }
    return file;
  }

  #isOurs(path: string, { size, mtimeMs, ino }: FileState): boolean {
    const written = this.#ownWrites.get(path);
    return written?.size === size && written.mtimeMs === mtimeMs && written.ino === ino;
  }

  #isMoving(path: string, { mtimeMs }: FileState): boolean {
    const { restMs, maxUnrestMs } = this.#options;
    const now = Date.now();
    const age = now - mtimeMs;
    // A time in the future says nothing of when it was written.
    const rests = age >= restMs || age < -restMs;
    if (rests) {
      this.#unrestSince.delete(path);
      return false;
    }
    const since = this.#unrestSince.get(path) ?? now;
    this.#unrestSince.set(path, since);
    if (now - since < maxUnrestMs) return true;
    this.#unrestSince.delete(path);
    return false;
  }
}

function createMissingFolderError(): Error {
  return fail("not_found", "The folder is not there any more; nothing was done about its files.");
}
