import type { AgentActivity } from "../../agency/team/agent-activity.ts";
import type { RunRecord } from "../../agency/team/run-record.ts";
import type { AgencyContext } from "../agency-feature.ts";
import type { AgencyTeam } from "../agency-team.ts";

interface RunAgentsOptions extends Pick<AgencyContext, "agents" | "getThink"> {
  record: RunRecord;
  team: AgencyTeam;
}

/** The agents of a run, as far as they still exist. One that cannot be reached does not affect the others. */
export class RunAgents {
  readonly #options: RunAgentsOptions;

  constructor(options: RunAgentsOptions) {
    this.#options = options;
  }

  stop(by: string): Promise<void> {
    return this.#forEach((agent) => this.#options.getThink(agent).conversation.stop(by));
  }

  start(by: string): Promise<void> {
    return this.#forEach((agent) => this.#options.getThink(agent).conversation.start(by));
  }

  cancel(): Promise<void> {
    return this.#forEach((agent) => this.#options.getThink(agent).conversation.cancel());
  }

  /** Returns what all of them do. `isFresh`: does not trust what they last said, but asks them. */
  listActivities(isFresh: boolean): Promise<AgentActivity[]> {
    return Promise.all(this.#list().map((name) => this.#options.team.getActivity(name, isFresh)));
  }

  async #forEach(work: (agent: string) => Promise<unknown>): Promise<void> {
    const results = await Promise.allSettled(this.#list().map(work));
    for (const result of results)
      if (result.status === "rejected") console.error("an agent of a workflow could not be reached", result.reason);
  }

  #list(): string[] {
    const { record, agents } = this.#options;
    return record.get().agents.filter((name) => agents.findName(name) !== undefined);
  }
}
