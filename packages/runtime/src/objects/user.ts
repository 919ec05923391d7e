import {
  type Agency as AgencyInfo,
  type Agent as AgentInfo,
  type Budget,
  type BudgetResponse,
  fail,
  formatAgencyKey,
  getDefaultAgency,
  type NewAgency,
  ownerUser,
  type PageQuery,
  type Preferences as Values,
  type BudgetStatus,
  type User as UserInfo,
  type UserLimits,
  type UserUsage,
} from "@thinkery/sdk";
import { migrate } from "../store/migrate.ts";
import { sharedAgencyMigrations } from "../store/schema/members.ts";
import { userMigrations } from "../store/schema/user.ts";
import { UsageTotals, type UsageReport, type ReservationResult } from "../store/usage-totals.ts";
import { AgencyRegistry } from "../user/agencies.ts";
import { listAgentPage } from "../user/agents.ts";
import { listAllAgencies } from "../user/all-agencies.ts";
import { Connections } from "../user/connections.ts";
import { Credentials } from "../user/credentials.ts";
import { Inbox } from "../user/inbox.ts";
import { Limits } from "../user/limits.ts";
import { Preferences } from "../user/preferences.ts";
import { SharedAgencies } from "../user/shared-agencies.ts";
import { summarizeUserUsage } from "../user/summarize-usage.ts";
import { Users } from "../user/users.ts";
import type { Revision } from "./agency.ts";
import { BaseObject } from "./base-object.ts";
import { CollectionsApi } from "./collections-api.ts";
import type { ConnectionHolder } from "./credential-watch.ts";
import { CredentialsApi } from "./credentials-api.ts";
import type { Env } from "./env.ts";
import { InboxApi } from "./inbox-api.ts";
import { LimitsApi } from "./limits-api.ts";
import { leaveAgencies, SharedAgenciesApi } from "./shared-agencies-api.ts";
import { TicketsApi } from "./tickets-api.ts";
import { UserConnections } from "./user-connections.ts";
import { UsersApi } from "./users-api.ts";

/** What clients of a user see at once. `waiting` is the number of approvals and questions in the inbox. */
interface UserState extends Revision {
  waiting: number;
}

