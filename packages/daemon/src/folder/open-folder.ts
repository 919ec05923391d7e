import { closeSync, constants, existsSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

// A path is walked anew with every call, and whoever may write on the way can put a link there between two of them.
// On Linux a folder that is open stays that folder, and has a path of its own. Elsewhere we look before each step.
const hasOpenPaths = process.platform === "linux" && existsSync("/proc/self/fd");

/** A folder that we are in. From here one name at a time leads on, and no link ever does. */
export class OpenFolder {
  readonly #descriptor: number | undefined;
  readonly #path: string;

  private constructor(path: string) {
    if (hasOpenPaths) {
      this.#descriptor = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      this.#path = `/proc/self/fd/${this.#descriptor}`;
    } else {
      if (!lstatSync(path).isDirectory()) throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
      this.#path = path;
    }
  }

  /** Throws where there is none, or none that may be read. */
  static open(path: string): OpenFolder {
    return new OpenFolder(path);
  }

  /** What it is listed by. */
  get path(): string {
    return this.#path;
  }

  /** What something in it is called by, for one call that does not follow links. */
  resolve(name: string): string {
    return join(this.#path, name);
  }

  /** Throws ENOTDIR or ELOOP where the name is no folder. */
  enter(name: string): OpenFolder {
    return new OpenFolder(this.resolve(name));
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

interface EnterOptions {
  /** Makes the folders that are not there yet. */
  make?: (folder: string) => void;
}

/**
 * Goes to the folder that a file lies in and does something there. What is given is the chain of folders, the last
 * one being the file's own, and the file's name.
 */
export function withParentFolder<T>(
  root: string,
  path: string,
  work: (chain: OpenFolder[], names: string[]) => T,
  { make }: EnterOptions = {},
): T {
  const names = path.split("/");
  const chain: OpenFolder[] = [];
  try {
    chain.push(OpenFolder.open(root));
    for (const name of names.slice(0, -1)) {
      const here = chain.at(-1) as OpenFolder;
      if (make) makeFolder(here.resolve(name), make);
      chain.push(here.enter(name));
    }
    return work(chain, names);
  } finally {
    for (const folder of chain) folder.close();
  }
}

function makeFolder(path: string, made: (path: string) => void): void {
  try {
    mkdirSync(path, { mode: 0o777 });
    made(path);
  } catch (error) {
    if (getErrorCode(error) !== "EEXIST") throw error;
  }
}

export function getErrorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/** There is nothing at that path, or no folder on the way to it. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP"].includes(getErrorCode(error) ?? "");
}
