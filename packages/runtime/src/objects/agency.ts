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
import { openModels } from "../model/catalogue.ts";
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
    this.#blueprints = new Blueprints(ctx.storage.sql, ctx.id.name ?? "", [defaultBlueprint]);
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
    for (const name of this.#agents.names()) await this.#agents.remove(name, this.#erase);
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
    if (blueprint.model) openModels(this.env).check(blueprint.model);
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
    if (wanted.model) openModels(this.env).check(wanted.model);
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
    await this.#agents.add({ agent, ...(wanted.props ? { props: wanted.props } : {}) }, this.#tell);
    this.#changed();
    return agent;
  }

  async deleteAgent(name: string): Promise<void> {
    await this.#open();
    const agent = this.#agents.get(name);
    await this.#agents.remove(agent.name, this.#erase);
    this.#changed();
  }

  protected override async settle(): Promise<void> {
    if (await this.#agents.settle(this.#tell, this.#erase)) this.#changed();
  }

  readonly #tell = async ({ agent, props }: Registration): Promise<void> => {
    await this.#think(agent.name).register(agent, props);
  };

  readonly #erase = async (name: string): Promise<void> => {
    await this.#think(name).erase();
  };

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
