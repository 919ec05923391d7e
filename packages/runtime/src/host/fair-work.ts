import { fail } from "@thinkery/sdk";

/**
 * Work that can pause between its pieces. It yields how much each piece was, in units: one is about a microsecond on
 * the machine we develop on. The clock cannot be used, because it stands still while a Worker computes.
 */
export type Work<T> = Generator<number, T, undefined>;

/** Enough for every change of a full workspace, but not for a request that is made to be expensive. */
const maxUnits = 30_000_000;
/** A slice of work, after which others are served. */
const maxSliceUnits = 20_000;
/** Yielded to pause in any case, before a piece that is large in itself. */
export const fullSlice = maxSliceUnits;

/** Small work goes unnoticed. */
const maxUnitsWithoutPause = 2_000;
/** Long enough for the event loop to run out of ready work and look at its sockets. */
const minPauseMs = 5;
/** A piece that takes longer than a slice is followed by a longer pause, so that others get their share. */
const unitsPerPauseMs = 4_000;
const pollIntervalMs = 5;
const maxWaitMs = 30_000;
/** After so many starts in vain, work that others keep outdating is done without pauses. */
const maxRestarts = 3;

/**
 * Locally, all objects of main share one thread. Slices of work run one at a time, with a pause after each, so that
 * other requests are served in between. On Cloudflare objects have their own threads.
 */
let isClaimed = false;
let claimedAt = 0;
let lastPause = 0;
/** What would release the thread is lost if its object is aborted. */
const maxClaimMs = 1000;

/** Does all work at once. */
export function completeWork<T>(work: Work<T>): T {
  return runSlice(work, new WorkBudget(), Number.POSITIVE_INFINITY) as T;
}

/**
 * Does work in slices and serves others in between. `getRevision` tells whether something the work depends on has
 * changed during a pause; then it starts again. The last piece of work is never interrupted, so it can safely write
 * what the others have computed.
 */
export async function runFairly<T>(start: () => Work<T>, getRevision: () => unknown = () => undefined): Promise<T> {
  const budget = new WorkBudget();
  for (let restarts = 0; ; restarts++) {
    const work = start();
    const sliceUnits = restarts < maxRestarts ? maxSliceUnits : Number.POSITIVE_INFINITY;
    await claimThread();
    for (const revision = getRevision(); ;) {
      const usedBefore = budget.used;
      try {
        const result = runSlice(work, budget, sliceUnits);
        if (result !== unfinished) return result as T;
      } finally {
        releaseThread(budget.used - usedBefore);
      }
      await claimThread();
      if (getRevision() === revision) continue;
      // Runs the work's `finally` blocks.
      work.return(undefined as T);
      releaseThread(0);
      break;
    }
  }
}

const unfinished = Symbol("unfinished");

class WorkBudget {
  used = 0;

  spend(units: number): void {
    this.used += units;
    if (this.used > maxUnits)
      throw fail("too_large", "This takes too much work at once. Do it in several smaller requests.");
  }
}

function runSlice<T>(work: Work<T>, budget: WorkBudget, maxUnits: number): T | typeof unfinished {
  const end = budget.used + maxUnits;
  while (budget.used < end) {
    const { done, value } = work.next();
    if (done) return value;
    budget.spend(value);
  }
  return unfinished;
}

/** Paces asynchronous work like `runFairly`. Its caller says how much work follows. */
export class Pacer {
  #units = 0;

  /** Pauses once enough work was done since the last pause. */
  async pauseIfDue(units: number): Promise<void> {
    if (this.#units > 0 && this.#units + units < maxSliceUnits) {
      this.#units += units;
      return;
    }
    if (this.#units > 0) pause(this.#units);
    await claimThread();
    // The work may wait for others, or end, without telling.
    pause(0);
    this.#units = units;
  }
}

/** Waits until nobody works or pauses. Then the thread is the caller's until it releases it. */
async function claimThread(): Promise<void> {
  // Polls: an object cannot wait for what happens in another one's request.
  for (let waitedMs = 0; isClaimed && Date.now() - claimedAt < maxClaimMs; waitedMs += pollIntervalMs) {
    if (waitedMs >= maxWaitMs)
      throw fail("unavailable", "The host is busy with other large requests. Try again later.");
    await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
  }
  isClaimed = true;
  claimedAt = Date.now();
}

function releaseThread(units: number): void {
  if (units > maxUnitsWithoutPause) pause(units);
  else isClaimed = false;
}

/** Releases the thread after a pause, during which nobody else starts. */
function pause(units: number): void {
  const id = ++lastPause;
  isClaimed = true;
  claimedAt = Date.now();
  const ms = Math.max(minPauseMs, Math.min(units / unitsPerPauseMs, maxClaimMs / 2));
  // Set after the work: a timer from before would be due at once.
  setTimeout(() => (isClaimed &&= id !== lastPause), ms);
}
