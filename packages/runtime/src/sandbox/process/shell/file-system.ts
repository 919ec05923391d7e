import type { CpOptions, FsStat, IFileSystem, MkdirOptions, RmOptions } from "just-bash/browser";
import { maxPathChars } from "../../bounds.ts";
import { type Encoding, encodeFileBody, getEncoding, decodeToLatin } from "./encoding.ts";
import { FileBody, type ContentSource } from "./file-body.ts";
import { type Entry, type Folder, folderMode, getMode, splitPath, createFolder, type Tree } from "./tree.ts";
import { WriteQuota } from "./write-quota.ts";

type ByteText = Awaited<ReturnType<NonNullable<IFileSystem["readFileBytes"]>>>;
type Dirent = Awaited<ReturnType<NonNullable<IFileSystem["readdirWithFileTypes"]>>>[number];

/** Symbolic links that are followed in one path. */
const maxLinks = 40;
/** Depth of nested folders: code that walks them recurses as deep. */
const maxDepth = 256;

interface FileSystemOptions {
  source: ContentSource;
  /** Called when content was fetched from the source. */
  onFetched?(body: FileBody): void;
  /** Maximum size of what is written and still exists. */
  maxBytes: number;
  now?: () => number;
}

/** The interpreter's file system on a tree. Errors are worded as the shell's programs expect them. */
export class TreeFileSystem implements IFileSystem {
  readonly #tree: Tree;
  readonly #options: FileSystemOptions;
  readonly #identities = new WeakMap<Entry, string>();
  readonly #quota: WriteQuota;
  #lastIdentity = 0;
  /** Files whose mode was changed, which a workspace cannot store. */
  readonly modes = new Set<string>();

  constructor(tree: Tree, options: FileSystemOptions) {
    this.#tree = tree;
    this.#options = options;
    this.#quota = new WriteQuota(tree, options.maxBytes);
  }

  async readFile(path: string, options?: Encoding): Promise<string> {
    return encodeFileBody(await this.#read(path), getEncoding(options));
  }

  async readFileBytes(path: string): Promise<ByteText> {
    return (await this.#read(path)).latin() as unknown as ByteText;
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    // A copy, because the caller may write into it.
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
    const appended = decodeToLatin(content, getEncoding(options));
    const existing = this.#tree.find(names);
    if (existing?.kind === "file") await this.#fetch(existing.body);
    const before = existing?.kind === "file" ? existing.body.latin() : "";
    this.#put(names, FileBody.ofLatin(before + appended), path, "open");
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
    const existing = this.#tree.find(names);
    if (existing && existing.kind !== "folder") throw new Error(`EEXIST: file already exists, mkdir '${path}'`);
    if (existing && !options?.recursive) throw new Error(`EEXIST: directory already exists, mkdir '${path}'`);
    if (existing) return;
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
    const existing = this.#tree.find(names);
    if (!existing && options?.force) return;
    if (!existing) throwMissing("rm", path);
    if (names.length === 0) throw new Error(`EBUSY: resource busy or locked, rm '${path}'`);
    if (existing?.kind === "folder" && existing.entries.size > 0 && !options?.recursive)
      throw new Error(`ENOTEMPTY: directory not empty, rm '${path}'`);
    this.#quota.release(existing);
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
    const existing = this.#tree.find(target);
    if (existing?.kind === "folder" && (entry.kind !== "folder" || existing.entries.size > 0)) {
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

  /** Resolves a path, following links, optionally except a last one. Parts that do not exist are kept. */
  #resolve(path: string, operation: string, followsLast = true): string[] {
    if (path.includes("\0")) throw new Error(`ENOENT: path contains null byte, ${operation} '${path}'`);
    if (path.length > maxPathChars)
      throw new Error(`ENAMETOOLONG: name too long, ${operation} '${path.slice(0, 100)}…'`);
    const left = splitPath(path);
    const names: string[] = [];
    let links = 0;
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      names.push(name);
      if (left.length === 0 && !followsLast) break;
      const entry = this.#tree.find(names);
      if (entry?.kind !== "link") continue;
      if (++links > maxLinks) throw new Error(`ELOOP: too many levels of symbolic links, ${operation} '${path}'`);
      names.pop();
      // Substituted as text in the path, so “..” refers to the link's own parent.
      const target = entry.target.startsWith("/") ? entry.target : `/${names.join("/")}/${entry.target}`;
      left.unshift(...splitPath(target));
      names.length = 0;
    }
    if (names.length > maxDepth) throw new Error(`ENAMETOOLONG: name too long, ${operation} '${path.slice(0, 100)}…'`);
    return names;
  }

  #find(path: string, operation: string): Entry | undefined {
    return this.#tree.find(this.#resolve(path, operation));
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

  #put(names: readonly string[], body: FileBody, path: string, operation: string): void {
    const existing = this.#tree.find(names);
    if (existing?.kind === "folder")
      throw new Error(`EISDIR: illegal operation on a directory, ${operation} '${path}'`);
    this.#quota.release(existing);
    this.#quota.take(body);
    const mode = existing?.kind === "file" ? existing.mode : undefined;
    this.#link(
      names,
      { kind: "file", body, mtime: this.#now(), ...(mode === undefined ? {} : { mode }) },
      path,
      operation,
    );
  }

  #link(names: readonly string[], entry: Entry, path: string, operation: string): void {
    if (this.#tree.find(names)?.kind === "folder")
      throw new Error(`EISDIR: illegal operation on a directory, ${operation} '${path}'`);
    if (!this.#tree.put(names, entry)) throw new Error(`ENOTDIR: not a directory, ${operation} '${path}'`);
  }

  /** Copies folders that this tree owns: the same folder in two places would change in both. */
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
    if (identity === undefined) this.#identities.set(entry, (identity = String(++this.#lastIdentity)));
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

function checkDepth(names: readonly string[], entry: Entry, operation: string, path: string): void {
  if (names.length + getDepth(entry) > maxDepth)
    throw new Error(`ENAMETOOLONG: name too long, ${operation} '${path.slice(0, 100)}'`);
}

function getDepth(entry: Entry): number {
  let depth = 0;
  if (entry.kind === "folder")
    for (const inside of entry.entries.values())
      if (inside.kind === "folder") depth = Math.max(depth, 1 + getDepth(inside));
  return depth;
}

function throwMissing(operation: string, path: string): never {
  throw new Error(`ENOENT: no such file or directory, ${operation} '${path}'`);
}

function isNullDevice(names: readonly string[]): boolean {
  return (
    names.length === 2 && names[0] === "dev" && ["null", "zero", "stdout", "stderr", "full"].includes(names[1] ?? "")
  );
}

function isWithin(names: readonly string[], folder: readonly string[]): boolean {
  return folder.every((name, index) => names[index] === name);
}
