import {
  type Agent as AgentInfo,
  type Blueprint,
  defaultBlueprint,
  formatAgentObjectName,
  isThinkeryError,
  type NewAgent,
  ownerUser,
  type PageQuery,
  parseAgencyKey,
  type SubagentSummary,
} from "@thinkery/sdk";
import type { AgencyRecord } from "../agency/agency-record.ts";
import type { AgentRegistration, AgentRegistry } from "../agency/agents.ts";
import type { Blueprints } from "../agency/blueprints.ts";
import type { AgencyPolicy } from "../agency/policy.ts";
import { SubagentLists } from "../agency/subagent-lists.ts";
import type { AgencyUsageTotals } from "../agency/usage-totals.ts";
import { openBlobIndex } from "../store/blobs/counted.ts";
import { checkNewAgent } from "../system/check-agent.ts";
import { defaultDriver } from "../system/drivers.ts";
import type { System } from "../system/system.ts";
import type { Env } from "./env.ts";
import { forgetSandboxes } from "./sandboxes.ts";

interface AgencyAgentsOptions {
  env: Env;
  sql: SqlStorage;
  /** The name of the agency's object. */
  key: string;
  system: System;
  record: AgencyRecord;
  registry: AgentRegistry;
  blueprints: Blueprints;
  policy: AgencyPolicy;
  usage: AgencyUsageTotals;
  /** Called when an agent was deleted, possibly twice. */
  forgetAgent(name: string): void;
  waitUntil(work: Promise<unknown>): void;
}

/** Creates, lists and deletes the agents of an agency. */
export class AgencyAgents {
  readonly subagents: SubagentLists;
  readonly #options: AgencyAgentsOptions;

  constructor(options: AgencyAgentsOptions) {
    this.#options = options;
    this.subagents = new SubagentLists(options.sql);
  }

  list(page: PageQuery): { agents: AgentInfo[]; next?: string } {
    const { agents, ...next } = this.#options.registry.list(page);
    return {
      agents: agents.map((agent) => {
        const subagents = this.subagents.list(agent.name);
        return { ...this.#fillDefaults(agent), ...(subagents.length > 0 ? { subagents } : {}) };
      }),
      ...next,
    };
  }

  get(name: string): AgentInfo {
    return this.#fillDefaults(this.#options.registry.get(name));
  }

  /** Whoever creates an agent, it belongs to the owner of the agency. */
  async create(options: NewAgent): Promise<AgentInfo> {
    const { env, system, record, registry, blueprints } = this.#options;
    const { id: agency, owner } = record.get();
    checkNewAgent(env, system, options);
    const driver = options.driver ?? options.backend;
    const blueprint = blueprints.get(options.blueprint ?? options.agentType ?? defaultBlueprint.name);
    const name = options.name ?? registry.createFreeName(blueprint.name);
    registry.checkFree(name);
    const agent: AgentInfo = {
      id: name,
      name,
      agency,
      blueprint: blueprint.name,
      ...(driver ? { driver } : {}),
      ...(options.model ? { model: options.model } : {}),
      ...(options.system ? { system: options.system } : {}),
      owner,
      createdAt: new Date().toISOString(),
    };
    await this.#withAgentReserved(() => this.#add(agent, options.props));
    return this.#fillDefaults(agent);
  }

  async delete(name: string): Promise<void> {
    const { registry, usage, waitUntil } = this.#options;
    await registry.remove(registry.get(name).name, this.#erase);
    // A lost report is made up for by the next one.
    const logError = (error: unknown) => console.error("usage report to the owner failed", error);
    waitUntil(usage.reportToOwner().catch(logError));
  }

  async deleteAll(): Promise<void> {
    const { registry } = this.#options;
    for (const name of registry.listNames()) await registry.remove(name, this.#erase);
  }

  /** Finishes every creation and deletion that a crash interrupted; returns whether there were any. */
  settle(): Promise<boolean> {
    return this.#options.registry.settle(this.#register, this.#erase);
  }

  /** Notes which sub-agents an agent has, or a sub-agent that has some itself. Returns whether the agent exists. */
  putSubagents(parent: string, summaries: SubagentSummary[]): boolean {
    const exists = this.#options.registry.find(parent.split("/", 1)[0] ?? "") !== undefined;
    if (exists) this.subagents.put(parent, summaries);
    return exists;
  }

  /** Returns an agent's object. */
  getThink(name: string) {
    const { env, key } = this.#options;
    return env.Think.getByName(formatAgentObjectName(key, name));
  }

  async #add(agent: AgentInfo, props: NewAgent["props"]): Promise<void> {
    const { registry } = this.#options;
    await registry.add({ agent, ...(props ? { props } : {}) }, this.#register).catch(async (error: unknown) => {
      // If the agent rejects its props, it is removed at once, so that the name is free.
      if (isThinkeryError(error)) await registry.remove(agent.name, this.#erase);
      throw error;
    });
  }

  /** The host's owner has no limit, so nobody is asked. */
  async #withAgentReserved(create: () => Promise<void>): Promise<void> {
    const { env, key, record, registry } = this.#options;
    if (record.owner === ownerUser) return create();
    const { limits } = env.User.getByName(record.owner);
    await limits.reserveAgent();
    try {
      await create();
    } finally {
      await limits.releaseAgent(parseAgencyKey(key).id, registry.count());
    }
  }

  readonly #register = async ({ agent, props }: AgentRegistration): Promise<void> => {
    await this.getThink(agent.name).register(agent, props, this.#findBlueprint(agent));
  };

  readonly #erase = async (name: string): Promise<void> => {
    const { env, key: agency, record, policy, usage, forgetAgent, waitUntil } = this.#options;
    const key = formatAgentObjectName(agency, name);
    const reports = await this.getThink(name).retire();
    for (const last of reports) usage.close(last);
    const agents = new Set([name, ...reports.map((report) => report.name)]);
    for (const agent of agents) await forgetSandboxes(env, formatAgentObjectName(agency, agent));
    await this.getThink(name).erase();
    this.subagents.remove(name);
    policy.forgetAgent(key);
    forgetAgent(name);
    // Last, because blobs must outlive what refers to them. Repeated after a crash, like everything above.
    await openBlobIndex(env)?.release(key);
    // Not awaited, because the user's object may be waiting for this.
    const user = env.User.getByName(record.owner);
    waitUntil(Promise.all([user.limits.forgetDisk(key), user.inbox.forget(key)]));
  };

  /** Adds the driver and model of the blueprint, unless the agent has its own. */
  #fillDefaults(agent: AgentInfo): AgentInfo {
    const blueprint = this.#findBlueprint(agent);
    const model = agent.model ?? blueprint?.model;
    const driver = agent.driver ?? blueprint?.driver ?? defaultDriver;
    return { ...agent, driver, ...(model ? { model } : {}) };
  }

  #findBlueprint({ blueprint }: AgentInfo): Blueprint | undefined {
    return this.#options.blueprints.find(blueprint);
  }
}
