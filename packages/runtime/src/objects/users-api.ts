import {
  fail,
  type ListedUser,
  ownerUser,
  type PageQuery,
  type UserLimits,
  type UserLimitsUpdate,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { RegisteredUser, Users } from "../user/users.ts";
import type { Env } from "./env.ts";

/** Manages the users of a host. Only the object of its owner has it. */
export class UsersApi extends RpcTarget {
  readonly #env: Env;
  readonly #open: () => Promise<{ name: string; users: Users }>;

  constructor(env: Env, open: () => Promise<{ name: string; users: Users }>) {
    super();
    this.#env = env;
    this.#open = open;
  }

  async list(page: PageQuery): Promise<{ users: ListedUser[]; next?: string }> {
    const { users, ...next } = (await this.#openUsers()).list(page);
    return { users: await Promise.all(users.map((user) => this.#describe(user))), ...next };
  }

  async has(name: string): Promise<boolean> {
    return (await this.#openUsers()).has(name);
  }

  /** Returns the user that a misspelled name most likely stands for. */
  async suggest(name: string): Promise<string | undefined> {
    return (await this.#openUsers()).suggest(name);
  }

  async add(name: string, limits: UserLimits): Promise<ListedUser> {
    return this.#describe(await (await this.#openUsers()).add(name, limits));
  }

  /** Adds a user unless there is one. */
  async ensure(name: string): Promise<void> {
    await (await this.#openUsers()).ensure(name);
  }

  async update(name: string, limits: UserLimitsUpdate): Promise<ListedUser> {
    const user = (await this.#openUsers()).get(name);
    await this.#env.User.getByName(name).limits.update(limits);
    return this.#describe(user);
  }

  async remove(name: string): Promise<void> {
    await (await this.#openUsers()).remove(name);
  }

  async #openUsers(): Promise<Users> {
    const { name, users } = await this.#open();
    if (name !== ownerUser) throw fail("forbidden", "Only the host's owner manages users.");
    return users;
  }

  async #describe({ name, createdAt }: RegisteredUser): Promise<ListedUser> {
    const user = this.#env.User.getByName(name);
    const [{ limits }, { agencies, agents, diskBytes }] = await Promise.all([user.describe(), user.getTotals()]);
    return { id: name, name, createdAt, agencies, agents, diskBytes, limits };
  }
}
