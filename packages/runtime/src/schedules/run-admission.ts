import { isThinkeryError, type ScheduleOutcome, type Sender } from "@thinkery/sdk";
import type { PendingRun, RunRow, ScheduleTable } from "./schedule-table.ts";

/** The message of a scheduled run. */
export interface ScheduledMessage {
  key: string;
  message: string;
  from: Sender;
  /** Only admit it if this turn is over. */
  unlessOpen?: string;
}

export interface RunAdmissionOptions {
  table: ScheduleTable;
  /** Admits a message. The same key twice is the same message. Returns nothing if `unlessOpen` is not over. */
  admit(message: ScheduledMessage, agent: string | undefined): Promise<{ runId?: string }>;
  /** Returns how turns ended, without those that have not. */
  getOutcomes(runIds: string[], agent: string | undefined): Promise<Record<string, ScheduleOutcome>>;
}

const retryMs = 5000;
const maxPendingRead = 5000;
const maxConcurrentAgents = 16;

/** Gives the messages of pending runs to their agents, oldest first, and records their outcomes. */
export class RunAdmission {
  readonly #options: RunAdmissionOptions;
  #queue: Promise<void> = Promise.resolve();
  #retryAt: number | undefined;
  #isHalted = false;

  constructor(options: RunAdmissionOptions) {
    this.#options = options;
  }

  /** Admits all pending runs. Those whose agent cannot be reached now remain pending. */
  admitAll(): Promise<void> {
    const work = this.#queue.then(() => this.#admitPending());
    this.#queue = work.catch(() => undefined);
    return work;
  }

  /** Returns when there is something to admit, if there is. */
  getNextAt(): number | undefined {
    return this.#options.table.hasPending() ? (this.#retryAt ?? 0) : undefined;
  }

  async storeOutcomes(): Promise<void> {
    const { table, getOutcomes } = this.#options;
    const groups = groupByAgent(table.listOpen());
    await forEachConcurrently([...groups], async ([agent, runs]) => {
      const outcomes = await getOutcomes(
        runs.map(({ runId = "" }) => runId),
        agent,
      ).catch((): Record<string, ScheduleOutcome> => ({}));
      for (const { number, runId = "" } of runs) {
        const outcome = outcomes[runId];
        if (outcome) table.setOutcome(number, outcome);
      }
    });
  }

  halt(): void {
    this.#isHalted = true;
  }

  async #admitPending(): Promise<void> {
    this.#retryAt = undefined;
    for (;;) {
      const pending = this.#isHalted ? [] : this.#options.table.listPending(maxPendingRead);
      await forEachConcurrently([...groupByAgent(pending)], async ([, runs]) => {
        for (const run of runs) if (!(await this.#admit(run))) return;
      });
      if (pending.length < maxPendingRead || this.#retryAt !== undefined) return;
    }
  }

  /** Returns false if the agent cannot be reached now. */
  async #admit(run: PendingRun): Promise<boolean> {
    const { table, admit } = this.#options;
    // The schedule may have been deleted.
    if (this.#isHalted || table.getRun(run.number)?.status !== "pending") return !this.#isHalted;
    const { agent, definition } = run.row;
    const { maxDelaySeconds = Infinity } = definition;
    if (!run.details.manual && Date.now() - Math.max(run.dueAt, run.at) > maxDelaySeconds * 1000) {
      table.settle(run, "missed", { error: "The agent could not accept it in time." });
      return true;
    }
    const previous = run.skipsIfOpen ? table.findPrevious(run)?.runId : undefined;
    try {
      const { runId } = await admit(
        { ...createMessage(run), ...(previous === undefined ? {} : { unlessOpen: previous }) },
        agent,
      );
      table.settle(run, runId === undefined ? "skipped" : "ran", runId === undefined ? {} : { runId });
      return true;
    } catch (error) {
      if (isFinal(error)) {
        table.settle(run, "failed", { error: error.message });
        return true;
      }
      if (!isThinkeryError(error)) console.error("a scheduled message could not be admitted", error);
      this.#retryAt = Date.now() + retryMs;
      return false;
    }
  }
}

function createMessage({ key, dueAt, row }: PendingRun): ScheduledMessage {
  const { id, createdBy, definition } = row;
  const context = {
    schedule: id,
    ...(definition.name === undefined ? {} : { scheduleName: definition.name }),
    dueAt: new Date(dueAt).toISOString(),
  };
  return { key, message: definition.input, from: { user: createdBy, context } };
}

/** Whether trying again would not help. */
function isFinal(error: unknown): error is Error {
  return isThinkeryError(error) && !["unavailable", "internal", "rate_limited"].includes(error.code);
}

function groupByAgent<Run extends RunRow & { agent?: string | undefined; row?: { agent?: string | undefined } }>(
  runs: readonly Run[],
): Map<string | undefined, Run[]> {
  return Map.groupBy(runs, (run) => run.row?.agent ?? run.agent);
}

async function forEachConcurrently<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const next = async (): Promise<void> => {
    for (let item = items.shift(); item !== undefined; item = items.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: maxConcurrentAgents }, next));
}
