import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
/** Opens a folder without any right to it. Node has no name for this flag of Linux. */
const O_PATH = 0o10000000;

// A path is resolved again with every call, and anyone who can write along it could put a link there between two calls.
// On Linux an open folder stays the same folder and has its own path. Elsewhere we check before each step.
const hasOpenPaths = process.platform === "linux" && existsSync("/proc/self/fd");

/** An open folder. It is traversed one name at a time and never through a link. */
export class OpenFolder {
  readonly #descriptor: number | undefined;
  readonly #path: string;

  private constructor(path: string | Buffer, access: number) {
    if (hasOpenPaths) {
      this.#descriptor = openSync(path, access | O_DIRECTORY | O_NOFOLLOW);
      this.#path = `/proc/self/fd/${this.#descriptor}`;
    } else {
      if (!lstatSync(path).isDirectory()) throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
      this.#path = path.toString();
    }
  }

  /** Throws if there is no folder or it cannot be read. */
  static open(path: string | Buffer): OpenFolder {
    return new OpenFolder(path, O_RDONLY);
  }

  /** Opens a folder whatever its permissions are, in order to change them. */
  static openAnyMode(path: string | Buffer): OpenFolder {
    return new OpenFolder(path, O_PATH);
  }

  /** The path for listing it. */
  get path(): string {
    return this.#path;
  }

  /** Returns the path of an entry, for a single call that does not follow links. */
  resolve(name: string): string {
    return join(this.#path, name);
  }

  /** Throws ENOTDIR or ELOOP if the name is not a folder. */
  enter(name: string): OpenFolder {
    return new OpenFolder(this.resolve(name), O_RDONLY);
  }

  stat(): Stats {
    return this.#descriptor === undefined ? lstatSync(this.#path) : fstatSync(this.#descriptor);
  }

  // The path of an open folder leads to the folder itself, whatever its name leads to by now.
  setMode(mode: number): void {
    chmodSync(this.#path, mode);
  }

  setOwner(owner: number): void {
    if (this.#descriptor === undefined) lchownSync(this.#path, owner, owner);
    else chownSync(this.#path, owner, owner);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

interface EnterOptions {
  /** If given, missing folders are created, and it is called with each of them. */
  onCreate?: (folder: OpenFolder) => void;
}

/**
 * Opens the folder that contains a file and calls `work` with the chain of open folders, from the root to the parent,
 * and the names of the path.
 */
export function withParentFolder<T>(
  root: string,
  path: string,
  work: (chain: OpenFolder[], names: string[]) => T,
  { onCreate }: EnterOptions = {},
): T {
  const names = path.split("/");
  const chain: OpenFolder[] = [];
  try {
    chain.push(OpenFolder.open(root));
    for (const name of names.slice(0, -1)) {
      const parent = chain.at(-1) as OpenFolder;
      const isCreated = onCreate && createFolder(parent.resolve(name));
      const folder = parent.enter(name);
      chain.push(folder);
      if (isCreated) onCreate(folder);
    }
    return work(chain, names);
  } finally {
    for (const folder of chain) folder.close();
  }
}

/** Returns false if there is something with that name already. */
function createFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o777 });
    return true;
  } catch (error) {
    if (getErrorCode(error) !== "EEXIST") throw error;
    return false;
  }
}

export function getErrorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/** Tells whether nothing exists at a path, or one of its parents is not a folder. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP"].includes(getErrorCode(error) ?? "");
}
