import { fail } from "@thinkery/sdk";
import { createStartDiagnosis } from "./start-diagnosis.ts";
import type { InstalledWorker } from "./worker.ts";

/** Which Worker main runs. A new one takes the place of the one before for good when main has answered with it. */
export interface WorkerChoice {
  /** Nothing: the stock one. */
  getCurrent(): InstalledWorker | undefined;
  /** Those that main may still be started with. */
  listUsable(): InstalledWorker[];
  use(next: InstalledWorker): void;
  /** A life of main begins, with what is current now. */
  begin(): void;
  /** What main says. */
  addLine(line: string): void;
  /** Main answered, in words of its own where it should have been fine. False: it can be of no use, and had better be ended. */
  recordAnswer(wrong?: string): boolean;
  /** Main ended without an answer. */
  diagnose(): Error | "renewed" | undefined;
}

export function createWorkerChoice(first: InstalledWorker | undefined, onEvent: (text: string) => void): WorkerChoice {
  let current = first;
  let before: InstalledWorker | undefined;
  let running = first;
  let hasAnswered = false;
  let diagnosis = createStartDiagnosis();

  return {
    getCurrent: () => current,
    listUsable: () => [current, before].filter((worker) => worker !== undefined),
    use(next) {
      // One that never ran is none to go back to.
      before ??= current;
      current = next;
    },
    begin() {
      running = current;
      hasAnswered = false;
      diagnosis = createStartDiagnosis();
    },
    addLine: (line) => diagnosis.addLine(line),
    recordAnswer(wrong) {
      if (wrong === undefined) hasAnswered = true;
      else if (running && !hasAnswered) diagnosis.setWrongAnswer(wrong);
      if (hasAnswered && running === current) before = undefined;
      return hasAnswered || !running;
    },
    diagnose() {
      const reason = running && diagnosis.formatReason(running.entry);
      if (!before) return reason === undefined ? undefined : fail("unavailable", reason);
      onEvent(`${reason ?? `The Worker ${running?.entry} does not answer.`} Main goes on with the one before.`);
      current = before;
      before = undefined;
      return "renewed";
    },
  };
}
