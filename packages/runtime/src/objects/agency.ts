import {
  type Agency as AgencyInfo,
  type AgencyUsage,
  type Agent as AgentInfo,
  agentObjectName,
  type Blueprint,
  type Budget,
  type BudgetAnswer,
  defaultBlueprint,
  fail,
  isThinkeryError,
  type ListedBlueprint,
  type NewAgent,
  type PageQuery,
  type Standing,
} from "@thinkery/sdk";
import { AgencyAccounts } from "../agency/accounts.ts";
import { AgentRegistry, type Registration } from "../agency/agents.ts";
import { Blueprints } from "../agency/blueprints.ts";
import { Charter } from "../agency/charter.ts";
import { openLinux } from "../sandbox/linux.ts";
import { checkNewAgent } from "../system/check-agent.ts";
import { defaultDriver } from "../system/drivers.ts";
import { checkModel, systemModels } from "../system/models.ts";
import { checkBlueprint, type System, warningsOf } from "../system/system.ts";
import type { Statement, Verdict } from "../store/accounts.ts";
import { migrate } from "../store/migrate.ts";
import { agencyMigrations } from "../store/schema/agency.ts";
import type { Env } from "./env.ts";
import { BaseObject } from "./base-object.ts";

/** Grows with every change, so that whoever watches knows when to look again. */
export interface Revision {
  revision: number;
}

