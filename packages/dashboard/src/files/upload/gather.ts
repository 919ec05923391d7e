/** A file that somebody gives us, and where it goes within the folder that they chose. */
export interface Given {
  path: string;
  file: File;
}

export interface Gathered {
  given: Given[];
  /** How many were left out, being what nobody means to upload. */
  skipped: number;
}

const mostFiles = 1000;
const unmeant = new Set([".git", "node_modules", ".DS_Store"]);

/** What was dropped, with what is in dropped folders where the browser tells. */
export async function gatherDropped(items: DataTransferItemList, files: FileList): Promise<Gathered> {
  const entries = [...items].flatMap((item) => (item.kind === "file" ? [item.webkitGetAsEntry?.() ?? undefined] : []));
  if (entries.every((entry) => entry === undefined)) return gatherPicked(files);
  const gathered: Gathered = { given: [], skipped: 0 };
  for (const entry of entries) if (entry) await walk(entry, "", gathered);
  return gathered;
}

/** What was chosen; of a folder, the paths begin with its name. */
export function gatherPicked(files: FileList): Gathered {
  const all = [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  const given = all.filter(({ path }) => !path.split("/").some((name) => unmeant.has(name))).slice(0, mostFiles);
  return { given, skipped: all.length - given.length };
}

async function walk(entry: FileSystemEntry, folder: string, into: Gathered): Promise<void> {
  const path = folder + entry.name;
  if (unmeant.has(entry.name) || into.given.length >= mostFiles) return void into.skipped++;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    into.given.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // It gives a hundred at a time, and none when there are no more.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const inner of some) await walk(inner, `${path}/`, into);
  }
}
