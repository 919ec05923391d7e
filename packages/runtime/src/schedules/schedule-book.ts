import {
  fail,
  isThinkeryError,
  type NewSchedule,
  type PageQuery,
  type Schedule,
  type ScheduleChange,
  type ScheduleList,
  type SchedulePreview,
  type ScheduleRun,
  type ScheduleRunList,
  type ScheduleTimes,
} from "@thinkery/sdk";
import { Pacer } from "../host/fair-work.ts";
import { maxPageChars, readCursor } from "../store/page.ts";
import { planDue } from "./plan-due.ts";
import { checkRecurrence, parseWhen, type Recurrence } from "./recurrence.ts";
import { RunAdmission, type RunAdmissionOptions } from "./run-admission.ts";
import { type ScheduleRow, ScheduleTable } from "./schedule-table.ts";
import { listNextTimes, toSchedule, toScheduleRun } from "./to-schedule.ts";

export interface ScheduleBookOptions extends Omit<RunAdmissionOptions, "table"> {
  storage: DurableObjectStorage;
  /** Makes sure that `runDue` is called at this time, or when the next one is due. */
  wakeAt(time?: number): Promise<void>;
  /** Removes the secrets of the environment from what is stored and listed. */
  redact<T>(value: T): T;
  /** Returns whom lists are computed for. */
  getOwner(): string;
}

/** Who creates a schedule. */
export interface ScheduleCreator {
  user: string;
  /** The agent that gets the input, of an agency's schedule. */
  agent?: string;
}

export const maxSchedules = 1000;
const maxListedDue = 50;
/** Describing a schedule, and each further character of it. */
const unitsPerSchedule = 300;
const charsPerUnit = 25;

/**
 * The schedules of an agent or of an agency. What is due is first recorded as pending runs, together with the next time
 * of the schedule; then their messages are admitted, under keys that make each the same message if a crash repeats it.
 */
export class ScheduleBook {
  readonly #options: ScheduleBookOptions;
  readonly #table: ScheduleTable;
  readonly #admission: RunAdmission;
  #isHalted = false;

  constructor(options: ScheduleBookOptions) {
    this.#options = options;
    this.#table = new ScheduleTable(options.storage);
    this.#admission = new RunAdmission({ ...options, table: this.#table });
  }

