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

/** What is known of so many copies is kept in memory. */
const maxOpenCopies = 16;

/** The copies of all agents' workspaces. What is done to one of them is done after one another. */
export class WorkingCopies {
  readonly #options: WorkingCopiesOptions;
  readonly #open = new Map<string, WorkingCopy>();
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(options: WorkingCopiesOptions) {
    this.#options = options;
  }

  /** What was changed; others wait until it was read to its end. */
  async collect(agent: string, largest: number): Promise<AsyncIterable<Uint8Array>> {
    // Whoever only looks makes nothing: the agent may have been deleted meanwhile.
    if (!(await this.#options.provider.hasPlace(agent))) return createEmptyCollection();
    let isOver = () => {};
    const over = new Promise<void>((resolve) => (isOver = resolve));
    return new Promise((resolve, reject) => {
      this.#enqueue(agent, async (copy) => {
        resolve(notifyAtEnd(await copy.collect(largest), isOver));
        await over;
      }).catch(reject);
    });
  }

  plan(agent: string, plan: WorkingCopyPlan): Promise<string[]> {
    return this.#enqueue(agent, (copy) => copy.plan(plan));
  }

  async put(agent: string, body: Buffer, largest: number): Promise<string[]> {
    // To make room again, a command must be possible all the same: whoever asks goes on without.
    if (await this.#options.isDiskFull())
      throw fail(
        "too_large",
        "The disk is almost full: files of the workspace are not brought into the sandbox. Remove what is not needed.",
      );
    return this.#enqueue(agent, (copy) => copy.put(body, largest));
  }

  /** The agent is gone, and its folder with it. */
  forget(agent: string): void {
    this.#open.delete(agent);
  }

  async #enqueue<T>(agent: string, work: (copy: WorkingCopy) => Promise<T>): Promise<T> {
    const before = this.#busy.get(agent) ?? Promise.resolve();
    const done = before.catch(() => {}).then(async () => work(await this.#openCopy(agent)));
    this.#busy.set(agent, done);
    try {
      return await done;
    } finally {
      if (this.#busy.get(agent) === done) this.#busy.delete(agent);
    }
  }

  async #openCopy(agent: string): Promise<WorkingCopy> {
    // Asked each time: the folder may have been closed by a command, and the provider opens it again.
    const place = await this.#options.provider.openPlace(agent);
    const known = this.#open.get(agent);
    this.#open.delete(agent);
    const copy = known ?? new WorkingCopy(place);
    if (!known) removeDrafts(place.metadata);
    this.#open.set(agent, copy);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= maxOpenCopies) break;
      if (!this.#busy.has(oldest)) this.#open.delete(oldest);
    }
    return copy;
  }
}

/** What a host that was killed was about to put there. */
function removeDrafts(beside: string): void {
  for (const name of readdirSync(beside)) if (isDraft(name)) rmSync(join(beside, name), { force: true });
}

// Not a generator: one that was never begun, because whoever asked has hung up, does not come to its end either.
function notifyAtEnd<T>(pieces: AsyncIterable<T>, isOver: () => void): AsyncIterable<T> {
  const iterator = pieces[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const step = await iterator.next().catch((error: unknown) => {
          isOver();
          throw error;
        });
        if (step.done) isOver();
        return step;
      },
      async return() {
        isOver();
        await iterator.return?.();
        return { done: true as const, value: undefined };
      },
    }),
  };
}
