import type { ForkMerge } from "@thinkery/sdk";
import type { SubagentRow } from "../../store/subagent-row.ts";
import type { Subagents } from "../../store/subagents.ts";
import type { Forks } from "./forks.ts";

interface ForkQueueOptions {
  subagents: Pick<Subagents, "listMerging" | "get">;
  forks: Pick<Forks, "merge">;
  /** Records that a sub-agent has finished, with what became of its branch. */
  onMerged(row: SubagentRow, merge: ForkMerge | undefined): Promise<void>;
  /** Keeps the object alive until the work is done. */
  waitUntil(work: Promise<unknown>): void;
  retryDelayMs?: number;
}

interface Merging {
  abort: AbortController;
  done: Promise<void>;
}

const maxAttempts = 3;

/** Merges the forks of sub-agents that have reported, one after the other. Everyone else goes on working. */
export class ForkQueue {
  readonly #options: ForkQueueOptions;
  readonly #merging = new Map<string, Merging>();
  #last: Promise<void> = Promise.resolve();
  #isHalted = false;

  constructor(options: ForkQueueOptions) {
    this.#options = options;
  }

  /** Starts the merges that should be made and are not under way. */
  startAll(): void {
    if (this.#isHalted) return;
    for (const row of this.#options.subagents.listMerging()) if (!this.#merging.has(row.taskId)) this.#start(row);
  }

  /** Stops a merge, unless it has been made. Resolves when nothing more happens. */
  async cancel(taskId: string): Promise<void> {
    const merging = this.#merging.get(taskId);
    merging?.abort.abort(new Error("The sub-agent was cancelled."));
    await merging?.done;
  }

  halt(): void {
    this.#isHalted = true;
    for (const { abort } of this.#merging.values()) abort.abort(new Error("The agent is stopping."));
  }

  #start(row: SubagentRow): void {
    const abort = new AbortController();
    const done = this.#last
      .then(() => this.#mergeWithRetry(row, abort.signal))
      .catch((error: unknown) => {
        if (!abort.signal.aborted) console.error(`the branch of ${row.childThreadId} could not be merged`, error);
      })
      .finally(() => this.#merging.delete(row.taskId));
    this.#last = done;
    this.#merging.set(row.taskId, { abort, done });
    this.#options.waitUntil(done);
  }

  async #mergeWithRetry(row: SubagentRow, signal: AbortSignal): Promise<void> {
    const { forks, onMerged, retryDelayMs = 1000 } = this.#options;
    const requireWanted = () => {
      signal.throwIfAborted();
      if (!this.#isWanted(row)) throw new Error("The sub-agent was cancelled.");
    };
    for (let attempt = 1; this.#isWanted(row); attempt++) {
      signal.throwIfAborted();
      try {
        await onMerged(row, await forks.merge(row, signal, requireWanted));
        return;
      } catch (error) {
        // The next check of sub-agents tries again.
        if (attempt === maxAttempts || !this.#isWanted(row)) throw error;
        signal.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
      }
    }
  }

  #isWanted({ taskId, token }: SubagentRow): boolean {
    const current = this.#options.subagents.get(taskId);
    return current?.state === "merging" && current.token === token;
  }
}
