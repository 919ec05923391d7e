import {
  type Agency as AgencyInfo,
  type Agent as AgentInfo,
  type Budget,
  type BudgetResponse,
  fail,
  globalAgency,
  type NewAgency,
  ownerUser,
  type PageQuery,
  type Preferences as Values,
  type Scope,
  type BudgetStatus,
  type Token,
  type User as UserInfo,
  type UserUsage,
} from "@thinkery/sdk";
import { migrate } from "../store/migrate.ts";
import { userMigrations } from "../store/schema/user.ts";
import { UsageTotals, type UsageReport, type ReservationResult } from "../store/usage-totals.ts";
import { toUsageFigures, getFirstDay, summarizeUsage } from "../store/usage.ts";
import { AgencyRegistry } from "../user/agencies.ts";
import { listAgentPage } from "../user/agents.ts";
import { type CheckedCredential, Credentials, type NewCredential, type NewTicket } from "../user/credentials.ts";
import { Preferences } from "../user/preferences.ts";
import type { Revision } from "./agency.ts";
import { BaseObject } from "./base-object.ts";
import type { Env } from "./env.ts";

/** A user: agencies, credentials, preferences and usage. */
export class User extends BaseObject<Revision> {
  override initialState: Revision = { revision: 0 };
  readonly #agencies: AgencyRegistry;
  readonly #credentials: Credentials;
  readonly #preferences: Preferences;
  readonly #usage: UsageTotals;

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env);
    migrate(ctx.storage, { user: userMigrations });
    const user = ctx.id.name ?? "";
    this.#agencies = new AgencyRegistry(ctx.storage.sql, user);
    this.#credentials = new Credentials(ctx.storage.sql, user);
    this.#preferences = new Preferences(ctx.storage.sql);
    this.#usage = new UsageTotals(ctx.storage, "user");
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
    await this.ensureReady();
    return this.#agencies.list(page);
  }

  async hasAgency(id: string): Promise<boolean> {
    await this.ensureReady();
    return this.#agencies.find(id) !== undefined;
  }

  async createAgency(options: NewAgency): Promise<AgencyInfo> {
    await this.ensureReady();
    const id = options.id ?? this.#findFreeId(options.name);
    if (!this.#agencies.isFree(id)) throw fail("conflict", `Agency “${id}” already exists. Ids are case-insensitive.`);
    const agency: AgencyInfo = {
      id,
      name: options.name ?? id,
      owner: this.name,
      createdAt: new Date().toISOString(),
    };
    await this.#agencies.add(agency, this.#setUpAgency);
    this.#notifyChange();
    return agency;
  }

  async deleteAgency(id: string): Promise<void> {
    await this.ensureReady();
    if (id === globalAgency) throw fail("conflict", "The global agency cannot be deleted.");
    const agency = this.#agencies.get(id);
    await this.#agencies.remove(agency.id, this.#eraseAgency);
    this.#notifyChange();
  }

  async noteAgents(id: string, agents: number): Promise<void> {
    await this.ensureReady();
    this.#agencies.setAgentCount(id, agents);
  }

  async getTotals(): Promise<{ agencies: number; agents: number }> {
    await this.ensureReady();
    return this.#agencies.getTotals();
  }

  async describe(): Promise<UserInfo> {
    await this.ensureReady();
    return {
      name: this.name,
      ...this.#agencies.getTotals(),
      preferences: this.#preferences.get(),
      budget: this.#usage.budget ?? null,
    };
  }

  async listAgents(page: PageQuery): Promise<{ agents: AgentInfo[]; next?: string }> {
    await this.ensureReady();
    return listAgentPage(page, {
      findAgency: (id) => this.#agencies.find(id),
      listAgencies: (page) => this.#agencies.list(page),
      listAgents: (agency, page) => this.env.Agency.getByName(agency).listAgents(page),
    });
  }

  async getPreferences(): Promise<Values> {
    await this.ensureReady();
    return this.#preferences.get();
  }

  async putPreferences(values: Values): Promise<Values> {
    await this.ensureReady();
    return this.#preferences.put(values);
  }

  /** Records an agency's usage, and reserves budget for an agent's next call. */
  async reportUsage(report: UsageReport): Promise<ReservationResult> {
    await this.ensureReady();
    return this.#usage.applyReport(report);
  }

  async getUsage(days?: number): Promise<UserUsage> {
    await this.ensureReady();
    const since = getFirstDay(days, Date.now());
    return {
      ...summarizeUsage(this.#usage.readRows(since)),
      byAgency: this.#usage.readShares(since).map(({ name, since, ...share }) => ({
        agency: name,
        createdAt: new Date(since).toISOString(),
        ...toUsageFigures(share),
      })),
      budget: this.#usage.listBudgetStatuses(),
    };
  }

  async listBudgetStatuses(): Promise<BudgetStatus[]> {
    await this.ensureReady();
    return this.#usage.listBudgetStatuses();
  }

  async getBudget(): Promise<BudgetResponse> {
    await this.ensureReady();
    return { budget: this.#usage.budget ?? null, statuses: this.#usage.listBudgetStatuses() };
  }

  async setBudget(budget: Budget | undefined): Promise<BudgetResponse> {
    await this.ensureReady();
    this.#usage.budget = budget;
    await this.#syncMetered();
    return this.getBudget();
  }

  async addCredential(credential: NewCredential): Promise<Token> {
    await this.ensureReady();
    return this.#credentials.add(credential);
  }

  async checkCredential(hash: string): Promise<CheckedCredential | undefined> {
    await this.ensureReady();
    return this.#credentials.check(hash);
  }

  async addTicket(ticket: NewTicket): Promise<void> {
    await this.ensureReady();
    this.#credentials.addTicket(ticket);
  }

  async redeemTicket(hash: string, path: string): Promise<Scope[] | undefined> {
    await this.ensureReady();
    return this.#credentials.redeemTicket(hash, path);
  }

  async redeemCode(hash: string): Promise<Scope[] | undefined> {
    await this.ensureReady();
    return this.#credentials.redeem(hash);
  }

  async listCredentials(): Promise<Token[]> {
    await this.ensureReady();
    return this.#credentials.list();
  }

  async revokeCredential(by: { id: string } | { hash: string }): Promise<string | undefined> {
    await this.ensureReady();
    return this.#credentials.revoke(by);
  }

  protected override async wake(): Promise<void> {
    if (await this.#agencies.settle(this.#setUpAgency, this.#eraseAgency)) this.#notifyChange();
    // An agency that cannot be reached now is updated at the next wake.
    await this.#syncMetered().catch((error: unknown) => console.error("budget sync failed", error));
  }

  readonly #setUpAgency = async (agency: AgencyInfo): Promise<void> => {
    const metered = this.#usage.budget !== undefined;
    await this.env.Agency.getByName(agency.id).setUp(agency, metered);
    this.#agencies.markSynced(agency.id, metered);
  };

  readonly #eraseAgency = async (id: string): Promise<void> => {
    const agency = this.env.Agency.getByName(id);
    const last = await agency.retire();
    if (last) this.#usage.applyReport(last);
    await agency.erase();
  };

  /** Tells every agency whether there is a budget. Repeats if that changes in the meantime. */
  async #syncMetered(): Promise<void> {
    for (;;) {
      const metered = this.#usage.budget !== undefined;
      const outdated = this.#agencies.listUnsynced(metered);
      if (outdated.length === 0) return;
      await Promise.all(
        outdated.map(async (id) => {
          await this.env.Agency.getByName(id).setMetered(metered);
          this.#agencies.markSynced(id, metered);
        }),
      );
    }
  }

  #findFreeId(name: string | undefined): string {
    const word = (name ?? "agency")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 40);
    const base = word || "agency";
    if (name && this.#agencies.isFree(base)) return base;
    return `${base}-${crypto.randomUUID().slice(0, 6)}`;
  }

  #notifyChange(): void {
    this.setState({ revision: this.state.revision + 1 });
  }
}
