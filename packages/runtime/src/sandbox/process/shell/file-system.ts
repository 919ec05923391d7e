import type { CpOptions, FsStat, IFileSystem, MkdirOptions, RmOptions } from "just-bash/browser";
import { maxPathChars } from "../../bounds.ts";
import { type Encoding, encodeFileBody, getEncoding, decodeToLatin } from "./encoding.ts";
import { FileBody, type ContentSource } from "./file-body.ts";
import { type Entry, type Folder, folderMode, getMode, splitPath, createFolder, type Tree } from "./tree.ts";
import { WriteQuota } from "./write-quota.ts";

type ByteText = Awaited<ReturnType<NonNullable<IFileSystem["readFileBytes"]>>>;
type Dirent = Awaited<ReturnType<NonNullable<IFileSystem["readdirWithFileTypes"]>>>[number];

/** So many links may lead from one to the next. */
const maxLinks = 40;
/** So deep may folders be in each other: what looks through them goes down as deep. */
const maxDepth = 256;

interface FileSystemOptions {
  /** Asks for what was not sent along, and is told that it came. */
  source: ContentSource;
  onFetched?(body: FileBody): void;
  /** In bytes: what may be written and still be there. */
  room: number;
  now?: () => number;
}

/** What a shell takes for a disk: a tree, and nothing beyond it. Errors are worded as the shell's programs expect them. */
export class TreeFileSystem implements IFileSystem {
  readonly #tree: Tree;
  readonly #options: FileSystemOptions;
  readonly #identities = new WeakMap<Entry, string>();
  readonly #quota: WriteQuota;
  #identified = 0;
  /** Did somebody set a mode that a workspace cannot keep? */
  readonly modes = new Set<string>();

  constructor(tree: Tree, options: FileSystemOptions) {
    this.#tree = tree;
    this.#options = options;
    this.#quota = new WriteQuota(tree, options.room);
  }

