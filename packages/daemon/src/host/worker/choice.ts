import { fail } from "@thinkery/sdk";
import { createStartDiagnosis } from "./start-diagnosis.ts";
import type { InstalledWorker } from "./worker.ts";

/** Selects the Worker that main runs. A new one replaces the previous one for good once main has responded with it. */
export interface WorkerChoice {
  /** Undefined for the stock Worker. */
  getCurrent(): InstalledWorker | undefined;
  /** Workers that main may still be started with. */
  listUsable(): InstalledWorker[];
  use(next: InstalledWorker): void;
  /** Called when main is started with the current Worker. */
  begin(): void;
  /** Called with each line of main's output. */
  addLine(line: string): void;
  /** Called when main responded, with the unexpected response if it was one. Returns false if main should be killed. */
  recordResponse(unexpected?: string): boolean;
  /** Called when main ended before it responded. */
  diagnose(): Error | "renewed" | undefined;
}

export function createWorkerChoice(first: InstalledWorker | undefined, onEvent: (text: string) => void): WorkerChoice {
  let current = first;
  let previous: InstalledWorker | undefined;
  let running = first;
  let hasResponded = false;
  let diagnosis = createStartDiagnosis();

  return {
    getCurrent: () => current,
    listUsable: () => [current, previous].filter((worker) => worker !== undefined),
    use(next) {
      // Keep the last one that ran; one that never ran is no fallback.
      previous ??= current;
      current = next;
    },
    begin() {
      running = current;
      hasResponded = false;
      diagnosis = createStartDiagnosis();
    },
    addLine: (line) => diagnosis.addLine(line),
    recordResponse(unexpected) {
      if (unexpected === undefined) hasResponded = true;
      else if (running && !hasResponded) diagnosis.setUnexpectedResponse(unexpected);
      if (hasResponded && running === current) previous = undefined;
      return hasResponded || !running;
    },
    diagnose() {
      const reason = running && diagnosis.formatReason(running.entry);
      if (!previous) return reason === undefined ? undefined : fail("unavailable", reason);
      onEvent(`${reason ?? `The Worker ${running?.entry} does not respond.`} Main continues with the previous one.`);
      current = previous;
      previous = undefined;
      return "renewed";
    },
  };
}
