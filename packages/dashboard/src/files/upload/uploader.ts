import { isThinkeryError } from "@thinkery/sdk";
import { zipFiles } from "@thinkery/sdk/internal";
import { buildArchiveUrl, buildFileUrl, sendFile } from "../../api/files.ts";
import { getErrorMessage } from "../../api/login.ts";
import { createStore, type Store } from "../../api/store.ts";
import { getWorkspaceKey, type Workspace } from "../../api/workspace.ts";
import { type UploadSelection, type PickedFile, type SkippedCounts, noneSkipped } from "./gather.ts";
import { sortUploads } from "./sort-uploads.ts";

/** An upload that becomes one version: a file, several files, or the contents of a zip. */
export interface Upload {
  id: number;
  files: readonly PickedFile[];
  /** Whether the file is a zip to extract. */
  extract: boolean;
  state: "waiting" | "sending" | "done" | "failed";
  /** From 0 to 1. */
  share: number;
  error?: string;
}

export interface Uploads {
  all: readonly Upload[];
  skipped: SkippedCounts;
}

const noUploads: Uploads = { all: [], skipped: noneSkipped };

const uploaders = new Map<string, Uploader>();

/** One uploader per agent, so that uploads continue while the user visits other views. */
export function getUploader(workspace: Workspace): Uploader {
  const key = getWorkspaceKey(workspace);
  let uploader = uploaders.get(key);
  if (!uploader) uploaders.set(key, (uploader = new Uploader()));
  return uploader;
}

type QueuedUpload = Pick<Upload, "id" | "files" | "extract"> & { workspace: Workspace };

/** Sends uploads one at a time and reports their progress. */
export class Uploader {
  readonly state: Store<Uploads> = createStore(noUploads);
  /** Called when all uploads are finished. */
  onSent: () => void = () => {};
  #abortController = new AbortController();
  #queue: QueuedUpload[] = [];
  #isBusy = false;
  #lastId = 0;

  add(workspace: Workspace, folder: string | undefined, { files, skipped }: UploadSelection): void {
    const placed = files.map(({ path, file }) => ({ path: folder === undefined ? path : `${folder}/${path}`, file }));
    const { groups, rejected } = sortUploads(placed);
    const failed = rejected.map(({ picked, reason }): Upload => ({
      ...this.#createUpload([picked]),
      state: "failed",
      error: `Cannot upload: ${reason}.`,
    }));
    const before = this.state.get();
    this.state.set({
      all: [...before.all.filter(({ state }) => state !== "done"), ...failed],
      skipped: {
        ignored: before.skipped.ignored + skipped.ignored,
        overLimit: before.skipped.overLimit + skipped.overLimit,
        unreadable: before.skipped.unreadable + skipped.unreadable,
      },
    });
    this.#enqueue(
      workspace,
      groups.map((group) => this.#createUpload(group)),
    );
  }

  /** Extracts a zip; its entries determine the paths. */
  extract(workspace: Workspace, file: File): void {
    this.#enqueue(workspace, [this.#createUpload([{ path: file.name, file }], true)]);
  }

  cancel(): void {
    this.#queue = [];
    this.#abortController.abort();
    this.#abortController = new AbortController();
    const { all, skipped } = this.state.get();
    this.state.set({
      all: all.map((one) => (one.state === "waiting" ? { ...one, state: "failed", error: "Canceled" } : one)),
      skipped,
    });
  }

  clear(): void {
    if (!this.#isBusy) this.state.set(noUploads);
  }

  #createUpload(files: readonly PickedFile[], extract = false): Upload {
    return { id: ++this.#lastId, files, extract, state: "waiting", share: 0 };
  }

  #enqueue(workspace: Workspace, uploads: readonly Upload[]): void {
    const { all, skipped } = this.state.get();
    this.state.set({ all: [...all, ...uploads], skipped });
    this.#queue.push(...uploads.map(({ id, files, extract }) => ({ id, files, extract, workspace })));
    if (!this.#isBusy) void this.#processQueue();
  }

  async #processQueue(): Promise<void> {
    this.#isBusy = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) await this.#send(next);
    this.#isBusy = false;
    this.onSent();
  }

  async #send(upload: QueuedUpload): Promise<void> {
    const { id, files, workspace } = upload;
    const { signal } = this.#abortController;
    this.#update(id, { state: "sending" });
    try {
      const { url, body } = await prepareRequest(upload);
      await sendFile(url, body, { signal, onProgress: (share) => this.#update(id, { share }) });
      this.#update(id, { state: "done", share: 1 });
    } catch (error) {
      if (files.length > 1 && !signal.aborted && !isFatal(error)) this.#split(id, files, workspace);
      else this.#update(id, { state: "failed", error: getErrorMessage(error) });
    }
  }

  /** Retries a failed batch file by file, so that one invalid file does not block the others. */
  #split(id: number, files: readonly PickedFile[], workspace: Workspace): void {
    const { all, skipped } = this.state.get();
    this.state.set({ all: all.filter((one) => one.id !== id), skipped });
    this.#enqueue(
      workspace,
      files.map((file) => this.#createUpload([file])),
    );
  }

  #update(id: number, part: Partial<Upload>): void {
    const { all, skipped } = this.state.get();
    this.state.set({ all: all.map((one) => (one.id === id ? { ...one, ...part } : one)), skipped });
  }
}

/** Several files are sent as a zip, so that they become one version. */
async function prepareRequest({ files, extract, workspace }: QueuedUpload): Promise<{ url: string; body: Blob }> {
  const [first] = files;
  if (!first) throw new Error("No files to upload.");
  if (extract) return { url: buildArchiveUrl(workspace), body: first.file };
  if (files.length === 1) return { url: buildFileUrl(workspace, first.path), body: first.file };
  const pieces: BlobPart[] = [];
  for await (const piece of zipFiles(readFiles(files))) pieces.push(piece as Uint8Array<ArrayBuffer>);
  return { url: buildArchiveUrl(workspace), body: new Blob(pieces) };
}

async function* readFiles(files: readonly PickedFile[]) {
  for (const { path, file } of files)
    yield { path, data: new Uint8Array(await file.arrayBuffer()), modifiedAt: new Date(file.lastModified) };
}

/** Whether the error would repeat for each single file. */
function isFatal(error: unknown): boolean {
  return (
    isThinkeryError(error) &&
    (error.code === "unavailable" ||
      error.code === "unauthorized" ||
      error.code === "forbidden" ||
      error.code === "not_found")
  );
}
