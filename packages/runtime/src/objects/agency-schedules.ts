import { ScheduleBook } from "../schedules/schedule-book.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import { SchedulesApi } from "./schedules-api.ts";

/** The schedules of an agency, which give messages to its agents. */
export class AgencySchedules implements AgencyFeature {
  readonly api: SchedulesApi;
  readonly #book: ScheduleBook;

  constructor({ storage, redactor, record, agents, getThink, updateTimer, open }: AgencyContext) {
    const getAgentName = (agent: string) => agents.get(agent).name;
    const getConversation = (agent = "") => getThink(getAgentName(agent)).conversation;
    this.#book = new ScheduleBook({
      storage,
      wakeAt: (time) => updateTimer(time),
      redact: (value) => redactor.redactValue(value),
      getOwner: () => record.owner,
      admit: async (message, agent) => getConversation(agent).admitScheduled(message),
      getOutcomes: async (runIds, agent) => getConversation(agent).getTurnOutcomes(runIds),
    });
    this.api = new SchedulesApi(async () => {
      await open();
      return this.#book;
    }, getAgentName);
  }

  forgetAgent(name: string): void {
    this.#book.deleteOfAgent(name);
  }

  nextDueAt(): number | undefined {
    return this.#book.nextDueAt();
  }

  runDue(now: number): Promise<void> {
    return this.#book.runDue(now);
  }

  halt(): void {
    this.#book.halt();
  }
}
