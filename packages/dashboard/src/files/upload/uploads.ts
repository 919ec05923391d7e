import { isThinkeryError } from "@thinkery/sdk";
import { zipFiles } from "@thinkery/sdk/internal";
import { archiveAddress, fileAddress, sendFile, type Workspace } from "../../api/files.ts";
import { messageOf } from "../../api/login.ts";
import { createStore, type Store } from "../../api/store.ts";
import { type Gathered, type Given, type LeftOut, noneLeft } from "./gather.ts";
import { sortUploads } from "./sort-uploads.ts";

/** What becomes one version: a file, several of them, or all that is in a zip. */
export interface Upload {
  id: number;
  files: readonly Given[];
  /** It is a zip, and what is in it is wanted. */
  unpack: boolean;
  state: "waiting" | "sending" | "done" | "failed";
  /** From 0 to 1. */
  share: number;
  error?: string;
}

export interface Uploads {
  all: readonly Upload[];
  left: LeftOut;
}

const none: Uploads = { all: [], left: noneLeft };

const kept = new Map<string, Uploader>();

/** Whoever goes elsewhere in the page and comes back finds what they have begun. */
export function uploaderOf({ agency, agent }: Workspace): Uploader {
  const key = `${agency}~${agent}`;
  let uploader = kept.get(key);
  if (!uploader) kept.set(key, (uploader = new Uploader()));
  return uploader;
}

type Waiting = Pick<Upload, "id" | "files" | "unpack"> & { workspace: Workspace };

/** Sends one after the other, and tells how far each is. */
export class Uploader {
  readonly state: Store<Uploads> = createStore(none);
  /** Called when all is sent. */
  onSent: () => void = () => {};
  #leaving = new AbortController();
  #queue: Waiting[] = [];
  #busy = false;
  #last = 0;

  add(workspace: Workspace, folder: string | undefined, { given, left }: Gathered): void {
    const placed = given.map((one) => ({ ...one, path: folder === undefined ? one.path : `${folder}/${one.path}` }));
    const { groups, refused } = sortUploads(placed);
    const failed = refused.map(({ given, reason }): Upload => ({ ...this.#upload([given]), state: "failed", error: `It cannot be uploaded: ${reason}.` }));
    const before = this.state.get();
    this.state.set({
      all: [...before.all.filter(({ state }) => state !== "done"), ...failed],
      left: { unmeant: before.left.unmeant + left.unmeant, beyond: before.left.beyond + left.beyond, unread: before.left.unread + left.unread },
    });
    this.#wait(workspace, groups.map((files) => this.#upload(files)));
  }

  /** Writes what is in a zip, which says itself where it goes. */
  unpack(workspace: Workspace, file: File): void {
    this.#wait(workspace, [this.#upload([{ path: file.name, file }], true)]);
  }

  cancel(): void {
    this.#queue = [];
    this.#leaving.abort();
    this.#leaving = new AbortController();
    const { all, left } = this.state.get();
    this.state.set({ all: all.map((one) => (one.state === "waiting" ? { ...one, state: "failed", error: "Canceled." } : one)), left });
  }

  clear(): void {
    if (!this.#busy) this.state.set(none);
  }

  #upload(files: readonly Given[], unpack = false): Upload {
    return { id: ++this.#last, files, unpack, state: "waiting", share: 0 };
  }

  #wait(workspace: Workspace, uploads: readonly Upload[]): void {
    const { all, left } = this.state.get();
    this.state.set({ all: [...all, ...uploads], left });
    this.#queue.push(...uploads.map(({ id, files, unpack }) => ({ id, files, unpack, workspace })));
    if (!this.#busy) void this.#work();
  }

  async #work(): Promise<void> {
    this.#busy = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) await this.#send(next);
    this.#busy = false;
    this.onSent();
  }

  async #send(waiting: Waiting): Promise<void> {
    const { id, files, workspace } = waiting;
    const { signal } = this.#leaving;
    this.#change(id, { state: "sending" });
    try {
      const { address, body } = await toSend(waiting);
      await sendFile(address, body, { signal, onProgress: (share) => this.#change(id, { share }) });
      this.#change(id, { state: "done", share: 1 });
    } catch (error) {
      if (files.length > 1 && !signal.aborted && !isAway(error)) this.#split(id, files, workspace);
      else this.#change(id, { state: "failed", error: messageOf(error) });
    }
  }

  /** One of them cannot be where it should, or cannot be read: each by itself, so that the others are not kept back. */
  #split(id: number, files: readonly Given[], workspace: Workspace): void {
    const { all, left } = this.state.get();
    this.state.set({ all: all.filter((one) => one.id !== id), left });
    this.#wait(workspace, files.map((file) => this.#upload([file])));
  }

  #change(id: number, part: Partial<Upload>): void {
    const { all, left } = this.state.get();
    this.state.set({ all: all.map((one) => (one.id === id ? { ...one, ...part } : one)), left });
  }
}

/** Several files are one version when they come as a zip. */
async function toSend({ files, unpack, workspace }: Waiting): Promise<{ address: string; body: Blob }> {
  const [first] = files;
  if (!first) throw new Error("nothing to upload");
  if (unpack) return { address: archiveAddress(workspace), body: first.file };
  if (files.length === 1) return { address: fileAddress(workspace, first.path), body: first.file };
  const pieces: BlobPart[] = [];
  for await (const piece of zipFiles(read(files))) pieces.push(piece as Uint8Array<ArrayBuffer>);
  return { address: archiveAddress(workspace), body: new Blob(pieces) };
}

async function* read(files: readonly Given[]) {
  for (const { path, file } of files) yield { path, data: new Uint8Array(await file.arrayBuffer()), modifiedAt: new Date(file.lastModified) };
}

/** The same will be said of each of them. */
function isAway(error: unknown): boolean {
  return isThinkeryError(error) && (error.code === "unavailable" || error.code === "unauthorized" || error.code === "forbidden" || error.code === "not_found");
}
