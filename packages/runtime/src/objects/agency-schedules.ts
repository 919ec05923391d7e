import type { Redactor } from "@thinkery/sdk/internal";
import { ScheduleBook } from "../schedules/schedule-book.ts";
import { DueTimer } from "./due-timer.ts";
import type { Env } from "./env.ts";
import { SchedulesApi } from "./schedules-api.ts";

type Conversation = ReturnType<Env["Think"]["getByName"]>["conversation"];

interface AgencySchedulesOptions {
  storage: DurableObjectStorage;
  redactor: Redactor;
  /** Schedules a check of what is due. */
  scheduleDue(at: number): Promise<void>;
  /** Throws if the agency does not exist. */
  open(): Promise<unknown>;
  /** Throws if the agency has no such agent. */
  getAgentName(name: string): string;
  getConversation(agent: string): Conversation;
  getOwner(): string;
}

const retryMs = 60_000;

/** The schedules of an agency, and the timer that wakes it. */
export class AgencySchedules {
  readonly api: SchedulesApi;
  readonly book: ScheduleBook;
  readonly #options: AgencySchedulesOptions;
  readonly #timer: DueTimer;

  constructor(options: AgencySchedulesOptions) {
    this.#options = options;
    this.#timer = new DueTimer({ features: () => [this.book], schedule: (at) => options.scheduleDue(at) });
    this.book = new ScheduleBook({
      storage: options.storage,
      wakeAt: (time) => this.#timer.update(time),
      redact: (value) => options.redactor.redactValue(value),
      getOwner: () => options.getOwner(),
      admit: async (message, agent) => this.#getConversation(agent).admitScheduled(message),
      getOutcomes: async (runIds, agent) => this.#getConversation(agent).getTurnOutcomes(runIds),
    });
    this.api = new SchedulesApi(async () => {
      await options.open();
      return this.book;
    }, options.getAgentName);
  }

  wake(): void {
    this.#timer
      .update()
      .catch((error: unknown) => console.error("the next check of schedules could not be scheduled", error));
  }

  /** Runs what is due. Never throws: an alarm that fails repeatedly is abandoned. */
  async check(at: number, prepare: () => Promise<void>): Promise<void> {
    try {
      await prepare();
      await this.#timer.check(at);
    } catch (error) {
      console.error("the schedules of an agency could not be checked", error);
      await this.#options.scheduleDue(Math.max(at, Date.now()) + retryMs).catch(() => undefined);
    }
  }

  halt(): void {
    this.#timer.halt();
    this.book.halt();
  }

  #getConversation(agent = ""): Conversation {
    return this.#options.getConversation(this.#options.getAgentName(agent));
  }
}
