/** A file that somebody gives us, and where it goes within the folder that they chose. */
export interface PickedFile {
  path: string;
  file: File;
}

/** How many were left out: what nobody means to upload, what was more than is taken at once, what the browser could not read. */
export interface SkippedCounts {
  unmeant: number;
  beyond: number;
  unread: number;
}

export interface UploadSelection {
  given: PickedFile[];
  left: SkippedCounts;
}

export const maxFiles = 1000;
const ignoredNames = new Set([".git", "node_modules", ".DS_Store"]);

export const noneSkipped: SkippedCounts = { unmeant: 0, beyond: 0, unread: 0 };

/** What was dropped, with what is in dropped folders where the browser tells. */
export async function gatherDropped(items: DataTransferItemList, files: FileList): Promise<UploadSelection> {
  const entries = [...items].flatMap((item) => (item.kind === "file" ? [item.webkitGetAsEntry?.() ?? undefined] : []));
  if (entries.every((entry) => entry === undefined)) return gatherPicked(files);
  const gathered: UploadSelection = { given: [], left: { ...noneSkipped } };
  for (const entry of entries) if (entry) await walk(entry, "", gathered);
  return gathered;
}

/** What was chosen; of a folder, the paths begin with its name. */
export function gatherPicked(files: FileList): UploadSelection {
  const all = [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  const meant = all.filter(({ path }) => !path.split("/").some((name) => ignoredNames.has(name)));
  const given = meant.slice(0, maxFiles);
  return { given, left: { ...noneSkipped, unmeant: all.length - meant.length, beyond: meant.length - given.length } };
}

async function walk(entry: FileSystemEntry, folder: string, into: UploadSelection): Promise<void> {
  const path = folder + entry.name;
  if (ignoredNames.has(entry.name)) return void into.left.unmeant++;
  if (into.given.length >= maxFiles) return void into.left.beyond++;
  try {
    if (entry.isFile) into.given.push({ path, file: await readFile(entry as FileSystemFileEntry) });
    else for await (const inner of listEntries(entry as FileSystemDirectoryEntry)) await walk(inner, `${path}/`, into);
  } catch {
    into.left.unread++;
  }
}

function readFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

async function* listEntries(folder: FileSystemDirectoryEntry): AsyncGenerator<FileSystemEntry> {
  const reader = folder.createReader();
  for (;;) {
    // It gives a hundred at a time, and none when there are no more.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    yield* some;
  }
}
