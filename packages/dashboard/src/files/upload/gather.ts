/** A file to upload, with its path in the target folder. */
export interface PickedFile {
  path: string;
  file: File;
}

/** Number of skipped files: ignored names, over the limit per upload, or unreadable for the browser. */
export interface SkippedCounts {
  ignored: number;
  overLimit: number;
  unreadable: number;
}

export interface UploadSelection {
  files: PickedFile[];
  skipped: SkippedCounts;
}

export const maxFiles = 1000;
const ignoredNames = new Set([".git", "node_modules", ".DS_Store"]);

export const noneSkipped: SkippedCounts = { ignored: 0, overLimit: 0, unreadable: 0 };

/** Collects dropped files, including the contents of dropped folders if the browser supports it. */
export async function gatherDropped(items: DataTransferItemList, files: FileList): Promise<UploadSelection> {
  const entries = [...items].flatMap((item) => (item.kind === "file" ? [item.webkitGetAsEntry?.() ?? undefined] : []));
  if (entries.every((entry) => entry === undefined)) return gatherPicked(files);
  const selection: UploadSelection = { files: [], skipped: { ...noneSkipped } };
  for (const entry of entries) if (entry) await walk(entry, "", selection);
  return selection;
}

/** Collects picked files; the paths in a picked folder begin with its name. */
export function gatherPicked(fileList: FileList): UploadSelection {
  const all = [...fileList].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  const accepted = all.filter(({ path }) => !path.split("/").some((name) => ignoredNames.has(name)));
  const files = accepted.slice(0, maxFiles);
  const skipped = { ignored: all.length - accepted.length, overLimit: accepted.length - files.length };
  return { files, skipped: { ...noneSkipped, ...skipped } };
}

async function walk(entry: FileSystemEntry, folder: string, selection: UploadSelection): Promise<void> {
  const path = folder + entry.name;
  if (ignoredNames.has(entry.name)) return void selection.skipped.ignored++;
  if (selection.files.length >= maxFiles) return void selection.skipped.overLimit++;
  try {
    if (entry.isFile) selection.files.push({ path, file: await readFile(entry as FileSystemFileEntry) });
    else
      for await (const inner of listEntries(entry as FileSystemDirectoryEntry))
        await walk(inner, `${path}/`, selection);
  } catch {
    selection.skipped.unreadable++;
  }
}

function readFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

async function* listEntries(folder: FileSystemDirectoryEntry): AsyncGenerator<FileSystemEntry> {
  const reader = folder.createReader();
  for (;;) {
    // Returns a batch of entries per call, and an empty one at the end.
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return;
    yield* batch;
  }
}
