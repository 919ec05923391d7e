import { statSync } from "node:fs";
import { fail } from "@thinkery/sdk";
import { type FileState, isFresh, isSameState } from "../../folder/file-state.ts";
import { readContent, readSettled } from "../../folder/read.ts";
import { scanFolder, type FolderScan } from "../../folder/scan.ts";

/** A file of the folder at the time of the scan. */
export interface LocalFile {
  hash: string;
  state: FileState;
}

export interface LocalScan extends FolderScan {
  local: Map<string, LocalFile>;
  /** Files whose content is not known, because they are being written or cannot be read. */
  unsettled: Set<string>;
}

interface LocalSideOptions {
  /** A file is considered complete if it was not written to for this long. */
  settleMs: number;
  /** A file that is written to continuously is read after this time. */
  maxUnsettledMs: number;
  maxBytes: number;
}

/** The local side of a mirror: the files of a folder with their hashes, which are cached until a file changes. */
export class LocalSide {
  readonly #folder: string;
  readonly #options: LocalSideOptions;
  readonly #known = new Map<string, LocalFile>();
  readonly #ownWrites = new Map<string, FileState>();
  readonly #unsettledSince = new Map<string, number>();

  constructor(folder: string, options: LocalSideOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Returns the identity of the folder; it differs for a folder that replaced it. */
  readIdentity(): string {
    const found = statSync(this.#folder, { throwIfNoEntry: false });
    if (!found) throw createMissingFolderError();
    // Without the device number, which may change when the machine restarts.
    const { ino, birthtimeMs } = found;
    return `${ino}:${birthtimeMs}`;
  }

  /** Restores a hash from an earlier run. */
  remember(path: string, hash: string, state: FileState): void {
    this.#known.set(path, { hash, state });
  }

  async scan(): Promise<LocalScan> {
    const scan = await scanFolder(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") throw createMissingFolderError();
      throw error;
    });
    const local = new Map<string, LocalFile>();
    const unsettled = new Set<string>();
    for (const [path, state] of scan.files) {
      if (state.size > this.#options.maxBytes) {
        scan.skipped.push({ path, reason: `it is larger than ${Math.floor(this.#options.maxBytes / 1024 / 1024)} MB` });
        unsettled.add(path);
        continue;
      }
      const file = await this.#read(path, state);
      if (file && file !== "moving") local.set(path, file);
      else unsettled.add(path);
      if (!file) scan.skipped.push({ path, reason: "it cannot be read" });
    }
    for (const path of this.#known.keys()) if (!scan.files.has(path)) this.#known.delete(path);
    return { ...scan, local, unsettled };
  }

  /** Returns the content of a file if it still has this hash. */
  async readBytes(path: string, hash: string): Promise<Uint8Array | undefined> {
    const content = await readContent(this.#folder, path, this.#options.maxBytes);
    return content?.hash === hash ? content.bytes : undefined;
  }

  /** Records a file written by us, which is therefore complete. */
  recordWrite(path: string, state: FileState): void {
    this.#ownWrites.set(path, state);
  }

  async #read(path: string, state: FileState): Promise<LocalFile | "moving" | undefined> {
    const known = this.#known.get(path);
    if (known && isSameState(known.state, state)) return known;
    if (!this.#isOurs(path, state) && this.#isUnsettled(path, state)) return "moving";
    const content = await readSettled(this.#folder, path, this.#options.maxBytes);
    if (!content || content === "moving") return content;
    const file = { hash: content.hash, state: content.state };
    // A file changed so recently that its timestamps may not show a further write is read again next time.
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

  #isUnsettled(path: string, { mtimeMs }: FileState): boolean {
    const { settleMs, maxUnsettledMs } = this.#options;
    const now = Date.now();
    const age = now - mtimeMs;
    // A timestamp in the future says nothing about the last write.
    const isSettled = age >= settleMs || age < -settleMs;
    if (isSettled) {
      this.#unsettledSince.delete(path);
      return false;
    }
    const since = this.#unsettledSince.get(path) ?? now;
    this.#unsettledSince.set(path, since);
    if (now - since < maxUnsettledMs) return true;
    this.#unsettledSince.delete(path);
    return false;
  }
}

function createMissingFolderError(): Error {
  return fail("not_found", "The folder no longer exists; nothing was changed.");
}
