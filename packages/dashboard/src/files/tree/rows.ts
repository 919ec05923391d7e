import type { FileInfo } from "@thinkery/sdk";

/** A line of the tree: a file, or a folder with what is in it. */
export interface Row {
  path: string;
  name: string;
  level: number;
  /** Of a folder, nothing. */
  file?: FileInfo;
  open?: boolean;
  /** How many files are in a folder, at any depth, and how large they are together. */
  count: number;
  size: number;
  place: number;
  siblings: number;
}

interface Folder {
  path: string;
  folders: Map<string, Folder>;
  files: FileInfo[];
  count: number;
  size: number;
}

/** Folders in which files are, by the paths of the files: a workspace knows no others. */
export function buildTree(files: readonly FileInfo[]): Folder {
  const root = createFolder("");
  for (const file of files) {
    const names = file.path.split("/");
    let at = root;
    at.count++;
    at.size += file.size;
    for (const [index, name] of names.slice(0, -1).entries()) {
      let next = at.folders.get(name);
      if (!next) at.folders.set(name, (next = createFolder(names.slice(0, index + 1).join("/"))));
      next.count++;
      next.size += file.size;
      at = next;
    }
    at.files.push(file);
  }
  return root;
}

function createFolder(path: string): Folder {
  return { path, folders: new Map(), files: [], count: 0, size: 0 };
}

/** The lines that are in sight: folders before files, by name, and what is in the folders that are open. */
export function listRows(folder: Folder, isOpen: (path: string) => boolean, level = 1): Row[] {
  const siblings = folder.folders.size + folder.files.length;
  let place = 0;
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
        place: ++place,
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
      place: ++place,
      siblings,
    }));
  return [...folders, ...files];
}

/** The files whose paths have every word in them that is looked for. */
export function filterFiles(files: readonly FileInfo[], filter: string): FileInfo[] {
  const words = filter.normalize("NFC").toLowerCase().split(/\s+/).filter(Boolean);
  return files.filter(({ path }) => words.every((word) => path.toLowerCase().includes(word)));
}

export function getFileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The folder that a path is in; nothing where that is the whole workspace. */
export function getParentFolder(path: string): string | undefined {
  const end = path.lastIndexOf("/");
  return end < 0 ? undefined : path.slice(0, end);
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function compareNames(one: string, other: string): number {
  return collator.compare(one, other) || (one < other ? -1 : 1);
}
