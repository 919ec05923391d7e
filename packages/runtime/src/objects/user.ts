import {
  type Agency as AgencyInfo,
  fail,
  globalAgency,
  type NewAgency,
  ownerUser,
  type PageQuery,
  type Scope,
  type Token,
} from "@thinkery/sdk";
import { migrate } from "../store/migrate.ts";
import { userMigrations } from "../store/schema/user.ts";
import { AgencyRegistry } from "../user/agencies.ts";
import { Credentials, type NewCredential } from "../user/credentials.ts";
import type { Revision } from "./agency.ts";
import type { Env } from "./env.ts";
import { Housed } from "./housed.ts";

/** One person: their agencies and their credentials. */
export class User extends Housed<Revision> {
  override initialState: Revision = { revision: 0 };
  readonly #agencies: AgencyRegistry;
  readonly #credentials: Credentials;

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env);
    migrate(ctx.storage, userMigrations);
    const user = ctx.id.name ?? "";
    this.#agencies = new AgencyRegistry(ctx.storage.sql, user);
    this.#credentials = new Credentials(ctx.storage.sql, user);
    if (user === ownerUser && this.#agencies.isFree(globalAgency)) {
      this.#agencies.adopt({
        id: globalAgency,
        name: "Global",
        owner: ownerUser,
        createdAt: new Date().toISOString(),
      });
    }
  }

  async listAgencies(page: PageQuery): Promise<{ agencies: AgencyInfo[]; next?: string }> {
    await this.ready();
    return this.#agencies.list(page);
  }

  async hasAgency(id: string): Promise<boolean> {
    await this.ready();
    return this.#agencies.find(id) !== undefined;
  }

  async createAgency(wanted: NewAgency): Promise<AgencyInfo> {
    await this.ready();
    const id = wanted.id ?? this.#freeId(wanted.name);
    if (!this.#agencies.isFree(id)) throw fail("conflict", `You already have an agency “${id}”.`);
    const agency: AgencyInfo = {
      id,
      name: wanted.name ?? id,
      owner: this.name,
      createdAt: new Date().toISOString(),
    };
    await this.#agencies.add(agency, this.#found);
    this.#changed();
    return agency;
  }

  async deleteAgency(id: string): Promise<void> {
    await this.ready();
    if (id === globalAgency) throw fail("conflict", "The global agency cannot be deleted.");
    const agency = this.#agencies.get(id);
    await this.#agencies.remove(agency.id, this.#dissolve);
    this.#changed();
  }

  async noteAgents(id: string, agents: number): Promise<void> {
    await this.ready();
    this.#agencies.noteAgents(id, agents);
  }

  async totals(): Promise<{ agencies: number; agents: number }> {
    await this.ready();
    return this.#agencies.totals();
  }

  async addCredential(credential: NewCredential): Promise<Token> {
    await this.ready();
    return this.#credentials.add(credential);
  }

  async checkCredential(hash: string): Promise<{ scopes: Scope[]; expiresAt?: number } | undefined> {
    await this.ready();
    return this.#credentials.check(hash);
  }

  async redeemCode(hash: string): Promise<Scope[] | undefined> {
    await this.ready();
    return this.#credentials.redeem(hash);
  }

  async listCredentials(): Promise<Token[]> {
    await this.ready();
    return this.#credentials.list();
  }

  async revokeCredential(by: { id: string } | { hash: string }): Promise<string | undefined> {
    await this.ready();
    return this.#credentials.revoke(by);
  }

  protected override async settle(): Promise<void> {
    if (await this.#agencies.settle(this.#found, this.#dissolve)) this.#changed();
  }

  readonly #found = async (agency: AgencyInfo): Promise<void> => {
    await this.env.Agency.getByName(agency.id).found(agency);
  };

  readonly #dissolve = async (id: string): Promise<void> => {
    await this.env.Agency.getByName(id).dissolve();
  };

  #freeId(name: string | undefined): string {
    const word = (name ?? "agency").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 40);
    const base = word || "agency";
    if (name && this.#agencies.isFree(base)) return base;
    return `${base}-${crypto.randomUUID().slice(0, 6)}`;
  }

  #changed(): void {
    this.setState({ revision: this.state.revision + 1 });
  }
}
