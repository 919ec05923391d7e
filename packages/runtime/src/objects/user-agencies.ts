import {
  type Agency as AgencyInfo,
  fail,
  formatAgencyKey,
  getDefaultAgency,
  type NewAgency,
  type PageQuery,
} from "@thinkery/sdk";
import type { UsageTotals } from "../store/usage-totals.ts";
import type { AgencyRegistry } from "../user/agencies.ts";
import type { Inbox } from "../user/inbox.ts";
import type { Limits } from "../user/limits.ts";
import type { SharedAgencies } from "../user/shared-agencies.ts";
import type { Workflows } from "../user/workflows.ts";
import type { Env } from "./env.ts";

interface UserAgenciesOptions {
  env: Env;
  user: string;
  registry: AgencyRegistry;
  shared: SharedAgencies;
  usage: UsageTotals;
  limits: Limits;
  inbox: Inbox;
  workflows: Workflows;
}

/** Creates, lists and deletes the agencies of a user. */
export class UserAgencies {
  readonly #options: UserAgenciesOptions;

  constructor(options: UserAgenciesOptions) {
    this.#options = options;
  }

  /** Lists the user's agencies, then those of others that the user is a member of. */
  listAll(page: PageQuery): { agencies: AgencyInfo[]; next?: string } {
    const { registry, shared } = this.#options;
    const { limit, after } = page;
    const isInShared = after?.includes("@") === true;
    const own: { agencies: AgencyInfo[]; next?: string } = isInShared ? { agencies: [] } : registry.list(page);
    if (own.next !== undefined) return own;
    const free = limit - own.agencies.length;
    const others = shared.list({ limit: Math.max(free, 1), ...(isInShared ? { after } : {}) });
    if (free > 0) return { ...others, agencies: [...own.agencies, ...others.agencies] };
    const last = own.agencies.at(-1);
    return last && others.agencies.length > 0 ? { ...own, next: last.id } : own;
  }

  async create(options: NewAgency): Promise<AgencyInfo> {
    const { registry, user } = this.#options;
    const id = options.id ?? registry.findFreeId(options.name);
    if (!registry.isFree(id)) throw fail("conflict", `Agency “${id}” already exists. Ids are case-insensitive.`);
    const agency = { id, name: options.name ?? id, owner: user, createdAt: new Date().toISOString() };
    await registry.add(agency, this.#setUp);
    return agency;
  }

  async delete(id: string): Promise<void> {
    const { registry, user } = this.#options;
    if (id === getDefaultAgency(user)) throw fail("conflict", `The default agency “${id}” cannot be deleted.`);
    await registry.remove(registry.get(id).id, this.#erase);
  }

  async deleteAll(): Promise<void> {
    const { registry } = this.#options;
    for (const id of registry.listIds()) await registry.remove(id, this.#erase);
  }

  /** Everyone who can log in has an agency that `/agents` means. Returns whether it was created now. */
  async ensureDefault(): Promise<boolean> {
    const id = getDefaultAgency(this.#options.user);
    if (!this.#options.registry.isFree(id)) return false;
    await this.create({ id });
    return true;
  }

  /** Finishes every creation and deletion that a crash interrupted; returns whether there were any. */
  settle(): Promise<boolean> {
    return this.#options.registry.settle(this.#setUp, this.#erase);
  }

  /** Tells every agency whether the user has a budget. */
  syncMetered(): Promise<void> {
    const { registry, usage } = this.#options;
    const isMetered = () => usage.budget !== undefined;
    return registry.syncMetered(isMetered, (id, metered) => this.#open(id).setMetered(metered));
  }

  readonly #setUp = async (agency: AgencyInfo): Promise<void> => {
    const { registry, usage } = this.#options;
    const metered = usage.budget !== undefined;
    await this.#open(agency.id).setUp(agency, metered);
    registry.markSynced(agency.id, metered);
  };

  readonly #erase = async (id: string): Promise<void> => {
    const { user, usage, limits, inbox, workflows } = this.#options;
    const agency = this.#open(id);
    const last = await agency.retire();
    if (last) usage.applyReport(last);
    await agency.erase();
    const key = formatAgencyKey(user, id);
    limits.forgetAgencyDiskUsage(key);
    inbox.forget(`${key}~`);
    workflows.forgetRun(id);
  };

  #open(id: string) {
    const { env, user } = this.#options;
    return env.Agency.getByName(formatAgencyKey(user, id));
  }
}
