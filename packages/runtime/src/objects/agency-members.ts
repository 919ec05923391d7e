import {
  type Agent,
  fail,
  hasScope,
  isThinkeryError,
  type Member,
  ownerUser,
  type PageQuery,
  type Scope,
  scopes,
  type TeamAgent,
  type UserMember,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import { MemberRegistry } from "../agency/members.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";

interface MembersOptions extends AgencyContext {
  /** Returns what agents do, in their order. */
  describeAgents(agents: readonly Agent[]): Promise<TeamAgent[]>;
}

const maxMembers = 100;

/** The people who may use an agency, and its agents. */
export class AgencyMembers implements AgencyFeature {
  readonly api: MembersApi;
  readonly #options: MembersOptions;
  readonly #registry: MemberRegistry;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(options: MembersOptions) {
    const { env, key, record, storage } = options;
    this.#options = options;
    const openShared = (user: string) => env.User.getByName(user).shared;
    this.#registry = new MemberRegistry(storage.sql, {
      grant: (user, granted) => openShared(user).grant(key, { ...record.get(), scopes: [...granted] }),
      revoke: (user) => openShared(user).revoke(key),
    });
    this.api = new MembersApi(this);
  }

  /** Not awaited: a user's object may be waiting for this one. */
  wake(): void {
    this.#options.waitUntil(this.#change(() => this.#registry.settle()));
  }

  async list({ limit, after }: PageQuery): Promise<{ members: Member[]; next?: string }> {
    await this.#options.open();
    const { agents, describeAgents } = this.#options;
    const people = this.#listPeople();
    const [kind, name = ""] = parsePosition(after);
    const start = kind === "user" ? people.findIndex((person) => person.name === name) + 1 : people.length;
    const members: Member[] = kind === undefined ? people.slice(0, limit) : people.slice(start, start + limit);
    const lastPerson = members.at(-1);
    if (lastPerson && lastPerson.name !== people.at(-1)?.name) return { members, next: `user:${lastPerson.name}` };
    if (members.length === limit) return agents.count() > 0 ? { members, next: "agent:" } : { members };
    const page = agents.list({ limit: limit - members.length, ...(kind === "agent" ? { after: name } : {}) });
    const described = await describeAgents(page.agents);
    members.push(...described.map((agent) => ({ kind: "agent" as const, ...agent })));
    return { members, ...(page.next === undefined ? {} : { next: `agent:${page.next}` }) };
  }

  /** Returns what a user may do as a member; undefined if the user is none, or there is no such agency. */
  getScopes(user: string): readonly Scope[] | undefined {
    return this.#options.record.find() && this.#registry.find(user)?.scopes;
  }

  async put(user: string, granted: readonly Scope[]): Promise<UserMember> {
    await this.#options.open();
    const { env, record } = this.#options;
    if (user === record.owner) throw fail("conflict", `“${user}” owns this agency, and may do everything in it.`);
    const users = env.User.getByName(ownerUser).users;
    if (user !== ownerUser && !(await users.has(user))) throw createMissingError(user, await users.suggest(user));
    return this.#change(async () => {
      if (!this.#registry.find(user) && this.#registry.count() >= maxMembers)
        throw fail("conflict", `An agency can have at most ${maxMembers} members. Remove those who no longer need it.`);
      try {
        await this.#registry.put(user, normalizeScopes(granted));
      } catch (error) {
        // The user was removed from the host a moment ago.
        throw isThinkeryError(error) && error.code === "not_found" ? createMissingError(user) : error;
      } finally {
        this.#publishChange();
      }
      return this.#get(user);
    });
  }

  async remove(user: string): Promise<void> {
    await this.#options.open();
    if (user === this.#options.record.owner) throw fail("conflict", `“${user}” owns this agency.`);
    await this.#change(async () => {
      this.#get(user);
      await this.#registry.remove(user).finally(() => this.#publishChange());
    });
  }

  /** Called by a user's object that is erased. It does not wait for changes, which may wait for that object. */
  forget(user: string): void {
    this.#registry.forget(user);
    this.#publishChange();
  }

  /** Takes the agency away from all members, because it is about to be erased. */
  async removeAll(): Promise<void> {
    await this.#change(() => this.#registry.removeAll());
  }

  /** Tells all members that the agency has another name. */
  async announceName(name: string): Promise<void> {
    const { env, key } = this.#options;
    await Promise.all(this.#registry.list().map((member) => env.User.getByName(member.name).shared.rename(key, name)));
  }

  #listPeople(): UserMember[] {
    const { owner, createdAt } = this.#options.record.get();
    return [
      { kind: "user", name: owner, owner: true, scopes: [...scopes], addedAt: createdAt },
      ...this.#registry.list(),
    ];
  }

  #get(user: string): UserMember {
    const member = this.#registry.find(user);
    if (!member) throw fail("not_found", `“${user}” is not a member of this agency.`);
    return member;
  }

  /** One change at a time: a user's object must hear of them in their order. */
  #change<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#changing.then(change);
    this.#changing = result.catch(() => {});
    return result;
  }

  #publishChange(): void {
    this.#options.publish(() => ({ type: "changed", what: "members" }));
  }
}

export class MembersApi extends RpcTarget {
  readonly #members: AgencyMembers;

  constructor(members: AgencyMembers) {
    super();
    this.#members = members;
  }

  async list(page: PageQuery): Promise<{ members: Member[]; next?: string }> {
    return this.#members.list(page);
  }

  /** Returns what a user may do as a member; undefined if the user is none. */
  async getScopes(user: string): Promise<readonly Scope[] | undefined> {
    return this.#members.getScopes(user);
  }

  async put(user: string, granted: Scope[]): Promise<UserMember> {
    return this.#members.put(user, granted);
  }

  async remove(user: string): Promise<void> {
    await this.#members.remove(user);
  }

  /** Called by the object of a user who is removed from the host. */
  async forget(user: string): Promise<void> {
    this.#members.forget(user);
  }
}

/** Every member may read: to approve something, one has to see it. */
function normalizeScopes(granted: readonly Scope[]): Scope[] {
  return scopes.filter((scope) => granted.includes(scope) || (scope === "read" && !hasScope(granted, "read")));
}

function createMissingError(user: string, suggestion?: string): Error {
  const question = suggestion === undefined ? "" : ` Did you mean “${suggestion}”?`;
  const details = suggestion === undefined ? undefined : { suggestion };
  return fail("not_found", `There is no user “${user}” on this host.${question}`, details);
}

/** Parses the `next` of a page, such as `user:bob`. */
function parsePosition(after: string | undefined): [kind?: "user" | "agent", name?: string] {
  if (after === undefined) return [];
  const [, kind, name = ""] = /^(user|agent):(.*)$/s.exec(after) ?? [];
  if (kind === "user" || kind === "agent") return [kind, name];
  throw fail("bad_request", "“after” is not the `next` of an earlier page.");
}
