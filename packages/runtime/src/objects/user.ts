import {
  type Agency as AgencyInfo,
  type Agent as AgentInfo,
  formatAgencyKey,
  globalAgency,
  type NewAgency,
  ownerUser,
  type PageQuery,
  type Preferences as Values,
  type User as UserInfo,
  type UserLimits,
} from "@thinkery/sdk";
import { migrate } from "../store/migrate.ts";
import { sharedAgencyMigrations } from "../store/schema/members.ts";
import { userMigrations } from "../store/schema/user.ts";
import { UsageTotals } from "../store/usage-totals.ts";
import { AgencyRegistry } from "../user/agencies.ts";
import { listAgentPage } from "../user/agents.ts";
import { Connections } from "../user/connections.ts";
import { Credentials } from "../user/credentials.ts";
import { Inbox } from "../user/inbox.ts";
import { Limits } from "../user/limits.ts";
import { Preferences } from "../user/preferences.ts";
import { SharedAgencies } from "../user/shared-agencies.ts";
import { Users } from "../user/users.ts";
import { Workflows } from "../user/workflows.ts";
import type { Revision } from "./agency.ts";
import { BaseObject } from "./base-object.ts";
import { CollectionsApi } from "./collections-api.ts";
import { ConnectionHolders } from "./connection-holders.ts";
import type { ConnectionHolder } from "./credential-watch.ts";
import { CredentialsApi } from "./credentials-api.ts";
import type { Env } from "./env.ts";
import { InboxApi } from "./inbox-api.ts";
import { LimitsApi } from "./limits-api.ts";
import { SharedAgenciesApi } from "./shared-agencies-api.ts";
import { TicketsApi } from "./tickets-api.ts";
import { UserAgencies } from "./user-agencies.ts";
import { UserUsageApi } from "./user-usage-api.ts";
import { UsersApi } from "./users-api.ts";
import { WorkflowsApi } from "./workflows-api.ts";

/** What clients of a user see at once. `waiting` is the number of approvals and questions in the inbox. */
interface UserState extends Revision {
  waiting: number;
}

