import { pathProblem } from "@thinkery/sdk";
import { fileAddress, sendFile, type Workspace } from "../../api/files.ts";
import { messageOf } from "../../api/login.ts";
import { createStore, type Store } from "../../api/store.ts";
import type { Gathered, Given } from "./gather.ts";

export interface Upload {
  id: number;
  path: string;
  size: number;
  state: "waiting" | "sending" | "done" | "failed";
  /** From 0 to 1. */
  share: number;
  error?: string;
}

export interface Uploads {
  all: readonly Upload[];
  skipped: number;
}

const none: Uploads = { all: [], skipped: 0 };

/** More is never taken, whatever the host is set to; it says itself what it takes. */
const largest = 100 * 1024 * 1024;

const kept = new Map<string, Uploader>();

/** Whoever goes elsewhere in the page and comes back finds what they have begun. */
export function uploaderOf({ agency, agent }: Workspace): Uploader {
  const key = `${agency}~${agent}`;
  let uploader = kept.get(key);
  if (!uploader) kept.set(key, (uploader = new Uploader()));
  return uploader;
}

/** Sends files one after the other, and tells how far each is. */
export class Uploader {
  readonly state: Store<Uploads> = createStore(none);
  /** Called when all is sent. */
  onSent: () => void = () => {};
  #leaving = new AbortController();
  #queue: (Given & { id: number; workspace: Workspace })[] = [];
  #busy = false;
  #last = 0;

  add(workspace: Workspace, folder: string | undefined, { given, skipped }: Gathered): void {
    const placed = given.map((one) => ({ ...one, path: folder === undefined ? one.path : `${folder}/${one.path}`, id: ++this.#last, workspace }));
    const { all, skipped: before } = this.state.get();
    const news = placed.map(({ id, path, file }): Upload => ({ id, path, size: file.size, state: "waiting", share: 0 }));
    this.state.set({ all: [...all.filter(({ state }) => state !== "done"), ...news], skipped: before + skipped });
    this.#queue.push(...placed);
    if (!this.#busy) void this.#work();
  }

  cancel(): void {
    this.#queue = [];
    this.#leaving.abort();
    this.#leaving = new AbortController();
    const { all, skipped } = this.state.get();
    this.state.set({ all: all.map((one) => (one.state === "waiting" ? { ...one, state: "failed", error: "Canceled." } : one)), skipped });
  }

  clear(): void {
    if (!this.#busy) this.state.set(none);
  }

  async #work(): Promise<void> {
    this.#busy = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) await this.#send(next);
    this.#busy = false;
    this.onSent();
  }

  async #send({ id, path, file, workspace }: Given & { id: number; workspace: Workspace }): Promise<void> {
    const change = (part: Partial<Upload>) => {
      const { all, skipped } = this.state.get();
      this.state.set({ all: all.map((one) => (one.id === id ? { ...one, ...part } : one)), skipped });
    };
    const problem = pathProblem(path) ?? (file.size > largest ? "it is too large" : undefined);
    if (problem) return change({ state: "failed", error: `It cannot be uploaded: ${problem}.` });
    change({ state: "sending" });
    try {
      await sendFile(fileAddress(workspace, path), file, { signal: this.#leaving.signal, onProgress: (share) => change({ share }) });
      change({ state: "done", share: 1 });
    } catch (error) {
      change({ state: "failed", error: messageOf(error) });
    }
  }
}
