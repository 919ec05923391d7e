import { fail } from "@thinkery/sdk";
import { SharedThread } from "./shared-thread.ts";

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
/** After so many starts in vain, those who change what the work depends on are asked to wait. */
const maxRestartsWithoutHold = 3;
const maxRestarts = 12;

export interface WorkOptions {
  /** Whom the work is for. Owners take turns, however much each of them asks for. */
  owner?: string | undefined;
  /** Tells whether something the work depends on has changed during a pause; then it starts again. */
  getRevision?(): unknown;
  /** Keeps others from changing what the work depends on, as far as they can wait. Returns how to let them go on. */
  hold?(): () => void;
}

const thread = new SharedThread();

/** Does one piece of work that takes this long, even if it throws. */
export function* doPiece<T>(units: number, work: () => T): Work<T> {
  try {
    return work();
  } finally {
    yield units;
  }
}

/** Does all work at once. */
export function completeWork<T>(work: Work<T>): T {
  return runSlice(work, new WorkBudget(), Number.POSITIVE_INFINITY) as T;
}

/**
 * Does work in slices and serves others in between. The last piece of work is never interrupted, so it can safely write
 * what the others have computed.
 */
export async function runFairly<T>(start: () => Work<T>, options: WorkOptions = {}): Promise<T> {
  const { owner, getRevision = () => undefined, hold } = options;
  const budget = new WorkBudget();
  let release: (() => void) | undefined;
  try {
    for (let restarts = 0; restarts <= maxRestarts; restarts++) {
      if (restarts >= maxRestartsWithoutHold) release ??= hold?.();
      const outcome = await runUntilChanged(start(), budget, owner, getRevision);
      if (outcome !== outdated) return outcome as T;
    }
  } finally {
    release?.();
  }
  throw fail("conflict", "It kept changing while this was computed. Try again when fewer changes are made.");
}

async function runUntilChanged<T>(
  work: Work<T>,
  budget: WorkBudget,
  owner: string | undefined,
  getRevision: () => unknown,
): Promise<T | typeof outdated> {
  await thread.claim(owner);
  for (const revision = getRevision(); ;) {
    const usedBefore = budget.used;
    try {
      const result = runSlice(work, budget, maxSliceUnits);
      if (result !== unfinished) return result as T;
    } finally {
      releaseThread(budget.used - usedBefore);
    }
    await thread.claim(owner);
    if (getRevision() === revision) continue;
    // Runs the work's `finally` blocks.
    work.return(undefined as T);
    thread.release();
    return outdated;
  }
}

const outdated = Symbol("outdated");
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
  readonly #owner: string | undefined;
  #units = 0;

  constructor(owner?: string) {
    this.#owner = owner;
  }

  /** Pauses once enough work was done since the last pause. */
  async pauseIfDue(units: number): Promise<void> {
    if (this.#units > 0 && this.#units + units < maxSliceUnits) {
      this.#units += units;
      return;
    }
    if (this.#units > 0) thread.pause(getPauseMs(this.#units));
    await thread.claim(this.#owner);
    // The work may wait for others, or end, without telling.
    thread.pause(minPauseMs);
    this.#units = units;
  }
}

function releaseThread(units: number): void {
  if (units > maxUnitsWithoutPause) thread.pause(getPauseMs(units));
  else thread.release();
}

const getPauseMs = (units: number) => Math.max(minPauseMs, units / unitsPerPauseMs);