  async readFile(path: string, options?: Encoding): Promise<string> {
    return encodeFileBody(await this.#read(path), getEncoding(options));
  }

  async readFileBytes(path: string): Promise<ByteText> {
    return (await this.#read(path)).latin() as unknown as ByteText;
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    // A copy: whoever asks may write into it.
    return (await this.#read(path)).bytes().slice();
  }

  async writeFile(path: string, content: string | Uint8Array, options?: Encoding): Promise<void> {
    const names = this.#resolve(path, "open");
    if (isNullDevice(names)) return;
    this.#put(names, FileBody.ofLatin(decodeToLatin(content, getEncoding(options))), path, "open");
  }

  async appendFile(path: string, content: string | Uint8Array, options?: Encoding): Promise<void> {
    const names = this.#resolve(path, "open");
    if (isNullDevice(names)) return;
    const added = decodeToLatin(content, getEncoding(options));
    const there = this.#tree.find(names);
    if (there?.kind === "file") await this.#fetch(there.body);
    const before = there?.kind === "file" ? there.body.latin() : "";
    this.#put(names, FileBody.ofLatin(before + added), path, "open");
  }

  async exists(path: string): Promise<boolean> {
    try {
      return this.#find(path, "access") !== undefined;
    } catch {
      return false;
    }
  }

  async stat(path: string): Promise<FsStat> {
    return this.#toStat(this.#find(path, "stat") ?? throwMissing("stat", path));
  }

  async lstat(path: string): Promise<FsStat> {
    return this.#toStat(this.#tree.find(this.#resolve(path, "lstat", false)) ?? throwMissing("lstat", path));
  }

  async mkdir(path: string, options?: MkdirOptions): Promise<void> {
    const names = this.#resolve(path, "mkdir");
    const there = this.#tree.find(names);
    if (there && there.kind !== "folder") throw new Error(`EEXIST: file already exists, mkdir '${path}'`);
    if (there && !options?.recursive) throw new Error(`EEXIST: directory already exists, mkdir '${path}'`);
    if (there) return;
    const parent = this.#tree.find(names.slice(0, -1));
    if (parent?.kind !== "folder" && (parent || !options?.recursive))
      throw new Error(`${parent ? "ENOTDIR: not a directory" : "ENOENT: no such file or directory"}, mkdir '${path}'`);
    if (!this.#tree.put(names, createFolder(this.#tree, this.#now())))
      throw new Error(`ENOTDIR: not a directory, mkdir '${path}'`);
  }

  async readdir(path: string): Promise<string[]> {
    return [...this.#requireFolder(path).entries.keys()].sort();
  }

  async readdirWithFileTypes(path: string): Promise<Dirent[]> {
    const { entries } = this.#requireFolder(path);
    return [...entries.keys()].sort().map((name) => {
      const kind = entries.get(name)?.kind;
      return { name, isFile: kind === "file", isDirectory: kind === "folder", isSymbolicLink: kind === "link" };
    });
  }

  async rm(path: string, options?: RmOptions): Promise<void> {
    const names = this.#resolve(path, "rm", false);
    const there = this.#tree.find(names);
    if (!there && options?.force) return;
    if (!there) throwMissing("rm", path);
    if (names.length === 0) throw new Error(`EBUSY: resource busy or locked, rm '${path}'`);
    if (there?.kind === "folder" && there.entries.size > 0 && !options?.recursive)
      throw new Error(`ENOTEMPTY: directory not empty, rm '${path}'`);
    this.#quota.release(there);
    this.#tree.remove(names);
  }

  async cp(from: string, to: string, options?: CpOptions): Promise<void> {
    const source = this.#resolve(from, "cp", false);
    const entry = this.#tree.find(source) ?? throwMissing("cp", from);
    const target = this.#resolve(to, "cp");
    if (entry.kind !== "folder") {
      this.#link(target, { ...entry, mtime: this.#now() }, to, "cp");
      return;
    }
    if (!options?.recursive) throw new Error(`EISDIR: is a directory, cp '${from}'`);
    if (isWithin(target, source)) throw new Error(`EINVAL: cannot copy '${from}' into itself, '${to}'`);
    if (this.#tree.find(target)?.kind !== "folder") {
      checkDepth(target, entry, "cp", to);
      this.#link(target, this.#copyFolder(entry), to, "cp");
      return;
    }
    for (const name of entry.entries.keys()) await this.cp(`${from}/${name}`, `${to}/${name}`, options);
  }

  async mv(from: string, to: string): Promise<void> {
    const source = this.#resolve(from, "mv", false);
    const target = this.#resolve(to, "mv", false);
    const entry = this.#tree.find(source) ?? throwMissing("mv", from);
    if (source.join("/") === target.join("/")) return;
    if (entry.kind === "folder" && isWithin(target, source))
      throw new Error(`EINVAL: cannot move '${from}' into itself, '${to}'`);
    const there = this.#tree.find(target);
    if (there?.kind === "folder" && (entry.kind !== "folder" || there.entries.size > 0)) {
      throw new Error(
        entry.kind === "folder"
          ? `ENOTEMPTY: directory not empty, mv '${from}' -> '${to}'`
          : `EISDIR: illegal operation on a directory, mv '${from}' -> '${to}'`,
      );
    }
    checkDepth(target, entry, "mv", to);
    this.#tree.remove(source);
    if (!this.#tree.put(target, entry)) {
      this.#tree.put(source, entry);
      throw new Error(`ENOTDIR: not a directory, mv '${from}' -> '${to}'`);
    }
  }

  resolvePath(base: string, path: string): string {
    return `/${splitPath(path.startsWith("/") ? path : `${base}/${path}`).join("/")}`;
  }

  getAllPaths(): string[] {
    const paths = ["/"];
    const add = (folder: Folder, under: string) => {
      for (const [name, entry] of folder.entries) {
        paths.push(under + name);
        if (entry.kind === "folder") add(entry, `${under}${name}/`);
      }
    };
    add(this.#tree.root, "/");
    return paths;
  }

  async chmod(path: string, mode: number): Promise<void> {
    const names = this.#resolve(path, "chmod");
    const entry = this.#tree.find(names) ?? throwMissing("chmod", path);
    if (getMode(entry) === mode) return;
    if (entry.kind === "file") {
      this.#tree.put(names, { ...entry, mode });
      this.modes.add(names.join("/"));
    } else if (entry.kind === "folder") (this.#tree.ensureFolder(names) as Folder).mode = mode;
  }

  async symlink(target: string, path: string): Promise<void> {
    const names = this.#resolve(path, "symlink", false);
    if (this.#tree.find(names)) throw new Error(`EEXIST: file already exists, symlink '${path}'`);
    this.#link(names, { kind: "link", target, mtime: this.#now() }, path, "symlink");
  }

  async link(from: string, path: string): Promise<void> {
    const entry = this.#find(from, "link") ?? throwMissing("link", from);
    if (entry.kind !== "file") throw new Error(`EPERM: operation not permitted, link '${from}'`);
    const names = this.#resolve(path, "link", false);
    if (this.#tree.find(names)) throw new Error(`EEXIST: file already exists, link '${path}'`);
    this.#link(names, entry, path, "link");
  }

  async readlink(path: string): Promise<string> {
    const entry = this.#tree.find(this.#resolve(path, "readlink", false)) ?? throwMissing("readlink", path);
    if (entry.kind !== "link") throw new Error(`EINVAL: invalid argument, readlink '${path}'`);
    return entry.target;
  }

  async realpath(path: string): Promise<string> {
    const names = this.#resolve(path, "realpath");
    return this.#tree.find(names) ? `/${names.join("/")}` : throwMissing("realpath", path);
  }

  async utimes(path: string, _accessed: Date, modified: Date): Promise<void> {
    const names = this.#resolve(path, "utimes");
    const entry = this.#tree.find(names) ?? throwMissing("utimes", path);
    const mtime = modified.getTime();
    if (entry.kind === "folder") (this.#tree.ensureFolder(names) as Folder).mtime = mtime;
    else this.#tree.put(names, { ...entry, mtime });
  }

  /** Where a path leads, links followed; all of them, or all but one at its end. What is not there yet is part of the answer. */
  #resolve(path: string, doing: string, toTheEnd = true): string[] {
    if (path.includes("\0")) throw new Error(`ENOENT: path contains null byte, ${doing} '${path}'`);
    if (path.length > maxPathChars) throw new Error(`ENAMETOOLONG: name too long, ${doing} '${path.slice(0, 100)}…'`);
    const left = splitPath(path);
    const names: string[] = [];
    let links = 0;
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      names.push(name);
      if (left.length === 0 && !toTheEnd) break;
      const entry = this.#tree.find(names);
      if (entry?.kind !== "link") continue;
      if (++links > maxLinks) throw new Error(`ELOOP: too many levels of symbolic links, ${doing} '${path}'`);
      names.pop();
      // Taken as text, as if it had been written in the path: what is above a link is where the link is.
      const target = entry.target.startsWith("/") ? entry.target : `/${names.join("/")}/${entry.target}`;
      left.unshift(...splitPath(target));
      names.length = 0;
    }
    if (names.length > maxDepth) throw new Error(`ENAMETOOLONG: name too long, ${doing} '${path.slice(0, 100)}…'`);
    return names;
  }

  #find(path: string, doing: string): Entry | undefined {
    return this.#tree.find(this.#resolve(path, doing));
  }

  #requireFolder(path: string): Folder {
    const entry = this.#find(path, "scandir") ?? throwMissing("scandir", path);
    if (entry.kind !== "folder") throw new Error(`ENOTDIR: not a directory, scandir '${path}'`);
    return entry;
  }

  async #read(path: string): Promise<FileBody> {
    const entry = this.#find(path, "open") ?? throwMissing("open", path);
    if (entry.kind !== "file") throw new Error(`EISDIR: illegal operation on a directory, read '${path}'`);
    await this.#fetch(entry.body);
    return entry.body;
  }

  async #fetch(body: FileBody): Promise<void> {
    if (body.isLoaded) return;
    await body.load(this.#options.source);
    this.#options.onFetched?.(body);
  }

  #put(names: readonly string[], body: FileBody, path: string, doing: string): void {
    const there = this.#tree.find(names);
    if (there?.kind === "folder") throw new Error(`EISDIR: illegal operation on a directory, ${doing} '${path}'`);
    this.#quota.release(there);
    this.#quota.take(body);
    const mode = there?.kind === "file" ? there.mode : undefined;
    this.#link(names, { kind: "file", body, mtime: this.#now(), ...(mode === undefined ? {} : { mode }) }, path, doing);
  }

  #link(names: readonly string[], entry: Entry, path: string, doing: string): void {
    if (this.#tree.find(names)?.kind === "folder")
      throw new Error(`EISDIR: illegal operation on a directory, ${doing} '${path}'`);
    if (!this.#tree.put(names, entry)) throw new Error(`ENOTDIR: not a directory, ${doing} '${path}'`);
  }

  /** A folder of one's own at two places would change at both. */
  #copyFolder(folder: Folder): Folder {
    if (folder.owner !== this.#tree) return folder;
    const copy = createFolder(this.#tree, this.#now());
    copy.mode = folder.mode;
    for (const [name, entry] of folder.entries)
      copy.entries.set(name, entry.kind === "folder" ? this.#copyFolder(entry) : entry);
    return copy;
  }

  #toStat(entry: Entry): FsStat {
    let identity = this.#identities.get(entry);
    if (identity === undefined) this.#identities.set(entry, (identity = String(++this.#identified)));
    return {
      isFile: entry.kind === "file",
      isDirectory: entry.kind === "folder",
      isSymbolicLink: entry.kind === "link",
      mode: entry.kind === "folder" ? (entry.mode ?? folderMode) : getMode(entry),
      size: entry.kind === "file" ? entry.body.size : entry.kind === "link" ? entry.target.length : 0,
      mtime: new Date(entry.mtime),
      identity,
    };
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }
}

function checkDepth(names: readonly string[], entry: Entry, doing: string, path: string): void {
  if (names.length + getDepth(entry) > maxDepth)
    throw new Error(`ENAMETOOLONG: name too long, ${doing} '${path.slice(0, 100)}'`);
}

function getDepth(entry: Entry): number {
  let depth = 0;
  if (entry.kind === "folder")
    for (const inside of entry.entries.values())
      if (inside.kind === "folder") depth = Math.max(depth, 1 + getDepth(inside));
  return depth;
}

function throwMissing(doing: string, path: string): never {
  throw new Error(`ENOENT: no such file or directory, ${doing} '${path}'`);
}

function isNullDevice(names: readonly string[]): boolean {
  return (
    names.length === 2 && names[0] === "dev" && ["null", "zero", "stdout", "stderr", "full"].includes(names[1] ?? "")
  );
}

function isWithin(names: readonly string[], folder: readonly string[]): boolean {
  return folder.every((name, index) => names[index] === name);
}