  async list({ limit, after }: PageQuery): Promise<ScheduleList> {
    await this.#admission.storeOutcomes();
    const pacer = new Pacer(this.#options.getOwner());
    const schedules: Schedule[] = [];
    let chars = 0;
    for (let last = readCursor(after, 0); ;) {
      const row = this.#table.findAfter(last);
      if (!row) return { schedules };
      const rowChars = countChars(row);
      chars += rowChars;
      if (schedules.length === limit || (schedules.length > 0 && chars > maxPageChars))
        return { schedules, next: String(last) };
      await pacer.pauseIfDue(unitsPerSchedule + Math.ceil(rowChars / charsPerUnit));
      schedules.push(this.#describe(row));
      last = row.number;
    }
  }

  async get(id: string): Promise<Schedule> {
    await this.#admission.storeOutcomes();
    return this.#describe(this.#require(id));
  }

  async create({ idempotencyKey, ...given }: NewSchedule, { user, agent }: ScheduleCreator): Promise<Schedule> {
    const now = Date.now();
    const definition = { ...given, input: this.#options.redact(given.input) };
    const recurrence = parseWhen(definition.when, definition.timeZone, now);
    checkRecurrence(recurrence, definition.when, now);
    const nextAt = recurrence.next(now - 1);
    // Before it is stored, or a crash in between would leave it without anything to wake it.
    await this.#options.wakeAt(nextAt);
    const known = idempotencyKey === undefined ? undefined : this.#table.findByKey(idempotencyKey);
    if (known) return this.#describe(known);
    const id = `schedule-${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
    this.#table.transaction(() => {
      if (this.#table.count() >= maxSchedules && !this.#table.deleteOldestFinished()) {
        throw fail("conflict", `There are already ${maxSchedules} schedules. Delete some, or use fewer that repeat.`);
      }
      const row = { id, definition, createdBy: user, createdAt: now, paused: false };
      this.#table.insert(
        { ...row, ...(agent === undefined ? {} : { agent }), ...(nextAt === undefined ? {} : { nextAt }) },
        idempotencyKey,
      );
    });
    return this.#describe(this.#require(id));
  }

  /** Returns when a schedule would run. Throws as if it was created. */
  preview({ when, timeZone }: SchedulePreview): ScheduleTimes {
    const now = Date.now();
    const recurrence = parseWhen(when, timeZone, now);
    checkRecurrence(recurrence, when, now);
    return { next: listNextTimes(recurrence, recurrence.next(now - 1)) };
  }

  async update(id: string, { paused }: ScheduleChange): Promise<Schedule> {
    const row = this.#require(id);
    if (row.paused === paused) return this.#describe(row);
    const now = Date.now();
    if (paused) {
      // What was due before is not affected.
      if (row.nextAt !== undefined && row.nextAt <= now) this.#recordDue(row, now);
      this.#table.setPaused(row.number, true, undefined);
      return this.#describe(this.#require(id));
    }
    const nextAt = this.#parse(row).next(now);
    await this.#options.wakeAt(nextAt);
    // It may have been deleted in the meantime.
    this.#table.setPaused(this.#require(id).number, false, nextAt);
    return this.#describe(this.#require(id));
  }

  delete(id: string): void {
    this.#table.delete(this.#require(id).number);
  }

  /** Deletes the schedules that give their input to an agent. */
  deleteOfAgent(agent: string): void {
    this.#table.deleteOfAgent(agent);
  }

  hasAny(): boolean {
    return this.#table.hasAny();
  }

  /** Runs a schedule now, in addition to its times, even if it is paused. The same key twice is the same run. */
  async run(id: string, key: string = crypto.randomUUID()): Promise<ScheduleRun> {
    const now = Date.now();
    this.#require(id);
    await this.#options.wakeAt(now);
    // It may have been deleted in the meantime.
    const number = this.#table.addManual(this.#require(id), now, key);
    await this.#admission.admitAll();
    const run = this.#table.getRun(number);
    if (!run) throw fail("not_found", "The schedule was deleted in the meantime.");
    return toScheduleRun(run);
  }

  /** Returns the runs of a schedule and the times it missed, newest first. */
  async listRuns(id: string, { limit, after }: PageQuery): Promise<ScheduleRunList> {
    await this.#admission.storeOutcomes();
    const runs = this.#table.listRuns(this.#require(id).number, readCursor(after, Number.MAX_SAFE_INTEGER), limit + 1);
    const page = runs.slice(0, limit);
    const last = page.at(-1);
    return { runs: page.map(toScheduleRun), ...(runs.length > limit && last ? { next: String(last.number) } : {}) };
  }

  /** Reads all schedules for an export, one at a time. */
  *readAll(): Generator<[Schedule]> {
    for (let row = this.#table.findAfter(0); row; row = this.#table.findAfter(row.number)) yield [this.#describe(row)];
  }

  /** Stores how the turns of past runs ended: the turns may be deleted. */
  storeOutcomes(): Promise<void> {
    return this.#admission.storeOutcomes();
  }

  nextDueAt(): number | undefined {
    const times = [this.#table.getNextAt(), this.#admission.getNextAt()].filter((time) => time !== undefined);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  async runDue(now: number): Promise<void> {
    const pacer = new Pacer();
    for (;;) {
      const rows = this.#isHalted ? [] : this.#table.listDue(now, maxListedDue);
      for (const row of rows) {
        await pacer.pauseIfDue(countUnits(row, now));
        // It may have been changed in the meantime.
        if (!this.#isHalted && this.#table.find(row.id)?.nextAt === row.nextAt) this.#recordDue(row, now);
      }
      if (rows.length < maxListedDue) break;
    }
    await this.#admission.admitAll();
  }

  halt(): void {
    this.#isHalted = true;
    this.#admission.halt();
  }

  /** Records all due times as runs or missed times, and sets the next time, in one transaction. */
  #recordDue(row: ScheduleRow, now: number): void {
    const { number, nextAt = now, definition } = row;
    let plan: ReturnType<typeof planDue>;
    try {
      plan = planDue(this.#parse(row), definition, nextAt, now);
    } catch (error) {
      // It was valid once: the time zone may be gone.
      const reason = isThinkeryError(error) ? error.message : "Its next time could not be computed.";
      console.error("a schedule could not be continued", error);
      this.#table.fail(row, nextAt, now, reason);
      return;
    }
    this.#table.transaction(() => {
      for (const missed of plan.missed) this.#table.addMissed(number, missed, now);
      for (const run of plan.runs) this.#table.addPending(row, run, now);
      this.#table.setNextAt(number, plan.nextAt);
      this.#table.prune(number);
    });
  }

  #parse({ definition, createdAt }: ScheduleRow): Recurrence {
    return parseWhen(definition.when, definition.timeZone, createdAt);
  }

  #describe(row: ScheduleRow): Schedule {
    return toSchedule(row, row.nextAt === undefined ? undefined : this.#parse(row), this.#table.listRecentRuns(row));
  }

  #require(id: string): ScheduleRow {
    const row = this.#table.find(id);
    if (!row) throw fail("not_found", `Schedule “${id}” not found.`);
    return row;
  }
}

/** Units of work to record what is due: the times of a long downtime are counted one by one. */
function countUnits({ nextAt = 0 }: ScheduleRow, now: number): number {
  const hours = Math.floor((now - nextAt) / 3_600_000);
  return 300 + Math.min(hours, 500) * 60;
}

/** Characters of a description, nearly: errors of its latest runs are short. */
const countChars = ({ definition }: ScheduleRow) => 1000 + definition.input.length;
