import { defaultChannel, type NewAgent, type Workflow } from "@thinkery/sdk";
import type { RunRecord } from "../../agency/team/run-record.ts";
import { toNewAgent } from "../../agency/team/to-new-agent.ts";
import { Pacer } from "../../host/fair-work.ts";
import type { AgencyContext } from "../agency-feature.ts";
import type { AgencyTeam } from "../agency-team.ts";
import type { DocumentsApi } from "../documents-api.ts";
import type { RunSchedules } from "./run-schedules.ts";

/** How much work it is to create an agent, in microseconds. */
const unitsPerAgent = 20_000;

interface StarterOptions extends Pick<AgencyContext, "key" | "agents" | "getThink"> {
  record: RunRecord;
  team: AgencyTeam;
  documents: DocumentsApi;
  schedules: RunSchedules;
  createAgent(agent: NewAgent): Promise<unknown>;
  /** Finishes what a crash left of agents that were being created or deleted. */
  settleAgents(): Promise<unknown>;
}

/** Does what the start of a run takes. Every part of it can be repeated. */
export class RunStarter {
  readonly #options: StarterOptions;
  #creating: Promise<void> = Promise.resolve();

  constructor(options: StarterOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { record } = this.#options;
    const { resident } = record.get();
    await this.createAgents();
    await this.#prepareContext();
    if (resident) await this.#options.schedules.create();
    if (record.kickoff !== undefined) await this.#postKickoff(record.kickoff);
  }

  /** Creates the agents that do not exist yet. The same one twice at once would fail. */
  createAgents(): Promise<void> {
    this.#creating = this.#creating.catch(() => {}).then(() => this.#createAgents());
    return this.#creating;
  }

  async #createAgents(): Promise<void> {
    const { key, agents, createAgent, settleAgents } = this.#options;
    const isMissing = ([name]: [string, unknown]) => agents.findName(name) === undefined;
    if (this.#listAgents().some((entry) => isMissing(entry) && !agents.isFree(entry[0]))) await settleAgents();
    const pacer = new Pacer(key);
    for (const [name, agent] of this.#listAgents().filter(isMissing)) {
      await pacer.pauseIfDue(unitsPerAgent);
      await createAgent(toNewAgent(name, agent));
    }
  }

  async #prepareContext(): Promise<void> {
    const { team, documents, record } = this.#options;
    const { context } = record.definition ?? {};
    const by = { kind: "user" as const, name: record.get().startedBy };
    for (const name of context?.channels ?? []) team.channels.ensure(name, by);
    const entries = Object.entries(context?.documents ?? {});
    if (entries.length > 0) await documents.seed(Object.fromEntries(entries), by.name);
  }

  /** A kickoff that mentions nobody is for all. */
  async #postKickoff(content: string): Promise<void> {
    const { team, record } = this.#options;
    const { startedBy, startedAt, agents } = record.get();
    const to = team.mentionsAnyone(content) ? {} : { to: agents };
    const by = { kind: "user" as const, name: startedBy };
    await team.post(defaultChannel, { content, ...to, idempotencyKey: `kickoff:${startedAt}` }, by);
  }

  #listAgents(): [string, Workflow["agents"][string]][] {
    return Object.entries(this.#options.record.definition?.agents ?? {});
  }
}
