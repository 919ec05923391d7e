import {
  type Agency as AgencyInfo,
  type AgencyUsage,
  type Agent as AgentInfo,
  formatAgentObjectName,
  type Blueprint,
  type Budget,
  type BudgetResponse,
  defaultBlueprint,
  fail,
  isThinkeryError,
  type ListedBlueprint,
  type NewAgent,
  type PageQuery,
  type BudgetStatus,
} from "@thinkery/sdk";
import { AgencyRecord } from "../agency/agency-record.ts";
import { AgentRegistry, type AgentRegistration } from "../agency/agents.ts";
import { Blueprints } from "../agency/blueprints.ts";
import { AgencyUsageTotals } from "../agency/usage-totals.ts";
import { openLinux } from "../sandbox/linux.ts";
import { migrate } from "../store/migrate.ts";
import { agencyMigrations } from "../store/schema/agency.ts";
import type { UsageReport, ReservationResult } from "../store/usage-totals.ts";
import { checkNewAgent } from "../system/check-agent.ts";
import { defaultDriver } from "../system/drivers.ts";
import { checkModel, openSystemModels } from "../system/models.ts";
import { checkBlueprint, type System, findWarnings } from "../system/system.ts";
import { BaseObject } from "./base-object.ts";
import type { Env } from "./env.ts";

/** Grows with every change, so that whoever watches knows when to look again. */
export interface Revision {
  revision: number;
}

