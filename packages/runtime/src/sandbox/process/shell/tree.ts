import { FileBody } from "./file-body.ts";

/**
 * Folders and files as a tree that several hold at once. Nobody changes a folder that is not theirs: they put a copy in
 * its place. So what two trees have in common is the same object in both, and what was changed is found by looking at
 * the rest only.
 */

export interface Folder {
  kind: "folder";
  entries: Map<string, Entry>;
  mode: number;
  mtime: number;
  /** The tree that may change it. */
  owner: object;
}

export interface File {
  kind: "file";
  body: FileBody;
  /** Where none was set, a script can be run and anything else cannot. */
  mode?: number;
  mtime: number;
}

export interface Link {
  kind: "link";
  target: string;
  mtime: number;
}

export type Entry = Folder | File | Link;

export const folderMode = 0o755;

export function createFolder(owner: object, mtime = 0): Folder {
  return { kind: "folder", entries: new Map(), mode: folderMode, mtime, owner };
}

export function getMode(entry: Entry): number {
  if (entry.kind === "link") return 0o777;
  return entry.mode ?? (entry.kind === "file" && entry.body.startsWith("#!") ? 0o755 : 0o644);
}

/** One's own way into a tree: what is put here is seen by nobody who holds the tree it was made from. */
export class Tree {
  root: Folder;

  constructor(from: Folder | undefined) {
    this.root = from ?? createFolder(this);
  }

  find(names: readonly string[]): Entry | undefined {
    let entry: Entry | undefined = this.root;
    for (const name of names) {
      if (entry?.kind !== "folder") return undefined;
      entry = entry.entries.get(name);
    }
    return entry;
  }

  /** The folder at this place, made where there is none, as one that may be changed; nothing where a file is in the way. */
  ensureFolder(names: readonly string[], mtime = 0): Folder | undefined {
    let folder = (this.root = this.#toOwned(this.root));
    for (const name of names) {
      const entry = folder.entries.get(name) ?? createFolder(this, mtime);
      if (entry.kind !== "folder") return undefined;
      const own = this.#toOwned(entry);
      folder.entries.set(name, own);
      folder = own;
    }
    return folder;
  }

  put(names: readonly string[], entry: Entry): boolean {
    const folder = this.ensureFolder(names.slice(0, -1), entry.mtime);
    const name = names.at(-1);
    if (!folder || name === undefined) return false;
    if (folder.entries.get(name) === undefined) folder.mtime = entry.mtime;
    folder.entries.set(name, entry);
    return true;
  }

  remove(names: readonly string[]): void {
    if (this.find(names) === undefined) return;
    this.ensureFolder(names.slice(0, -1))?.entries.delete(names.at(-1) ?? "");
  }

  /** The same, and every folder above that has nothing left in it: workspaces have no empty folders. */
  prune(names: readonly string[]): void {
    this.remove(names);
    for (let length = names.length - 1; length > 0; length--) {
      const folder = this.find(names.slice(0, length));
      if (folder?.kind !== "folder" || folder.entries.size > 0) return;
      this.remove(names.slice(0, length));
    }
  }

  #toOwned(folder: Folder): Folder {
    return folder.owner === this ? folder : { ...folder, entries: new Map(folder.entries), owner: this };
  }
}

/** All files below a folder, folder by folder, in the order of their names. */
export function* iterateFiles(folder: Folder, under = ""): Generator<[path: string, file: File]> {
  for (const name of [...folder.entries.keys()].sort()) {
    const entry = folder.entries.get(name);
    if (entry?.kind === "file") yield [under + name, entry];
    else if (entry?.kind === "folder") yield* iterateFiles(entry, `${under}${name}/`);
  }
}

/** The parts of a path, without what means nothing in it. Two spellings of a letter are one name. */
export function splitPath(path: string): string[] {
  const names: string[] = [];
  for (const name of path.normalize("NFC").split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return names;
}
