import type { DueTimer } from "./due-timer.ts";

interface DueCheckOptions {
  /** Returns the timer once the object is ready. */
  open(): Promise<DueTimer>;
  schedule(at: number): Promise<unknown>;
}

const retryMs = 60_000;

/** Does what is due in an object. It must not throw: an alarm that fails repeatedly is abandoned. */
export async function checkDue(at: number, { open, schedule }: DueCheckOptions): Promise<void> {
  try {
    await (await open()).check(at);
  } catch (error) {
    console.error("what was due could not be checked", error);
    await schedule(Math.max(at, Date.now()) + retryMs).catch(() => undefined);
  }
}
