import { isThinkeryError } from "@thinkery/sdk";
import { zipFiles } from "@thinkery/sdk/internal";
import { buildArchiveUrl, buildFileUrl, sendFile, type Workspace } from "../../api/files.ts";
import { getErrorMessage } from "../../api/login.ts";
import { createStore, type Store } from "../../api/store.ts";
import { type UploadSelection, type PickedFile, type SkippedCounts, noneSkipped } from "./gather.ts";
import { sortUploads } from "./sort-uploads.ts";

/** What becomes one version: a file, several of them, or all that is in a zip. */
export interface Upload {
  id: number;
  files: readonly PickedFile[];
  /** It is a zip, and what is in it is wanted. */
  unpack: boolean;
  state: "waiting" | "sending" | "done" | "failed";
  /** From 0 to 1. */
  share: number;
  error?: string;
}

export interface Uploads {
  all: readonly Upload[];
  left: SkippedCounts;
}

const noUploads: Uploads = { all: [], left: noneSkipped };

const uploaders = new Map<string, Uploader>();

/** Whoever goes elsewhere in the page and comes back finds what they have begun. */
export function getUploader({ agency, agent }: Workspace): Uploader {
  const key = `${agency}~${agent}`;
  let uploader = uploaders.get(key);
  if (!uploader) uploaders.set(key, (uploader = new Uploader()));
  return uploader;
}

type QueuedUpload = Pick<Upload, "id" | "files" | "unpack"> & { workspace: Workspace };

/** Sends one after the other, and tells how far each is. */
export class Uploader {
  readonly state: Store<Uploads> = createStore(noUploads);
  /** Called when all is sent. */
  onSent: () => void = () => {};
  #abortController = new AbortController();
  #queue: QueuedUpload[] = [];
  #isBusy = false;
  #lastId = 0;

  add(workspace: Workspace, folder: string | undefined, { given, left }: UploadSelection): void {
    const placed = given.map((one) => ({ ...one, path: folder === undefined ? one.path : `${folder}/${one.path}` }));
    const { groups, refused } = sortUploads(placed);
    const failed = refused.map(({ given, reason }): Upload => ({
      ...this.#createUpload([given]),
      state: "failed",
      error: `It cannot be uploaded: ${reason}.`,
    }));
    const before = this.state.get();
    this.state.set({
      all: [...before.all.filter(({ state }) => state !== "done"), ...failed],
      left: {
        unmeant: before.left.unmeant + left.unmeant,
        beyond: before.left.beyond + left.beyond,
        unread: before.left.unread + left.unread,
      },
    });
    this.#enqueue(
      workspace,
      groups.map((files) => this.#createUpload(files)),
    );
  }

  /** Writes what is in a zip, which says itself where it goes. */
  unpack(workspace: Workspace, file: File): void {
    this.#enqueue(workspace, [this.#createUpload([{ path: file.name, file }], true)]);
  }

  cancel(): void {
    this.#queue = [];
    this.#abortController.abort();
    this.#abortController = new AbortController();
    const { all, left } = this.state.get();
    this.state.set({
      all: all.map((one) => (one.state === "waiting" ? { ...one, state: "failed", error: "Canceled." } : one)),
      left,
    });
  }

  clear(): void {
    if (!this.#isBusy) this.state.set(noUploads);
  }

  #createUpload(files: readonly PickedFile[], unpack = false): Upload {
    return { id: ++this.#lastId, files, unpack, state: "waiting", share: 0 };
  }

  #enqueue(workspace: Workspace, uploads: readonly Upload[]): void {
    const { all, left } = this.state.get();
    this.state.set({ all: [...all, ...uploads], left });
    this.#queue.push(...uploads.map(({ id, files, unpack }) => ({ id, files, unpack, workspace })));
    if (!this.#isBusy) void this.#processQueue();
  }

  async #processQueue(): Promise<void> {
    this.#isBusy = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) await this.#send(next);
    this.#isBusy = false;
    this.onSent();
  }

  async #send(waiting: QueuedUpload): Promise<void> {
    const { id, files, workspace } = waiting;
    const { signal } = this.#abortController;
    this.#update(id, { state: "sending" });
    try {
      const { address, body } = await prepareRequest(waiting);
      await sendFile(address, body, { signal, onProgress: (share) => this.#update(id, { share }) });
      this.#update(id, { state: "done", share: 1 });
    } catch (error) {
      if (files.length > 1 && !signal.aborted && !isFatal(error)) this.#split(id, files, workspace);
      else this.#update(id, { state: "failed", error: getErrorMessage(error) });
    }
  }

  /** One of them cannot be where it should, or cannot be read: each by itself, so that the others are not kept back. */
  #split(id: number, files: readonly PickedFile[], workspace: Workspace): void {
    const { all, left } = this.state.get();
    this.state.set({ all: all.filter((one) => one.id !== id), left });
    this.#enqueue(
      workspace,
      files.map((file) => this.#createUpload([file])),
    );
  }

  #update(id: number, part: Partial<Upload>): void {
    const { all, left } = this.state.get();
    this.state.set({ all: all.map((one) => (one.id === id ? { ...one, ...part } : one)), left });
  }
}

/** Several files are one version when they come as a zip. */
async function prepareRequest({ files, unpack, workspace }: QueuedUpload): Promise<{ address: string; body: Blob }> {
  const [first] = files;
  if (!first) throw new Error("nothing to upload");
  if (unpack) return { address: buildArchiveUrl(workspace), body: first.file };
  if (files.length === 1) return { address: buildFileUrl(workspace, first.path), body: first.file };
  const pieces: BlobPart[] = [];
  for await (const piece of zipFiles(readFiles(files))) pieces.push(piece as Uint8Array<ArrayBuffer>);
  return { address: buildArchiveUrl(workspace), body: new Blob(pieces) };
}

async function* readFiles(files: readonly PickedFile[]) {
  for (const { path, file } of files)
    yield { path, data: new Uint8Array(await file.arrayBuffer()), modifiedAt: new Date(file.lastModified) };
}

/** The same will be said of each of them. */
function isFatal(error: unknown): boolean {
  return (
    isThinkeryError(error) &&
    (error.code === "unavailable" ||
      error.code === "unauthorized" ||
      error.code === "forbidden" ||
      error.code === "not_found")
  );
}
