import { type Agency, hasScope, type PageQuery, parseAgencyRef, parseAgencyKey, type Scope } from "@thinkery/sdk";

interface Row extends Record<string, SqlStorageValue> {
  ref: string;
  name: string;
  created_at: number;
  scopes: string;
}

/** An agency of another user, and what its members may do there. */
export type SharedAgency = Pick<Agency, "name" | "createdAt"> & { scopes: readonly Scope[] };

const maxShared = 200;

/** The agencies of others that a user is a member of. Agencies are given by their keys. */
export class SharedAgencies {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns a page, in the order of what members call them: `review@bob`. */
  list({ limit, after = "" }: PageQuery): { agencies: Agency[]; next?: string } {
    const rows = this.#sql
      .exec<Row>("SELECT * FROM shared_agencies WHERE ref > ? ORDER BY ref LIMIT ?", after, limit + 1)
      .toArray();
    const agencies = rows.slice(0, limit).map(toAgency);
    const last = agencies.at(-1);
    return rows.length > limit && last ? { agencies, next: last.id } : { agencies };
  }

  /** Returns the keys of all of them. */
  listKeys(): string[] {
    return this.#listRows().map(({ ref }) => toKey(ref));
  }

  /** Returns the keys of those where the user has a scope. */
  listKeysWith(scope: Scope): string[] {
    return this.#listRows()
      .filter((row) => hasScope(parseScopes(row), scope))
      .map(({ ref }) => toKey(ref));
  }

  getScopes(key: string): Scope[] | undefined {
    const [row] = this.#sql.exec<Row>("SELECT * FROM shared_agencies WHERE ref = ?", toRef(key)).toArray();
    return row && parseScopes(row);
  }

  /** Returns whether there is room for it. */
  hasRoom(key: string): boolean {
    return this.getScopes(key) !== undefined || this.#listRows().length < maxShared;
  }

  put(key: string, { name, createdAt, scopes }: SharedAgency): void {
    this.#sql.exec(
      `INSERT INTO shared_agencies (ref, name, created_at, scopes) VALUES (?, ?, ?, ?)
       ON CONFLICT (ref) DO UPDATE SET name = excluded.name, created_at = excluded.created_at, scopes = excluded.scopes`,
      toRef(key),
      name,
      Date.parse(createdAt),
      scopes.join(" "),
    );
  }

  rename(key: string, name: string): void {
    this.#sql.exec("UPDATE shared_agencies SET name = ? WHERE ref = ?", name, toRef(key));
  }

  remove(key: string): void {
    this.#sql.exec("DELETE FROM shared_agencies WHERE ref = ?", toRef(key));
  }

  #listRows(): Row[] {
    return this.#sql.exec<Row>("SELECT * FROM shared_agencies ORDER BY ref").toArray();
  }
}

const parseScopes = ({ scopes }: Row) => scopes.split(" ") as Scope[];

/** Always with its user, also for agencies of the host's owner. */
function toRef(key: string): string {
  const { id, user } = parseAgencyKey(key);
  return `${id}@${user}`;
}

/** No agency here is one of the user's own, so it does not matter who reads the reference. */
const toKey = (ref: string) => parseAgencyRef("", ref).key;

function toAgency(row: Row): Agency {
  const { ref, name, created_at } = row;
  const { user: owner } = parseAgencyRef("", ref);
  return { id: ref, name, owner, createdAt: new Date(created_at).toISOString(), scopes: parseScopes(row) };
}
