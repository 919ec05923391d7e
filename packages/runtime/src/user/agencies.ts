import { type Agency, fail, type PageQuery } from "@thinkery/sdk";

interface Row extends Record<string, SqlStorageValue> {
  id: string;
  name: string;
  created_at: number;
  agents: number;
  state: string;
}

/** The agencies of one user. */
export class AgencyRegistry {
  readonly #sql: SqlStorage;
  readonly #user: string;

  constructor(sql: SqlStorage, user: string) {
    this.#sql = sql;
    this.#user = user;
  }

  list({ limit, after = "" }: PageQuery): { agencies: Agency[]; next?: string } {
    const rows = this.#sql
      .exec<Row>("SELECT * FROM agencies WHERE state = 'ready' AND id > ? ORDER BY id LIMIT ?", after, limit + 1)
      .toArray();
    const agencies = rows.slice(0, limit).map((row) => this.#agency(row));
    const last = agencies.at(-1);
    return rows.length > limit && last ? { agencies, next: last.id } : { agencies };
  }

  find(id: string): Agency | undefined {
    const row = this.#row(id);
    // The id is an object's name, where case counts: `Review` must not open `review`.
    return row?.state === "ready" && row.id === id ? this.#agency(row) : undefined;
  }

  get(id: string): Agency {
    const agency = this.find(id);
    if (!agency) throw fail("not_found", `You have no agency “${id}”.`);
    return agency;
  }

  isFree(id: string): boolean {
    return this.#row(id) === undefined;
  }

  reserve(agency: Agency): void {
    this.#sql.exec(
      "INSERT INTO agencies (id, name, created_at, state) VALUES (?, ?, ?, 'creating')",
      agency.id,
      agency.name,
      Date.parse(agency.createdAt),
    );
  }

  settle(id: string): void {
    this.#sql.exec("UPDATE agencies SET state = 'ready' WHERE id = ? AND state = 'creating'", id);
  }

  condemn(id: string): void {
    this.#sql.exec("UPDATE agencies SET state = 'deleting' WHERE id = ?", id);
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM agencies WHERE id = ?", id);
  }

  noteAgents(id: string, agents: number): void {
    this.#sql.exec("UPDATE agencies SET agents = ? WHERE id = ?", agents, id);
  }

  totals(): { agencies: number; agents: number } {
    return this.#sql
      .exec<{ agencies: number; agents: number }>(
        "SELECT count(*) AS agencies, coalesce(sum(agents), 0) AS agents FROM agencies WHERE state = 'ready'",
      )
      .one();
  }

  unsettled(): { creating: Agency[]; deleting: string[] } {
    const rows = this.#sql.exec<Row>("SELECT * FROM agencies WHERE state <> 'ready'").toArray();
    return {
      creating: rows.filter((row) => row.state === "creating").map((row) => this.#agency(row)),
      deleting: rows.filter((row) => row.state === "deleting").map((row) => row.id),
    };
  }

  #row(id: string): Row | undefined {
    return this.#sql.exec<Row>("SELECT * FROM agencies WHERE id = ?", id).toArray()[0];
  }

  #agency(row: Row): Agency {
    return {
      id: row.id,
      name: row.name,
      owner: this.#user,
      createdAt: new Date(row.created_at).toISOString(),
    };
  }
}