/** A user: agencies, credentials, preferences and usage. */
export class User extends BaseObject<UserState> {
  override initialState: UserState = { revision: 0, waiting: 0 };
  readonly #agencies: AgencyRegistry;
  readonly #userAgencies: UserAgencies;
  readonly #credentials: Credentials;
  readonly #connections: Connections;
  readonly #holders: ConnectionHolders;
  readonly #preferences: Preferences;
  readonly #usage: UsageTotals;
  readonly #usageApi = new UserUsageApi(async () => {
    await this.ensureReady();
    return { usage: this.#usage, limits: this.#limits, onBudget: () => this.#userAgencies.syncMetered() };
  });
  readonly #limits: Limits;
  readonly #users: Users;
  readonly #usersApi: UsersApi;
  readonly #limitsApi: LimitsApi;
  readonly #collectionsApi: CollectionsApi;
  readonly #workflows: Workflows;
  readonly #workflowsApi = new WorkflowsApi(async () => {
    await this.ensureReady();
    return this.#workflows;
  });
  readonly #shared: SharedAgencies;
  readonly #sharedApi: SharedAgenciesApi;
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
      onRevoked: () => this.#holders.closeInvalid(),
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
    this.#connections = new Connections(ctx.storage.sql);
    this.#preferences = new Preferences(ctx.storage.sql);
    this.#usage = new UsageTotals(ctx.storage, "user");
    this.#limits = new Limits(ctx.storage.sql);
    this.#inbox = new Inbox(ctx.storage.sql);
    this.#workflows = new Workflows(ctx.storage.sql, (id) => !this.#agencies.isFree(id));
    this.#shared = new SharedAgencies(ctx.storage.sql);
    this.#holders = new ConnectionHolders({
      env,
      user,
      connections: this.#connections,
      credentials: this.#credentials,
      shared: this.#shared,
      agencies: this.#agencies,
      closeOwn: (credential) => this.closeConnections(credential),
    });
    this.#sharedApi = new SharedAgenciesApi(async () => {
      await this.__unsafe_ensureInitialized();
      return {
        shared: this.#shared,
        exists: !this.#isErasing && (user === ownerUser || this.#limits.areSet),
        closeInvalidConnections: () => this.#holders.closeInvalid(),
        onChange: () => this.#notifyChange(),
      };
    });
    this.#userAgencies = new UserAgencies({
      env,
      user,
      registry: this.#agencies,
      shared: this.#shared,
      usage: this.#usage,
      limits: this.#limits,
      inbox: this.#inbox,
      workflows: this.#workflows,
    });
    this.#users = new Users(ctx.storage.sql, {
      create: ({ name, limits }) => env.User.getByName(name).setUp(limits),
      erase: (name) => env.User.getByName(name).erase(),
    });
    this.#limitsApi = new LimitsApi(async () => {
      await this.ensureReady();
      const onBudget = () => this.#userAgencies.syncMetered();
      return { limits: this.#limits, agencies: this.#agencies, usage: this.#usage, onBudget };
    });
    this.#usersApi = new UsersApi(env, async () => {
      await this.ensureReady();
      return { name: this.name, users: this.#users };
    });
    this.#collectionsApi = new CollectionsApi(env, user);
    if (user === ownerUser && this.#agencies.isFree(globalAgency)) {
      this.#agencies.adopt({
        id: globalAgency,
        name: "Global",
        owner: ownerUser,
        createdAt: new Date().toISOString(),
      });
    }
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

  get workflows(): WorkflowsApi {
    return this.#workflowsApi;
  }

  get usage(): UserUsageApi {
    return this.#usageApi;
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
    await this.#usageApi.setBudget(undefined);
    await this.#ensureDefaultAgency();
  }

  /** Deletes the user's agencies, memberships and credentials, then everything else. Idempotent. */
  async erase(): Promise<void> {
    await this.ensureReady();
    this.#isErasing = true;
    this.#credentials.clear();
    await this.#holders.closeInvalid();
    for (const key of this.#shared.listKeys()) {
      await this.env.Agency.getByName(key).members.forget(this.name);
      this.#shared.remove(key);
    }
    await this.#userAgencies.deleteAll();
    await this.destroy();
  }

  async listAgencies(page: PageQuery): Promise<{ agencies: AgencyInfo[]; next?: string }> {
    await this.ensureReady();
    return this.#agencies.list(page);
  }

  /** Lists the user's agencies, then those of others that the user is a member of. */
  async listAllAgencies(page: PageQuery): Promise<{ agencies: AgencyInfo[]; next?: string }> {
    await this.ensureReady();
    return this.#userAgencies.listAll(page);
  }

  async hasAgency(id: string): Promise<boolean> {
    await this.ensureReady();
    return this.#agencies.find(id) !== undefined;
  }

  async createAgency(options: NewAgency): Promise<AgencyInfo> {
    await this.ensureReady();
    const agency = await this.#userAgencies.create(options);
    this.#notifyChange();
    return agency;
  }

  async deleteAgency(id: string): Promise<void> {
    await this.ensureReady();
    await this.#userAgencies.delete(id);
    this.#notifyChange();
  }

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

  /** Notes that an object has connections of a credential or a membership. Returns whether it is still valid. */
  async addConnectionHolder(hash: string, holder: ConnectionHolder): Promise<boolean> {
    await this.ensureReady();
    if (!this.#holders.mayConnect(hash, holder)) return false;
    this.#connections.add(hash, holder.kind, holder.name);
    const expiresAt = this.#credentials.find(hash)?.expiresAt;
    if (expiresAt) await this.schedule(new Date(expiresAt), "endExpired", expiresAt, { idempotent: true });
    return true;
  }

  async removeConnectionHolder(hash: string, { kind, name }: ConnectionHolder): Promise<void> {
    await this.ensureReady();
    this.#connections.remove(hash, kind, name);
  }

  /** Called by the alarm, which is up to a second early. */
  async endExpired(expiresAt: number): Promise<void> {
    await this.ensureReady();
    await new Promise((resolve) => setTimeout(resolve, Math.min(expiresAt - Date.now() + 1, 2000)));
    await this.#holders.closeInvalid();
  }

  protected override async wake(): Promise<void> {
    await this.#users.settle();
    if (await this.#userAgencies.settle()) this.#notifyChange();
    // An agency that cannot be reached now is updated at the next wake.
    await this.#userAgencies.syncMetered().catch((error: unknown) => console.error("budget sync failed", error));
  }

  async #ensureDefaultAgency(): Promise<void> {
    if (await this.#userAgencies.ensureDefault()) this.#notifyChange();
  }

  #getAgency(id: string) {
    return this.env.Agency.getByName(formatAgencyKey(this.name, id));
  }

  #notifyChange(): void {
    this.setState({ revision: this.state.revision + 1, waiting: this.#inbox.countPending() });
  }
}
