import { fail, ownerUser, type PageQuery, type UserLimits } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { Registry } from "../store/registry.ts";

interface Row extends Record<string, SqlStorageValue> {
  name: string;
  created_at: number;
  limits: string;
}

export interface RegisteredUser {
  name: string;
  createdAt: string;
  /** Those it was added with. The current ones are in the user's own object. */
  limits: UserLimits;
}

/** How a user's own object is set up and erased. */
export interface UserObjects {
  create(user: RegisteredUser): Promise<void>;
  erase(name: string): Promise<void>;
}

/** The users of a host, in the object of its owner. */
export class Users {
  readonly #registry: Registry<Row>;
  readonly #objects: UserObjects;
  /** Users that are being added because something is created for them. */
  readonly #ensuring = new Map<string, Promise<unknown>>();

  constructor(sql: SqlStorage, objects: UserObjects) {
    this.#registry = new Registry<Row>(sql, "users", "name");
    this.#objects = objects;
  }

  list(page: PageQuery): { users: RegisteredUser[]; next?: string } {
    const { rows, ...next } = this.#registry.page(page);
    return { users: rows.map(toUser), ...next };
  }

  async add(name: string, limits: UserLimits): Promise<RegisteredUser> {
    const existing = this.#registry.find(name);
    if (existing || name.toLowerCase() === ownerUser)
      throw fail("conflict", `User “${existing?.name ?? ownerUser}” already exists. Names are case-insensitive.`);
    const row = { name, created_at: Date.now(), limits: JSON.stringify(limits) };
    await this.#registry.add(row, () => this.#objects.create(toUser(row)), "delete");
    return toUser(row);
  }

  /** Adds a user unless there is one. */
  async ensure(name: string): Promise<void> {
    if (this.has(name)) return;
    const ensuring = this.#ensuring.get(name) ?? this.add(name, {}).finally(() => this.#ensuring.delete(name));
    this.#ensuring.set(name, ensuring);
    await ensuring;
  }

  has(name: string): boolean {
    const row = this.#registry.find(name);
    return row?.state === "ready" && row.name === name;
  }

  /** Returns the user that a misspelled name most likely stands for. */
  suggest(name: string): string | undefined {
    return findNearest(name, [ownerUser, ...this.#registry.listNames().filter((other) => this.has(other))]);
  }

  get(name: string): RegisteredUser {
    if (name === ownerUser) throw fail("conflict", "The host's owner has no limits.");
    const row = this.#registry.find(name);
    if (!row || !this.has(name)) throw fail("not_found", `User “${name}” not found.`);
    return toUser(row);
  }

  async remove(name: string): Promise<void> {
    if (name === ownerUser) throw fail("conflict", "The host's owner cannot be removed.");
    if (this.#registry.find(name)?.name !== name) throw fail("not_found", `User “${name}” not found.`);
    await this.#registry.remove(name, this.#objects.erase);
  }

  settle(): Promise<boolean> {
    return this.#registry.settle((row) => this.#objects.create(toUser(row)), this.#objects.erase);
  }
}

function toUser({ name, created_at: createdAt, limits }: Row): RegisteredUser {
  return { name, createdAt: new Date(createdAt).toISOString(), limits: JSON.parse(limits) as UserLimits };
}
