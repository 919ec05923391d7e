import {
  type Agency as AgencyInfo,
  type Agent as AgentInfo,
  agentObjectName,
  type Blueprint,
  defaultBlueprint,
  fail,
  globalAgency,
  type ListedBlueprint,
  type NewAgent,
  ownerUser,
  type PageQuery,
} from "@thinkery/sdk";
import { AgentRegistry, type Registration } from "../agency/agents.ts";
import { Blueprints } from "../agency/blueprints.ts";
import { migrate } from "../store/migrate.ts";
import { agencyMigrations } from "../store/schema/agency.ts";
import type { Env } from "./env.ts";
import { Housed } from "./housed.ts";

/** Grows with every change, so that whoever watches knows when to look again. */
export interface Revision {
  revision: number;
}

/** A boundary of tenancy and teamwork. It keeps blueprints and the registry of agents; it never calls a model. */
export class Agency extends Housed<Revision> {
  override initialState: Revision = { revision: 0 };
  readonly #blueprints: Blueprints;
  readonly #agents: AgentRegistry;

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env);
    migrate(ctx.storage, agencyMigrations);
    this.#blueprints = new Blueprints(ctx.storage.sql, [defaultBlueprint]);
    this.#agents = new AgentRegistry(ctx.storage.sql, ctx.id.name ?? "");
  }

  async found(info: AgencyInfo): Promise<AgencyInfo> {
    await this.ready();
    const existing = this.#info();
    if (!existing) return this.#found(info);
    if (existing.owner !== info.owner) throw fail("conflict", `The name “${info.id}” is taken.`);
    return existing;
  }

  /** Deletes every agent, then itself. Safe to ask again. */
  async dissolve(): Promise<void> {
    await this.ready();
    this.ctx.storage.sql.exec("UPDATE agency SET deleting = 1");
    for (const name of this.#agents.names()) await this.#erase(name);
    await this.destroy();
  }

  async listBlueprints(): Promise<ListedBlueprint[]> {
    await this.#open();
    return this.#blueprints.list();
  }

  async getBlueprint(name: string): Promise<ListedBlueprint> {
    await this.#open();
    return this.#blueprints.get(name);
  }

  async putBlueprint(blueprint: Blueprint): Promise<ListedBlueprint> {
    await this.#open();
    const stored = this.#blueprints.put(blueprint);
    this.#changed();
    return stored;
  }

  async deleteBlueprint(name: string): Promise<void> {
    await this.#open();
    this.#blueprints.delete(name);
    this.#changed();
  }

  async listAgents(page: PageQuery): Promise<{ agents: AgentInfo[]; next?: string }> {
    await this.#open();
    return this.#agents.list(page);
  }

  async getAgent(name: string): Promise<AgentInfo> {
    await this.#open();
    return this.#agents.get(name);
  }

  async hasAgent(name: string): Promise<boolean> {
    await this.#open();
    // The name is part of an object's name, where case counts.
    return this.#agents.find(name)?.name === name;
  }

  async createAgent(owner: string, wanted: NewAgent): Promise<AgentInfo> {
    const { id: agency } = await this.#open();
    const blueprint = this.#blueprints.get(wanted.blueprint ?? wanted.agentType ?? defaultBlueprint.name);
    const name = wanted.name ?? this.#freeName(blueprint.name);
    if (!this.#agents.isFree(name)) throw fail("conflict", `There is already an agent “${name}” in ${agency}.`);
    const model = wanted.model ?? blueprint.model;
    const agent: AgentInfo = {
      id: name,
      name,
      agency,
      blueprint: blueprint.name,
      driver: wanted.backend ?? blueprint.driver ?? "think",
      ...(model ? { model } : {}),
      ...(wanted.system ? { system: wanted.system } : {}),
      owner,
      createdAt: new Date().toISOString(),
    };
    await this.#create({ agent, ...(wanted.props ? { props: wanted.props } : {}) });
    return agent;
  }

  async deleteAgent(name: string): Promise<void> {
    await this.#open();
    const agent = this.#agents.get(name);
    await this.#erase(agent.name);
    this.#changed();
  }

  protected override async settle(): Promise<void> {
    const { creating, deleting } = this.#agents.unsettled();
    if (creating.length + deleting.length === 0) return;
    // One agent that cannot be settled must not keep the whole agency shut: it is tried again at the next wake.
    await Promise.allSettled([
      ...creating.map((registration) => this.#register(registration)),
      ...deleting.map((name) => this.#erase(name)),
    ]);
    this.#changed();
  }

  async #create(registration: Registration): Promise<void> {
    this.#agents.reserve(registration);
    try {
      await this.#register(registration);
    } catch (error) {
      this.#agents.condemn(registration.agent.name);
      throw error;
    }
    this.#changed();
  }

  async #register({ agent, props }: Registration): Promise<void> {
    await this.#think(agent.name).register(agent, props);
    this.#agents.settle(agent.name);
  }

  async #erase(name: string): Promise<void> {
    this.#agents.condemn(name);
    await this.#think(name).erase();
    this.#agents.remove(name);
  }

  #think(name: string) {
    return this.env.Think.getByName(agentObjectName(this.name, name));
  }

  async #open(): Promise<AgencyInfo> {
    await this.ready();
    const info = this.#info() ?? (this.name === globalAgency ? this.#foundGlobal() : undefined);
    if (!info) throw fail("not_found", `There is no agency “${this.name}”.`);
    return info;
  }

  #foundGlobal(): AgencyInfo {
    return this.#found({
      id: globalAgency,
      name: "Global",
      owner: ownerUser,
      createdAt: new Date().toISOString(),
    });
  }

  #found(info: AgencyInfo): AgencyInfo {
    this.ctx.storage.sql.exec(
      "INSERT INTO agency (only, id, name, owner, created_at) VALUES (1, ?, ?, ?, ?)",
      info.id,
      info.name,
      info.owner,
      Date.parse(info.createdAt),
    );
    return info;
  }

  #info(): AgencyInfo | undefined {
    const [row] = this.ctx.storage.sql
      .exec<{ id: string; name: string; owner: string; created_at: number; deleting: number }>("SELECT * FROM agency")
      .toArray();
    if (!row || row.deleting) return undefined;
    return { id: row.id, name: row.name, owner: row.owner, createdAt: new Date(row.created_at).toISOString() };
  }

  #freeName(blueprint: string): string {
    for (;;) {
      const name = `${blueprint}-${crypto.randomUUID().slice(0, 6)}`;
      if (this.#agents.isFree(name)) return name;
    }
  }

  #changed(): void {
    this.setState({ revision: this.state.revision + 1 });
    const info = this.#info();
    // The count is for the owner's overview only; a lost one is corrected by the next change.
    if (info) this.ctx.waitUntil(this.env.User.getByName(info.owner).noteAgents(info.id, this.#agents.count()));
  }
}
