import {
  type Agency as AgencyInfo,
  type Agent as AgentInfo,
  type Budget,
  type BudgetAnswer,
  fail,
  globalAgency,
  type NewAgency,
  ownerUser,
  type PageQuery,
  type Preferences as Values,
  type Scope,
  type Standing,
  type Token,
  type User as UserInfo,
  type UserUsage,
} from "@thinkery/sdk";
import { Accounts, type Statement, type Verdict } from "../store/accounts.ts";
import { migrate } from "../store/migrate.ts";
import { userMigrations } from "../store/schema/user.ts";
import { figuresOf, firstOf, reportOf } from "../store/spent.ts";
import { AgencyRegistry } from "../user/agencies.ts";
import { pageOfAgents } from "../user/agents.ts";
import { Credentials, type NewCredential } from "../user/credentials.ts";
import { Preferences } from "../user/preferences.ts";
import type { Revision } from "./agency.ts";
import type { Env } from "./env.ts";
import { BaseObject } from "./base-object.ts";

/** One person: their agencies, their credentials, their preferences, and the books of all they spend. */
export class User extends BaseObject<Revision> {
  override initialState: Revision = { revision: 0 };
  readonly #agencies: AgencyRegistry;
  readonly #credentials: Credentials;
  readonly #preferences: Preferences;
  readonly #accounts: Accounts;

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env);
    migrate(ctx.storage, { user: userMigrations });
    const user = ctx.id.name ?? "";
    this.#agencies = new AgencyRegistry(ctx.storage.sql, user);
    this.#credentials = new Credentials(ctx.storage.sql, user);
    this.#preferences = new Preferences(ctx.storage.sql);
    this.#accounts = new Accounts(ctx.storage, "user");
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

  async describe(): Promise<UserInfo> {
    await this.ready();
    return { name: this.name, ...this.#agencies.totals(), preferences: this.#preferences.get(), budget: this.#accounts.budget ?? null };
  }

  async listAgents(page: PageQuery): Promise<{ agents: AgentInfo[]; next?: string }> {
    await this.ready();
    return pageOfAgents(page, {
      agency: (id) => this.#agencies.find(id),
      agencies: (page) => this.#agencies.list(page),
      agents: (agency, page) => this.env.Agency.getByName(agency).listAgents(page),
    });
  }

  async getPreferences(): Promise<Values> {
    await this.ready();
    return this.#preferences.get();
  }

  async putPreferences(values: Values): Promise<Values> {
    await this.ready();
    return this.#preferences.put(values);
  }

  /** An agency states what it has spent, and asks for an agent's next call. */
  async account(statement: Statement): Promise<Verdict> {
    await this.ready();
    return this.#accounts.state(statement);
  }

  async usage(days?: number): Promise<UserUsage> {
    await this.ready();
    const since = firstOf(days, Date.now());
    return {
      ...reportOf(this.#accounts.rows(since)),
      byAgency: this.#accounts.shares(since).map(({ name, since, ...share }) => ({
        agency: name,
        createdAt: new Date(since).toISOString(),
        ...figuresOf(share),
      })),
      budget: this.#accounts.standings(),
    };
  }

  async standings(): Promise<Standing[]> {
    await this.ready();
    return this.#accounts.standings();
  }

  async getBudget(): Promise<BudgetAnswer> {
    await this.ready();
    return { budget: this.#accounts.budget ?? null, standings: this.#accounts.standings() };
  }

  async setBudget(budget: Budget | undefined): Promise<BudgetAnswer> {
    await this.ready();
    this.#accounts.budget = budget;
    await this.#meter();
    return this.getBudget();
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

  protected override async wake(): Promise<void> {
    if (await this.#agencies.settle(this.#found, this.#dissolve)) this.#changed();
    // One that cannot be told now is told at the next wake.
    await this.#meter().catch((error: unknown) => console.error("an agency was not told of the budget", error));
  }

  readonly #found = async (agency: AgencyInfo): Promise<void> => {
    const metered = this.#accounts.budget !== undefined;
    await this.env.Agency.getByName(agency.id).found(agency, metered);
    this.#agencies.told(agency.id, metered);
  };

  readonly #dissolve = async (id: string): Promise<void> => {
    const agency = this.env.Agency.getByName(id);
    const last = await agency.retire();
    if (last) this.#accounts.state(last);
    await agency.dissolve();
  };

  /** Tells every agency whether there is a budget, as often as that changes meanwhile. */
  async #meter(): Promise<void> {
    for (;;) {
      const metered = this.#accounts.budget !== undefined;
      const untold = this.#agencies.untold(metered);
      if (untold.length === 0) return;
      await Promise.all(
        untold.map(async (id) => {
          await this.env.Agency.getByName(id).meter(metered);
          this.#agencies.told(id, metered);
        }),
      );
    }
  }

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
