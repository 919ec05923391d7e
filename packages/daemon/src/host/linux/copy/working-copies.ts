import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import type { WorkingCopyPlan } from "@thinkery/sdk/internal";
import { isDraft } from "../../../folder/write.ts";
import type { LinuxProvider } from "../provider.ts";
import { createEmptyCollection, WorkingCopy } from "./working-copy.ts";

interface WorkingCopiesOptions {
  provider: LinuxProvider;
  isDiskFull(): Promise<boolean>;
}

/** Maximum working copies kept in memory. */
const maxOpenCopies = 16;

/** The working copies of all agents' workspaces. Operations on the same one run one after another. */
export class WorkingCopies {
  readonly #options: WorkingCopiesOptions;
  readonly #open = new Map<string, WorkingCopy>();
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(options: WorkingCopiesOptions) {
    this.#options = options;
  }

  /** Returns the changes; other operations wait until they were read to the end. */
  async collect(agent: string, maxFileBytes: number): Promise<AsyncIterable<Uint8Array>> {
    // Reading must not create folders, because the agent may have been deleted in the meantime.
    if (!(await this.#options.provider.hasStorage(agent))) return createEmptyCollection();
    let onEnd = () => {};
    const ended = new Promise<void>((resolve) => (onEnd = resolve));
    return new Promise((resolve, reject) => {
      this.#enqueue(agent, async (copy) => {
        resolve(notifyAtEnd(await copy.collect(maxFileBytes), onEnd));
        await ended;
      }).catch(reject);
    });
  }

  plan(agent: string, plan: WorkingCopyPlan): Promise<string[]> {
    return this.#enqueue(agent, (copy) => copy.plan(plan));
  }

  async put(agent: string, body: Buffer, maxFileBytes: number): Promise<string[]> {
    // Commands that free up space must still be possible, so the caller continues without these files.
    if (await this.#options.isDiskFull())
      throw fail(
        "too_large",
        "The disk is almost full: files of the workspace are not copied to the sandbox. Remove unneeded files.",
      );
    return this.#enqueue(agent, (copy) => copy.put(body, maxFileBytes));
  }

  /** Called when the agent and its folder were deleted. */
  forget(agent: string): void {
    this.#open.delete(agent);
  }

  async #enqueue<T>(agent: string, work: (copy: WorkingCopy) => Promise<T>): Promise<T> {
    const previous = this.#busy.get(agent) ?? Promise.resolve();
    const done = previous.catch(() => {}).then(async () => work(await this.#openCopy(agent)));
    this.#busy.set(agent, done);
    try {
      return await done;
    } finally {
      if (this.#busy.get(agent) === done) this.#busy.delete(agent);
    }
  }

  async #openCopy(agent: string): Promise<WorkingCopy> {
    // Opened each time, because a command may have removed the folder's permissions and the provider restores them.
    const storage = await this.#options.provider.openStorage(agent);
    const existing = this.#open.get(agent);
    this.#open.delete(agent);
    const copy = existing ?? new WorkingCopy(storage);
    if (!existing) removeDrafts(storage.metadata);
    this.#open.set(agent, copy);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= maxOpenCopies) break;
      if (!this.#busy.has(oldest)) this.#open.delete(oldest);
    }
    return copy;
  }
}

/** Removes drafts that a killed host left. */
function removeDrafts(folder: string): void {
  for (const name of readdirSync(folder)) if (isDraft(name)) rmSync(join(folder, name), { force: true });
}

// Not a generator: one that is never started, because the caller has disconnected, would not run its cleanup either.
function notifyAtEnd<T>(pieces: AsyncIterable<T>, onEnd: () => void): AsyncIterable<T> {
  const iterator = pieces[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const step = await iterator.next().catch((error: unknown) => {
          onEnd();
          throw error;
        });
        if (step.done) onEnd();
        return step;
      },
      async return() {
        onEnd();
        await iterator.return?.();
        return { done: true as const, value: undefined };
      },
    }),
  };
}
