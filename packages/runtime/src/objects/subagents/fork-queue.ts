import type { ForkMerge } from "@thinkery/sdk";
import type { SubagentRow } from "../../store/subagent-row.ts";
import type { Subagents } from "../../store/subagents.ts";
import type { Forks } from "./forks.ts";

interface ForkQueueOptions {
  subagents: Pick<Subagents, "listMerging" | "get">;
  forks: Pick<Forks, "merge" | "describeFailure">;
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

/** How often a merge is tried in a row. It is then tried again when sub-agents are checked, at most `maxRounds` times. */
const maxAttempts = 3;
const maxRounds = 5;

/** Merges the forks of sub-agents that have reported, one after the other. Everyone else goes on working. */
export class ForkQueue {
  readonly #options: ForkQueueOptions;
  readonly #merging = new Map<string, Merging>();
  /** How often all attempts in a row failed. A crash starts over, which is harmless. */
  readonly #failedRounds = new Map<string, number>();
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
        if (!this.#isWanted(row)) throw error;
        signal.throwIfAborted();
        if (attempt === maxAttempts) return this.#endRound(row, error);
        await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
      }
    }
  }

  /** The next check of sub-agents tries again, unless it has failed too often. Its agent must not wait forever. */
  async #endRound(row: SubagentRow, error: unknown): Promise<void> {
    const { forks, onMerged } = this.#options;
    const rounds = (this.#failedRounds.get(row.taskId) ?? 0) + 1;
    this.#failedRounds.set(row.taskId, rounds);
    if (rounds < maxRounds) throw error;
    console.error(`the branch of ${row.childThreadId} is not merged: it failed too often`, error);
    await onMerged(row, await forks.describeFailure(row, error instanceof Error ? error.message : String(error)));
    this.#failedRounds.delete(row.taskId);
  }

  #isWanted({ taskId, token }: SubagentRow): boolean {
    const current = this.#options.subagents.get(taskId);
    return current?.state === "merging" && current.token === token;
  }
}
