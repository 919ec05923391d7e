import { fail } from "@thinkery/sdk";

/**
 * What a stop of the host waits for: requests until their answers begin, and effects that a kill would leave
 * half done. Nothing that is merely long (a stream, a turn) belongs here: those go on after the next start.
 *
 * Best effort, for this isolate only: a drain neither waits for work in another isolate nor refuses it there. That is
 * safe, because a call that a stop cuts off is recovered from the ledger like one that a crash cut off.
 */
let holdCount = 0;
let isStopping = false;

/** Keeps main alive until the answered function is called; calling it again does nothing. */
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

/** Holds while the work goes on, or until it says that it need not be waited for. Nothing new begins during a drain. */
export async function holdDuring<T>(work: (release: () => void) => Promise<T>): Promise<T> {
  if (isStopping) throw fail("unavailable", "The host is stopping.");
  const release = hold();
  try {
    return await work(release);
  } finally {
    release();
  }
}

/** From now on nothing new is let in; done when nothing is held. */
export async function drain(): Promise<void> {
  isStopping = true;
  while (holdCount > 0) await new Promise((resolve) => setTimeout(resolve, 10));
}
