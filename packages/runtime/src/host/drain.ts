import { fail } from "@thinkery/sdk";

/**
 * What a shutdown of the host waits for: requests until their responses begin, and effects that a kill would leave half
 * done. Work that is merely long, such as a stream or a turn, is not held: it continues after the next start.
 *
 * Best effort, for this isolate only: a drain neither waits for work in another isolate nor rejects it there. That is
 * safe, because a call interrupted by a shutdown is recovered from the ledger like one interrupted by a crash.
 */
let holdCount = 0;
let isStopping = false;

/** Delays a shutdown until the returned function is called; calling it again does nothing. */
export function hold(): () => void {
  holdCount++;
  let isHeld = true;
  return () => {
    if (isHeld) holdCount--;
    isHeld = false;
  };
}

export function isDraining(): boolean {
  return isStopping;
}

/** Delays a shutdown while the work runs, or until it calls `release`. Throws during a drain. */
export async function holdDuring<T>(work: (release: () => void) => Promise<T>): Promise<T> {
  if (isStopping) throw fail("unavailable", "The host is stopping.");
  const release = hold();
  try {
    return await work(release);
  } finally {
    release();
  }
}

/** Rejects new work from now on; resolves when nothing is held. */
export async function drain(): Promise<void> {
  isStopping = true;
  while (holdCount > 0) await new Promise((resolve) => setTimeout(resolve, 10));
}