/** A user: agencies, credentials, preferences and usage. */
export class User extends BaseObject<UserState> {
  override initialState: UserState = { revision: 0, waiting: 0 };
  readonly #agencies: AgencyRegistry;
  readonly #credentials: Credentials;
  readonly #connections: UserConnections;
  readonly #preferences: Preferences;
  readonly #usage: UsageTotals;
  readonly #limits: Limits;
  readonly #users: Users;
  readonly #usersApi: UsersApi;
  readonly #limitsApi: LimitsApi;
  readonly #collectionsApi: CollectionsApi;
  readonly #shared: SharedAgencies;
  readonly #sharedApi = new SharedAgenciesApi(async () => {
    await this.__unsafe_ensureInitialized();
    return {
      shared: this.#shared,
      exists: !this.#isErasing && (this.name === ownerUser || this.#limits.areSet),
      closeInvalidConnections: () => this.#connections.closeInvalid(),
      onChange: () => this.#notifyChange(),
    };
  });
  readonly #inbox: Inbox;
  readonly #inboxApi = new InboxApi(async () => {
    await this.ensureReady();
    return { inbox: this.#inbox, onChange: () => this.#notifyChange() };
  });
  /** From then on, nobody can make the user a member. */
  #isErasing = false;
  readonly #openCredentials = async () => {
    await this.ensureReady();
    return {
      credentials: this.#credentials,
      limits: this.#limits,
      ensureDefaultAgency: () => this.#ensureDefaultAgency(),
      onRevoked: () => this.#connections.closeInvalid(),
    };
  };
  readonly #credentialsApi = new CredentialsApi(this.#openCredentials);
  readonly #ticketsApi = new TicketsApi(async () => (await this.#openCredentials()).credentials);

  constructor(ctx: DurableObjectState, env: Env & Cloudflare.Env) {
    super(ctx, env, "User");
    migrate(ctx.storage, { user: userMigrations, shared: sharedAgencyMigrations });
    const user = ctx.id.name ?? "";
    this.#agencies = new AgencyRegistry(ctx.storage.sql, user);
    this.#credentials = new Credentials(ctx.storage.sql, user);
    this.#preferences = new Preferences(ctx.storage.sql);
    this.#usage = new UsageTotals(ctx.storage, "user");
    this.#limits = new Limits(ctx.storage.sql);
    this.#inbox = new Inbox(ctx.storage.sql);
    this.#shared = new SharedAgencies(ctx.storage.sql);
    this.#connections = new UserConnections({
      env,
      user,
      connections: new Connections(ctx.storage.sql),
      credentials: this.#credentials,
      agencies: this.#agencies,
      shared: this.#shared,
      closeOwn: (credential) => this.closeConnections(credential),
    });
    this.#users = new Users(ctx.storage.sql, {
      create: ({ name, limits }) => env.User.getByName(name).setUp(limits),
      erase: (name) => env.User.getByName(name).erase(),
    });
    this.#limitsApi = new LimitsApi(async () => {
      await this.ensureReady();
      const onBudget = () => this.#syncMetered();
      return { limits: this.#limits, agencies: this.#agencies, usage: this.#usage, onBudget };
    });
    this.#usersApi = new UsersApi(env, async () => {
      await this.ensureReady();
      return { name: this.name, users: this.#users };
    });
    this.#collectionsApi = new CollectionsApi(env, user);
  }

  get users(): UsersApi {
    return this.#usersApi;
  }

  get collections(): CollectionsApi {
    return this.#collectionsApi;
  }

  get credentials(): CredentialsApi {
    return this.#credentialsApi;
  }

  get tickets(): TicketsApi {
    return this.#ticketsApi;
  }

  get inbox(): InboxApi {
    return this.#inboxApi;
  }

  get limits(): LimitsApi {
    return this.#limitsApi;
  }

  get shared(): SharedAgenciesApi {
    return this.#sharedApi;
  }

  /** Called by the owner's object, possibly twice. */
  async setUp(limits: UserLimits): Promise<void> {
    await this.ensureReady();
    this.#limits.set(limits);
    await this.setBudget(undefined);
    await this.#ensureDefaultAgency();
  }

  /** Deletes the user's agencies, memberships and credentials, then everything else. Idempotent. */
  async erase(): Promise<void> {
    await this.ensureReady();
    this.#isErasing = true;
    this.#credentials.clear();
    await this.#connections.closeInvalid();
    await leaveAgencies(this.env, this.name, this.#shared);
    for (const id of this.#agencies.listIds()) await this.#agencies.remove(id, this.#eraseAgency);
    await this.destroy();
  }

  async listAgencies(page: PageQuery): Promise<{ agencies: AgencyInfo[]; next?: string }> {
    await this.ensureReady();
    return this.#agencies.list(page);
  }

  /** Lists the user's agencies, then those of others that the user is a member of. */
  async listAllAgencies(page: PageQuery): Promise<{ agencies: AgencyInfo[]; next?: string }> {
    await this.ensureReady();
    return listAllAgencies(page, { agencies: this.#agencies, shared: this.#shared });
  }

  async hasAgency(id: string): Promise<boolean> {
    await this.ensureReady();
    return this.#agencies.find(id) !== undefined;
  }

  async createAgency(options: NewAgency): Promise<AgencyInfo> {
    await this.ensureReady();
    const id = options.id ?? this.#agencies.findFreeId(options.name);
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
    if (id === getDefaultAgency(this.name)) throw fail("conflict", `The default agency “${id}” cannot be deleted.`);
    await this.#agencies.remove(this.#agencies.get(id).id, this.#eraseAgency);
    this.#notifyChange();
  }

  /** Called by an agency that has another name. */
  async renameAgency(id: string, name: string): Promise<void> {
    await this.ensureReady();
    this.#agencies.rename(id, name);
    this.#notifyChange();
  }

  async noteAgents(id: string, agents: number): Promise<void> {
    await this.ensureReady();
    this.#agencies.setAgentCount(id, agents);
  }

  async getTotals(): Promise<{ agencies: number; agents: number; diskBytes: number }> {
    await this.ensureReady();
    return { ...this.#agencies.getTotals(), diskBytes: this.#limits.countDiskBytes() };
  }

  async describe(): Promise<UserInfo> {
    await this.ensureReady();
    return {
      name: this.name,
      ...this.#agencies.getTotals(),
      preferences: this.#preferences.get(),
      budget: this.#usage.budget ?? null,
      limits: this.#limits.get(),
    };
  }

  async listAgents(page: PageQuery): Promise<{ agents: AgentInfo[]; next?: string }> {
    await this.ensureReady();
    return listAgentPage(page, {
      findAgency: (id) => this.#agencies.find(id),
      listAgencies: (page) => this.#agencies.list(page),
      listAgents: (agency, page) => this.#getAgency(agency).listAgents(page),
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
    return summarizeUserUsage(this.#usage, days);
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
    this.#usage.budget = this.#limits.resolveBudget(budget);
    await this.#syncMetered();
    return this.getBudget();
  }

  /** Notes that an object has connections of a credential or a membership. Returns whether it is still valid. */
  async addConnectionHolder(hash: string, holder: ConnectionHolder): Promise<boolean> {
    await this.ensureReady();
    if (!this.#connections.add(hash, holder)) return false;
    const expiresAt = this.#credentials.find(hash)?.expiresAt;
    if (expiresAt) await this.schedule(new Date(expiresAt), "endExpired", expiresAt, { idempotent: true });
    return true;
  }

  async removeConnectionHolder(hash: string, holder: ConnectionHolder): Promise<void> {
    await this.ensureReady();
    this.#connections.remove(hash, holder);
  }

  /** Called by the alarm, which is up to a second early. */
  async endExpired(expiresAt: number): Promise<void> {
    await this.ensureReady();
    await new Promise((resolve) => setTimeout(resolve, Math.min(expiresAt - Date.now() + 1, 2000)));
    await this.#connections.closeInvalid();
  }

  protected override async wake(): Promise<void> {
    await this.#users.settle();
    if (await this.#agencies.settle(this.#setUpAgency, this.#eraseAgency)) this.#notifyChange();
    // An agency that cannot be reached now is updated at the next wake.
    await this.#syncMetered().catch((error: unknown) => console.error("budget sync failed", error));
  }

  readonly #setUpAgency = async (agency: AgencyInfo): Promise<void> => {
    const metered = this.#usage.budget !== undefined;
    await this.#getAgency(agency.id).setUp(agency, metered);
    this.#agencies.markSynced(agency.id, metered);
  };

  readonly #eraseAgency = async (id: string): Promise<void> => {
    const agency = this.#getAgency(id);
    const last = await agency.retire();
    if (last) this.#usage.applyReport(last);
    await agency.erase();
    const key = formatAgencyKey(this.name, id);
    this.#limits.forgetAgencyDiskUsage(key);
    this.#inbox.forget(`${key}~`);
  };

  #syncMetered(): Promise<void> {
    const isMetered = () => this.#usage.budget !== undefined;
    return this.#agencies.syncMetered(isMetered, (id, metered) => this.#getAgency(id).setMetered(metered));
  }

  /** Everyone who can log in has an agency that `/agents` means. */
  async #ensureDefaultAgency(): Promise<void> {
    const id = getDefaultAgency(this.name);
    if (this.#agencies.isFree(id)) await this.createAgency({ id });
  }

  #getAgency(id: string) {
    return this.env.Agency.getByName(formatAgencyKey(this.name, id));
  }

  #notifyChange(): void {
    this.setState({ revision: this.state.revision + 1, waiting: this.#inbox.countPending() });
  }
}
