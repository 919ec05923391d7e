import type { Schedule } from "@thinkery/sdk";
import type { RunRecord } from "../../agency/team/run-record.ts";
import type { AgencyContext } from "../agency-feature.ts";

interface RunSchedulesOptions extends Pick<AgencyContext, "agents" | "getThink"> {
  record: RunRecord;
}

/** The schedules of a run that goes on until it is stopped: they give its agents the kickoff again. */
export class RunSchedules {
  readonly #options: RunSchedulesOptions;

  constructor(options: RunSchedulesOptions) {
    this.#options = options;
  }

  /** Creates what is missing, and deletes what an earlier run of the same tag has left. */
  async create(): Promise<void> {
    const { record, getThink } = this.#options;
    const { startedBy, startedAt } = record.get();
    const input = record.kickoff ?? "It is time for your scheduled work.";
    for (const [agent, { schedule: when }] of this.#listAgents()) {
      const { schedules } = getThink(agent);
      const known = await this.#list(agent);
      const kept = known.find((one) => one.when === when && one.input === input && !one.paused);
      for (const { id } of known) if (id !== kept?.id) await schedules.delete(id);
      if (when === undefined || kept) continue;
      const settings = { name: this.#name, missed: "once" as const, overlap: "skip" as const };
      await schedules.create(
        { when, input, ...settings, idempotencyKey: `workflow:${startedAt}` },
        { user: startedBy },
      );
    }
  }

  async remove(): Promise<void> {
    for (const [agent] of this.#listAgents())
      for (const { id } of await this.#list(agent)) await this.#options.getThink(agent).schedules.delete(id);
  }

  async #list(agent: string): Promise<Schedule[]> {
    const { schedules } = await this.#options.getThink(agent).schedules.list({ limit: 500 });
    return schedules.filter(({ name }) => name === this.#name);
  }

  #listAgents() {
    const { record, agents } = this.#options;
    return Object.entries(record.definition?.agents ?? {}).filter(([name]) => agents.findName(name) !== undefined);
  }

  get #name(): string {
    return `Workflow ${this.#options.record.get().workflow}`;
  }
}
