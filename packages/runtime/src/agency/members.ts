import type { Scope, UserMember } from "@thinkery/sdk";
import { Registry } from "../store/registry.ts";

interface Row extends Record<string, SqlStorageValue> {
  name: string;
  scopes: string;
  added_at: number;
}

/** How a user's own object is told that it may use the agency, and that it may not any more. Both may be repeated. */
export interface MemberObjects {
  grant(name: string, scopes: readonly Scope[]): Promise<void>;
  revoke(name: string): Promise<void>;
}

/**
 * The users whom the owner of an agency lets use it. Their own objects know it as well. A user has access only if both
 * say so, so that whichever hears of a removal first ends it.
 */
export class MemberRegistry {
  readonly #sql: SqlStorage;
  readonly #objects: MemberObjects;
  readonly #registry: Registry<Row>;

  constructor(sql: SqlStorage, objects: MemberObjects) {
    this.#sql = sql;
    this.#objects = objects;
    this.#registry = new Registry<Row>(sql, "members", "name");
  }

  list(): UserMember[] {
    return this.#sql.exec<Row>("SELECT * FROM members WHERE state <> 'deleting' ORDER BY name").toArray().map(toMember);
  }

  find(name: string): UserMember | undefined {
    const row = this.#registry.find(name);
    return row && row.state !== "deleting" ? toMember(row) : undefined;
  }

  count(): number {
    return this.#registry.count();
  }

  /** Adds a member, or changes what one may do. If a crash comes in between, `settle` finishes it. */
  async put(name: string, scopes: readonly Scope[]): Promise<void> {
    if (this.#registry.find(name)) {
      this.#sql.exec("UPDATE members SET scopes = ?, state = 'creating' WHERE name = ?", scopes.join(" "), name);
    } else {
      this.#registry.reserve({ name, scopes: scopes.join(" "), added_at: Date.now() });
    }
    try {
      await this.#objects.grant(name, scopes);
    } catch (error) {
      // Nobody knows whether it arrived, so it is taken back.
      await this.remove(name);
      throw error;
    }
    this.#registry.confirm(name);
  }

  remove(name: string): Promise<void> {
    return this.#registry.remove(name, () => this.#objects.revoke(name));
  }

  /** Removes a member whose own object knows already. */
  forget(name: string): void {
    this.#sql.exec("DELETE FROM members WHERE name = ?", name);
  }

  async removeAll(): Promise<void> {
    for (const name of this.#registry.listNames()) await this.remove(name);
  }

  /** Finishes what a crash has interrupted. */
  async settle(): Promise<void> {
    await this.#registry.settle(
      ({ name, scopes }) => this.put(name, parseScopes(scopes)),
      (name) => this.#objects.revoke(name),
    );
  }
}

const parseScopes = (text: string) => text.split(" ") as Scope[];

function toMember({ name, scopes, added_at }: Row): UserMember {
  return { kind: "user", name, scopes: parseScopes(scopes), addedAt: new Date(added_at).toISOString() };
}
