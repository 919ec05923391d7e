import type { FileInfo } from "@thinkery/sdk";

/** A row of the tree: a file or a folder. */
export interface Row {
  path: string;
  name: string;
  level: number;
  /** Undefined for a folder. */
  file?: FileInfo;
  open?: boolean;
  /** Number and total size of the files in a folder, at any depth. */
  count: number;
  size: number;
  /** Position among the siblings, starting at 1. */
  position: number;
  siblings: number;
}

interface Folder {
  path: string;
  folders: Map<string, Folder>;
  files: FileInfo[];
  count: number;
  size: number;
}

/** Builds the folder tree from the paths of the files; a workspace has no empty folders. */
export function buildTree(files: readonly FileInfo[]): Folder {
  const root = createFolder("");
  for (const file of files) {
    const names = file.path.split("/");
    let folder = root;
    folder.count++;
    folder.size += file.size;
    for (const [index, name] of names.slice(0, -1).entries()) {
      let next = folder.folders.get(name);
      if (!next) folder.folders.set(name, (next = createFolder(names.slice(0, index + 1).join("/"))));
      next.count++;
      next.size += file.size;
      folder = next;
    }
    folder.files.push(file);
  }
  return root;
}

function createFolder(path: string): Folder {
  return { path, folders: new Map(), files: [], count: 0, size: 0 };
}

/** The visible rows: folders before files, by name, with the contents of expanded folders. */
export function listRows(folder: Folder, isOpen: (path: string) => boolean, level = 1): Row[] {
  const siblings = folder.folders.size + folder.files.length;
  let position = 0;
  const folders = [...folder.folders]
    .sort(([one], [other]) => compareNames(one, other))
    .flatMap(([name, inner]) => {
      const open = isOpen(inner.path);
      const row: Row = {
        path: inner.path,
        name,
        level,
        open,
        count: inner.count,
        size: inner.size,
        position: ++position,
        siblings,
      };
      return open ? [row, ...listRows(inner, isOpen, level + 1)] : [row];
    });
  const files = folder.files
    .map((file) => ({ file, name: getFileName(file.path) }))
    .sort((one, other) => compareNames(one.name, other.name))
    .map(({ file, name }): Row => ({
      path: file.path,
      name,
      level,
      file,
      count: 1,
      size: file.size,
      position: ++position,
      siblings,
    }));
  return [...folders, ...files];
}

/** Returns the files whose paths contain every word of the filter. */
export function filterFiles(files: readonly FileInfo[], filter: string): FileInfo[] {
  const words = filter.normalize("NFC").toLowerCase().split(/\s+/).filter(Boolean);
  return files.filter(({ path }) => words.every((word) => path.toLowerCase().includes(word)));
}

export function getFileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns undefined for a path at the root of the workspace. */
export function getParentFolder(path: string): string | undefined {
  const end = path.lastIndexOf("/");
  return end < 0 ? undefined : path.slice(0, end);
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function compareNames(one: string, other: string): number {
  return collator.compare(one, other) || (one < other ? -1 : 1);
}