/** A boundary of tenancy and teamwork. It keeps blueprints, the registry of agents and their books; it never calls a model. */
export abstract class Agency extends BaseObject<Revision> {
  override initialState: Revision = { revision: 0 };
  readonly #charter: Charter;
  readonly #blueprints: Blueprints;
  readonly #agents: AgentRegistry;
  readonly #accounts: AgencyAccounts;

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env);
    migrate(ctx.storage, { agency: agencyMigrations });
    const id = ctx.id.name ?? "";
    this.#charter = new Charter(ctx.storage.sql, id);
    this.#blueprints = new Blueprints(ctx.storage.sql, id, this.getSystem().blueprints);
    this.#agents = new AgentRegistry(ctx.storage.sql, id);
    const user = () => env.User.getByName(this.#charter.owner);
    this.#accounts = new AgencyAccounts(ctx.storage, id, this.#charter, {
      state: (statement) => user().account(statement),
      standings: () => user().standings(),
    });
  }

  /** What agents here are made of. */
  protected abstract getSystem(): System;

  /** Metered: its owner has a budget. */
  async found(info: AgencyInfo, metered = false): Promise<AgencyInfo> {
    await this.ready();
    const founded = this.#charter.found(info);
    this.#charter.metered = metered;
    return founded;
  }

  /** Deletes every agent, and answers what all of them have spent. Safe to ask again. */
  async retire(): Promise<Statement | undefined> {
    await this.ready();
    const founded = this.#charter.condemn();
    for (const name of this.#agents.names()) await this.#agents.remove(name, this.#erase);
    return founded ? this.#accounts.whole() : undefined;
  }

  /** Forgets everything, once it is retired. Safe to ask again. */
  async dissolve(): Promise<void> {
    await this.retire();
    await this.destroy();
  }

  async listBlueprints(): Promise<ListedBlueprint[]> {
    await this.#open();
    return this.#blueprints.list().map((listed) => this.#warned(listed));
  }

  async getBlueprint(name: string): Promise<ListedBlueprint> {
    await this.#open();
    return this.#warned(this.#blueprints.get(name));
  }

  async putBlueprint(blueprint: Blueprint): Promise<ListedBlueprint> {
    await this.#open();
    checkBlueprint(this.getSystem(), blueprint);
    this.#checkModels({ model: blueprint.model });
    this.#checkModels(blueprint.models ?? {}, ["models"]);
    const stored = this.#blueprints.put(blueprint);
    this.#changed();
    return this.#warned(stored);
  }

  async deleteBlueprint(name: string): Promise<void> {
    await this.#open();
    this.#blueprints.delete(name);
    this.#changed();
  }

  async listAgents(page: PageQuery): Promise<{ agents: AgentInfo[]; next?: string }> {
    await this.#open();
    const { agents, ...next } = this.#agents.list(page);
    return { agents: agents.map((agent) => this.#shown(agent)), ...next };
  }

  async getAgent(name: string): Promise<AgentInfo> {
    await this.#open();
    return this.#shown(this.#agents.get(name));
  }

  async hasAgent(name: string): Promise<boolean> {
    await this.#open();
    // The name is part of an object's name, where case counts.
    return this.#agents.find(name)?.name === name;
  }

  async createAgent(owner: string, wanted: NewAgent): Promise<AgentInfo> {
    const { id: agency } = await this.#open();
    checkNewAgent(this.env, this.getSystem(), wanted);
    const driver = wanted.driver ?? wanted.backend;
    const blueprint = this.#blueprints.get(wanted.blueprint ?? wanted.agentType ?? defaultBlueprint.name);
    const name = wanted.name ?? this.#freeName(blueprint.name);
    if (!this.#agents.isFree(name)) throw fail("conflict", `There is already an agent “${name}” in ${agency}.`);
    const agent: AgentInfo = {
      id: name,
      name,
      agency,
      blueprint: blueprint.name,
      ...(driver ? { driver } : {}),
      ...(wanted.model ? { model: wanted.model } : {}),
      ...(wanted.system ? { system: wanted.system } : {}),
      owner,
      createdAt: new Date().toISOString(),
    };
    await this.#agents.add({ agent, ...(wanted.props ? { props: wanted.props } : {}) }, this.#tell).catch(async (error: unknown) => {
      // What the agent refuses is forgotten at once, so that its name is free.
      if (isThinkeryError(error)) await this.#agents.remove(name, this.#erase);
      throw error;
    });
    this.#changed();
    return this.#shown(agent);
  }

  async deleteAgent(name: string): Promise<void> {
    await this.#open();
    const agent = this.#agents.get(name);
    await this.#agents.remove(agent.name, this.#erase);
    this.#changed();
    this.#tellOwner();
  }

  /** What an agent needs to know of its agency for its next turn: its blueprint, and whether it has to ask before it spends. */
  async provide(blueprint: string): Promise<{ blueprint: ListedBlueprint; metered: boolean }> {
    await this.#open();
    return { blueprint: this.#blueprints.get(blueprint), metered: this.#accounts.metered };
  }

  async isMetered(): Promise<boolean> {
    await this.#open();
    return this.#accounts.metered;
  }

  /** An agent states what it has spent, and asks for its next call. */
  async account(statement: Statement): Promise<Verdict> {
    await this.#open();
    return this.#accounts.account(statement);
  }

  /** Several agents state what they have spent; answers which of them should state all of it. */
  async accounts(statements: Statement[]): Promise<string[]> {
    await this.#open();
    return this.#accounts.accounts(statements);
  }

  async usage(days?: number): Promise<AgencyUsage> {
    await this.#open();
    return this.#accounts.usage(days);
  }

  async standings(): Promise<Standing[]> {
    await this.#open();
    return this.#accounts.standings();
  }

  async getBudget(): Promise<BudgetAnswer> {
    await this.#open();
    return this.#accounts.answer();
  }

  async setBudget(budget: Budget | undefined): Promise<BudgetAnswer> {
    await this.#open();
    this.#accounts.budget = budget;
    return this.#accounts.answer();
  }

  /** Told by its owner, possibly twice: there is a budget now, or none any more. */
  async meter(metered: boolean): Promise<void> {
    await this.#open();
    this.#charter.metered = metered;
  }

  protected override async wake(): Promise<void> {
    if (await this.#agents.settle(this.#tell, this.#erase)) this.#changed();
  }

  readonly #tell = async ({ agent, props }: Registration): Promise<void> => {
    await this.#think(agent.name).register(agent, props, this.#blueprints.find(agent.blueprint));
  };

  readonly #erase = async (name: string): Promise<void> => {
    const last = await this.#think(name).retire();
    if (last) this.#accounts.close(last);
    await openLinux(this.env, agentObjectName(this.name, name)).forget();
    await this.#think(name).erase();
  };

  #think(name: string) {
    return this.env.Think.getByName(agentObjectName(this.name, name));
  }

  async #open(): Promise<AgencyInfo> {
    await this.ready();
    return this.#charter.get();
  }

  /** One that is lost is made good by the next. */
  #tellOwner(): void {
    this.ctx.waitUntil(this.#accounts.tell().catch((error: unknown) => console.error("the owner was not told", error)));
  }

  /** With the driver and the model of its blueprint, if it has none of its own. */
  #shown(agent: AgentInfo): AgentInfo {
    const blueprint = this.#blueprints.find(agent.blueprint);
    const model = agent.model ?? blueprint?.model;
    const driver = agent.driver ?? blueprint?.driver ?? defaultDriver;
    return { ...agent, driver, ...(model ? { model } : {}) };
  }

  #checkModels(ids: Record<string, string | undefined>, under: string[] = []): void {
    const models = systemModels(this.env, this.getSystem());
    for (const [key, id] of Object.entries(ids)) {
      if (id) checkModel(models, id, [...under, key]);
    }
  }

  #freeName(blueprint: string): string {
    for (;;) {
      const name = `${blueprint}-${crypto.randomUUID().slice(0, 6)}`;
      if (this.#agents.isFree(name)) return name;
    }
  }

  /** Those that come with the Worker were looked at when it was made. */
  #warned(listed: ListedBlueprint): ListedBlueprint {
    const warnings = listed.source === "dynamic" ? warningsOf(this.getSystem(), listed) : [];
    return warnings.length > 0 ? { ...listed, warnings } : listed;
  }

  #changed(): void {
    this.setState({ revision: this.state.revision + 1 });
    const info = this.#charter.find();
    // The count is for the owner's overview only; a lost one is corrected by the next change.
    if (info) this.ctx.waitUntil(this.env.User.getByName(info.owner).noteAgents(info.id, this.#agents.count()));
  }
}
