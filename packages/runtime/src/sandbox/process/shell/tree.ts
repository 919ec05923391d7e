import { FileBody } from "./file-body.ts";

// Folders and files as a copy-on-write tree. A tree never changes a folder that it does not own, but replaces it by a
// copy. So what two trees have in common is the same object in both, and only the rest has to be compared.

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
  /** Defaults to executable for scripts only. */
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

/** A writable tree. Changes do not affect the tree that it was created from. */
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

  /** Returns the folder at a path, created if missing, for writing. Returns undefined if a file is in the way. */
  ensureFolder(names: readonly string[], mtime = 0): Folder | undefined {
    let folder = (this.root = this.#toOwned(this.root));
    for (const name of names) {
      const entry = folder.entries.get(name) ?? createFolder(this, mtime);
      if (entry.kind !== "folder") return undefined;
      const owned = this.#toOwned(entry);
      folder.entries.set(name, owned);
      folder = owned;
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

  /** Removes an entry and all folders above that become empty: workspaces have no empty folders. */
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

/** Yields all files below a folder, sorted by name. */
export function* iterateFiles(folder: Folder, under = ""): Generator<[path: string, file: File]> {
  for (const name of [...folder.entries.keys()].sort()) {
    const entry = folder.entries.get(name);
    if (entry?.kind === "file") yield [under + name, entry];
    else if (entry?.kind === "folder") yield* iterateFiles(entry, `${under}${name}/`);
  }
}

/** Splits a path, resolving “.” and “..”. Names are normalized to NFC, so that equivalent spellings are one name. */
export function splitPath(path: string): string[] {
  const names: string[] = [];
  for (const name of path.normalize("NFC").split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return names;
}
