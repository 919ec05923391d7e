import { fail, type NewSchedule, type Schedule, type ScheduleList, type ScheduleRun } from "@thinkery/sdk";
import type { Redactor } from "@thinkery/sdk/internal";
import { ScheduleBook } from "../schedules/schedule-book.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { TurnQueue } from "../turn/admission/turn-queue.ts";
import type { SchedulePort } from "../turn/schedule-port.ts";
import { admitScheduled, getTurnOutcomes } from "./admit-scheduled.ts";
import type { ExportLists } from "./agent-export.ts";
import type { AgentFeature } from "./feature.ts";
import type { Registration } from "./registration.ts";
import type { TurnLease } from "./turn-lease.ts";

interface SchedulesOptions {
  storage: DurableObjectStorage;
  isRoot: boolean;
  store: AgentStore;
  blobs: Blobs;
  registration: Registration;
  queue: TurnQueue;
  turnLease: TurnLease;
  wakeAt(time?: number): Promise<void>;
  redactor: Redactor;
}

/** Schedules that a tool lists at a time. */
const maxListed = 50;

/** The schedules of an agent. A sub-agent works on one assignment, so it has none. */
export class SchedulesFeature implements AgentFeature, SchedulePort {
  readonly #options: SchedulesOptions;
  readonly #book: ScheduleBook | undefined;

  constructor(options: SchedulesOptions) {
    this.#options = options;
    if (!options.isRoot) return;
    this.#book = new ScheduleBook({
      storage: options.storage,
      wakeAt: (time) => options.wakeAt(time),
      redact: (value) => options.redactor.redactValue(value),
      getOwner: () => options.registration.get().agent.owner,
      admit: (message) => admitScheduled(options, message),
      getOutcomes: async (runIds) => getTurnOutcomes(options.store, runIds),
    });
  }

  get book(): ScheduleBook {
    if (!this.#book) throw fail("conflict", "A sub-agent has no schedules. Ask its root agent to create one.");
    return this.#book;
  }

  get hasAny(): boolean {
    return this.#book?.hasAny() ?? false;
  }

  // Calls of the agent itself:

  create(schedule: Pick<NewSchedule, "when" | "input" | "timeZone" | "idempotencyKey">): Promise<Schedule> {
    const user = this.#options.registration.get().agent.owner;
    return this.book.create({ ...schedule, missed: "once", overlap: "queue" }, { user });
  }

  list(after: string | undefined): Promise<ScheduleList> {
    return this.book.list({ limit: maxListed, ...(after === undefined ? {} : { after }) });
  }

  setPaused(id: string, paused: boolean): Promise<Schedule> {
    return this.book.update(id, { paused });
  }

  run(id: string, key: string): Promise<ScheduleRun> {
    return this.book.run(id, key);
  }

  delete(id: string): void {
    this.book.delete(id);
  }

  /** The conversation is about to be cleared. */
  async storeOutcomes(): Promise<void> {
    await this.#book?.storeOutcomes();
  }

  exportLists(): ExportLists {
    return this.#book?.hasAny() ? { schedules: this.#book.readAll() } : {};
  }

  nextDueAt(): number | undefined {
    return this.#book?.nextDueAt();
  }

  async runDue(now: number): Promise<void> {
    await this.#book?.runDue(now);
  }

  halt(): void {
    this.#book?.halt();
  }
}
