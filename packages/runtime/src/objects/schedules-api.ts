import type {
  NewSchedule,
  PageQuery,
  Schedule,
  ScheduleChange,
  ScheduleList,
  SchedulePreview,
  ScheduleRun,
  ScheduleRunList,
  ScheduleTimes,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { ScheduleBook, ScheduleCreator } from "../schedules/schedule-book.ts";

/** The schedules of an agent or of an agency, for users' requests. */
export class SchedulesApi extends RpcTarget {
  readonly #open: () => Promise<ScheduleBook>;
  /** Throws if there is no such agent. */
  readonly #getAgentName: (name: string) => string;

  constructor(open: () => Promise<ScheduleBook>, getAgentName = (name: string) => name) {
    super();
    this.#open = open;
    this.#getAgentName = getAgentName;
  }

  async list(page: PageQuery): Promise<ScheduleList> {
    return (await this.#open()).list(page);
  }

  async get(id: string): Promise<Schedule> {
    return (await this.#open()).get(id);
  }

  async create(schedule: NewSchedule, { user, agent }: ScheduleCreator): Promise<Schedule> {
    const book = await this.#open();
    return book.create(schedule, { user, ...(agent === undefined ? {} : { agent: this.#getAgentName(agent) }) });
  }

  async preview(preview: SchedulePreview): Promise<ScheduleTimes> {
    return (await this.#open()).preview(preview);
  }

  async update(id: string, change: ScheduleChange): Promise<Schedule> {
    return (await this.#open()).update(id, change);
  }

  async delete(id: string): Promise<void> {
    (await this.#open()).delete(id);
  }

  async run(id: string): Promise<ScheduleRun> {
    return (await this.#open()).run(id);
  }

  async listRuns(id: string, page: PageQuery): Promise<ScheduleRunList> {
    return (await this.#open()).listRuns(id, page);
  }
}
