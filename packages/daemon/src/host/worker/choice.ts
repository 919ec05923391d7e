import { fail } from "@thinkery/sdk";
import { failedStart } from "./failed-start.ts";
import type { LaidWorker } from "./worker.ts";

/** Which Worker main runs. A new one takes the place of the one before for good when main has answered with it. */
export interface WorkerChoice {
  /** Nothing: the stock one. */
  current(): LaidWorker | undefined;
  /** Those that main may still be started with. */
  kept(): LaidWorker[];
  use(next: LaidWorker): void;
  /** A life of main begins, with what is current now. */
  begin(): void;
  /** What main says. */
  hear(line: string): void;
  /** Main answered, in words of its own where it should have been fine. False: it can be of no use, and had better be ended. */
  answered(wrong?: string): boolean;
  /** Main ended without an answer. */
  verdict(): Error | "renewed" | undefined;
}

export function workerChoice(first: LaidWorker | undefined, onEvent: (text: string) => void): WorkerChoice {
  let current = first;
  let before: LaidWorker | undefined;
  let runs = first;
  let proven = false;
  let trouble = failedStart();

  return {
    current: () => current,
    kept: () => [current, before].filter((worker) => worker !== undefined),
    use(next) {
      // One that never ran is none to go back to.
      before ??= current;
      current = next;
    },
    begin() {
      runs = current;
      proven = false;
      trouble = failedStart();
    },
    hear: (line) => trouble.hear(line),
    answered(wrong) {
      if (wrong === undefined) proven = true;
      else if (runs && !proven) trouble.answered(wrong);
      if (proven && runs === current) before = undefined;
      return proven || !runs;
    },
    verdict() {
      const reason = runs && trouble.reason(runs.entry);
      if (!before) return reason === undefined ? undefined : fail("unavailable", reason);
      onEvent(`${reason ?? `The Worker ${runs?.entry} does not answer.`} Main goes on with the one before.`);
      current = before;
      before = undefined;
      return "renewed";
    },
  };
}