/** A boundary of tenancy and teamwork. It keeps blueprints, the registry of agents and their books; it never calls a model. */
export abstract class Agency extends BaseObject<Revision> {
  override initialState: Revision = { revision: 0 };
  readonly #record: AgencyRecord;
  readonly #blueprints: Blueprints;
  readonly #agents: AgentRegistry;
  readonly #usage: AgencyUsageTotals;

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env);
    migrate(ctx.storage, { agency: agencyMigrations });
    const id = ctx.id.name ?? "";
    this.#record = new AgencyRecord(ctx.storage.sql, id);
    this.#blueprints = new Blueprints(ctx.storage.sql, id, this.getSystem().blueprints);
    this.#agents = new AgentRegistry(ctx.storage.sql, id);
    const user = () => env.User.getByName(this.#record.owner);
    this.#usage = new AgencyUsageTotals(ctx.storage, id, this.#record, {
      reportUsage: (statement) => user().reportUsage(statement),
      listBudgetStatuses: () => user().listBudgetStatuses(),
    });
  }

  /** What agents here are made of. */
  protected abstract getSystem(): System;

  /** Metered: its owner has a budget. */
  async setUp(info: AgencyInfo, metered = false): Promise<AgencyInfo> {
    await this.ensureReady();
    const founded = this.#record.create(info);
    this.#record.isMetered = metered;
    return founded;
  }

  /** Deletes every agent, and answers what all of them have spent. Safe to ask again. */
  async retire(): Promise<UsageReport | undefined> {
    await this.ensureReady();
    const founded = this.#record.markDeleting();
    for (const name of this.#agents.listNames()) await this.#agents.remove(name, this.#eraseAgent);
    return founded ? this.#usage.createFullReport() : undefined;
  }

  /** Forgets everything, once it is retired. Safe to ask again. */
  async erase(): Promise<void> {
    await this.retire();
    await this.destroy();
  }

  async listBlueprints(): Promise<ListedBlueprint[]> {
    await this.#open();
    return this.#blueprints.list().map((listed) => this.#addWarnings(listed));
  }

  async getBlueprint(name: string): Promise<ListedBlueprint> {
    await this.#open();
    return this.#addWarnings(this.#blueprints.get(name));
  }

  async putBlueprint(blueprint: Blueprint): Promise<ListedBlueprint> {
    await this.#open();
    checkBlueprint(this.getSystem(), blueprint);
    this.#checkModels({ model: blueprint.model });
    this.#checkModels(blueprint.models ?? {}, ["models"]);
    const stored = this.#blueprints.put(blueprint);
    this.#notifyChange();
    return this.#addWarnings(stored);
  }

  async deleteBlueprint(name: string): Promise<void> {
    await this.#open();
    this.#blueprints.delete(name);
    this.#notifyChange();
  }

  async listAgents(page: PageQuery): Promise<{ agents: AgentInfo[]; next?: string }> {
    await this.#open();
    const { agents, ...next } = this.#agents.list(page);
    return { agents: agents.map((agent) => this.#fillDefaults(agent)), ...next };
  }

  async getAgent(name: string): Promise<AgentInfo> {
    await this.#open();
    return this.#fillDefaults(this.#agents.get(name));
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
    const name = wanted.name ?? this.#findFreeName(blueprint.name);
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
    await this.#agents
      .add({ agent, ...(wanted.props ? { props: wanted.props } : {}) }, this.#registerAgent)
      .catch(async (error: unknown) => {
        // What the agent refuses is forgotten at once, so that its name is free.
        if (isThinkeryError(error)) await this.#agents.remove(name, this.#eraseAgent);
        throw error;
      });
    this.#notifyChange();
    return this.#fillDefaults(agent);
  }

  async deleteAgent(name: string): Promise<void> {
    await this.#open();
    const agent = this.#agents.get(name);
    await this.#agents.remove(agent.name, this.#eraseAgent);
    this.#notifyChange();
    this.#reportToOwner();
  }

  /** What an agent needs to know of its agency for its next turn: its blueprint, and whether it has to ask before it spends. */
  async resolveBlueprint(blueprint: string): Promise<{ blueprint: ListedBlueprint; metered: boolean }> {
    await this.#open();
    return { blueprint: this.#blueprints.get(blueprint), metered: this.#usage.isMetered };
  }

  async isMetered(): Promise<boolean> {
    await this.#open();
    return this.#usage.isMetered;
  }

  /** An agent states what it has spent, and asks for its next call. */
  async reportUsage(statement: UsageReport): Promise<ReservationResult> {
    await this.#open();
    return this.#usage.reportUsage(statement);
  }

  /** Several agents state what they have spent; answers which of them should state all of it. */
  async reportUsageBatch(statements: UsageReport[]): Promise<string[]> {
    await this.#open();
    return this.#usage.reportUsageBatch(statements);
  }

  async getUsage(days?: number): Promise<AgencyUsage> {
    await this.#open();
    return this.#usage.getUsage(days);
  }

  async listBudgetStatuses(): Promise<BudgetStatus[]> {
    await this.#open();
    return this.#usage.listBudgetStatuses();
  }

  async getBudget(): Promise<BudgetResponse> {
    await this.#open();
    return this.#usage.getBudget();
  }

  async setBudget(budget: Budget | undefined): Promise<BudgetResponse> {
    await this.#open();
    this.#usage.budget = budget;
    return this.#usage.getBudget();
  }

  /** Told by its owner, possibly twice: there is a budget now, or none any more. */
  async setMetered(metered: boolean): Promise<void> {
    await this.#open();
    this.#record.isMetered = metered;
  }

  protected override async wake(): Promise<void> {
    if (await this.#agents.settle(this.#registerAgent, this.#eraseAgent)) this.#notifyChange();
  }

  readonly #registerAgent = async ({ agent, props }: AgentRegistration): Promise<void> => {
    await this.#getThink(agent.name).register(agent, props, this.#blueprints.find(agent.blueprint));
  };

  readonly #eraseAgent = async (name: string): Promise<void> => {
    const last = await this.#getThink(name).retire();
    if (last) this.#usage.close(last);
    await openLinux(this.env, formatAgentObjectName(this.name, name)).forget();
    await this.#getThink(name).erase();
  };

  #getThink(name: string) {
    return this.env.Think.getByName(formatAgentObjectName(this.name, name));
  }

  async #open(): Promise<AgencyInfo> {
    await this.ensureReady();
    return this.#record.get();
  }

  /** One that is lost is made good by the next. */
  #reportToOwner(): void {
    this.ctx.waitUntil(
      this.#usage.reportToOwner().catch((error: unknown) => console.error("the owner was not told", error)),
    );
  }

  /** With the driver and the model of its blueprint, if it has none of its own. */
  #fillDefaults(agent: AgentInfo): AgentInfo {
    const blueprint = this.#blueprints.find(agent.blueprint);
    const model = agent.model ?? blueprint?.model;
    const driver = agent.driver ?? blueprint?.driver ?? defaultDriver;
    return { ...agent, driver, ...(model ? { model } : {}) };
  }

  #checkModels(ids: Record<string, string | undefined>, under: string[] = []): void {
    const models = openSystemModels(this.env, this.getSystem());
    for (const [key, id] of Object.entries(ids)) {
      if (id) checkModel(models, id, [...under, key]);
    }
  }

  #findFreeName(blueprint: string): string {
    for (;;) {
      const name = `${blueprint}-${crypto.randomUUID().slice(0, 6)}`;
      if (this.#agents.isFree(name)) return name;
    }
  }

  /** Those that come with the Worker were looked at when it was made. */
  #addWarnings(listed: ListedBlueprint): ListedBlueprint {
    const warnings = listed.source === "dynamic" ? findWarnings(this.getSystem(), listed) : [];
    return warnings.length > 0 ? { ...listed, warnings } : listed;
  }

  #notifyChange(): void {
    this.setState({ revision: this.state.revision + 1 });
    const info = this.#record.find();
    // The count is for the owner's overview only; a lost one is corrected by the next change.
    if (info) this.ctx.waitUntil(this.env.User.getByName(info.owner).noteAgents(info.id, this.#agents.count()));
  }
}
