import type { WorkflowRun } from "@thinkery/sdk";
import type { RunRecord } from "../../agency/team/run-record.ts";
import { RepeatableWork } from "../subagents/repeatable-work.ts";

interface RunReporterOptions {
  record: RunRecord;
  /** Tells the user's object what became of the run. */
  reportRun(run: WorkflowRun): Promise<void>;
  waitUntil(work: Promise<unknown>): void;
}

/** Tells the user's object how a run goes, for its list of runs. What fails is repeated. */
export class RunReporter {
  readonly #options: RunReporterOptions;
  readonly #work = new RepeatableWork(() => this.#report());

  constructor(options: RunReporterOptions) {
    this.#options = options;
  }

  report(): Promise<void> {
    return this.#work.run();
  }

  reportSoon(): void {
    const logError = (error: unknown) => console.error("a run was not reported; it is tried again", error);
    this.#options.waitUntil(this.report().catch(logError));
  }

  halt(): void {
    this.#work.halt();
  }

  async #report(): Promise<void> {
    const { record, reportRun } = this.#options;
    const run = record.find();
    if (!run) return;
    await reportRun(record.describe());
    // What has changed meanwhile is reported by another run of this.
    if (JSON.stringify(run) === JSON.stringify(record.find())) record.markReported();
  }
}
