import { type Agency, fail, type PageQuery } from "@thinkery/sdk";
import { Roster } from "../store/roster.ts";

interface Row extends Record<string, SqlStorageValue> {
  id: string;
  name: string;
  created_at: number;
}

/** The agencies of one user. */
export class AgencyRegistry {
  readonly #sql: SqlStorage;
  readonly #user: string;
  readonly #roster: Roster<Row>;

  constructor(sql: SqlStorage, user: string) {
    this.#sql = sql;
    this.#user = user;
    this.#roster = new Roster<Row>(sql, "agencies", "id");
  }

  list(page: PageQuery): { agencies: Agency[]; next?: string } {
    const { rows, ...next } = this.#roster.page(page);
    return { agencies: rows.map((row) => this.#agency(row)), ...next };
  }

  find(id: string): Agency | undefined {
    const row = this.#roster.row(id);
    // The id is an object's name, where case counts: `Review` must not open `review`.
    return row?.state === "ready" && row.id === id ? this.#agency(row) : undefined;
  }

  get(id: string): Agency {
    const agency = this.find(id);
    if (!agency) throw fail("not_found", `You have no agency “${id}”.`);
    return agency;
  }

  isFree(id: string): boolean {
    return this.#roster.row(id) === undefined;
  }

  /** One that needs no founding: it is ours from the start. */
  adopt(agency: Agency): void {
    this.#roster.reserve(rowOf(agency));
    this.#roster.confirm(agency.id);
  }

  add(agency: Agency, found: (agency: Agency) => Promise<void>): Promise<void> {
    // Refused, most likely because the name is somebody else's: nothing of ours is there to delete.
    return this.#roster.add(rowOf(agency), () => found(agency), "give back");
  }

  remove(id: string, dissolve: (id: string) => Promise<void>): Promise<void> {
    return this.#roster.drop(id, dissolve);
  }

  settle(found: (agency: Agency) => Promise<void>, dissolve: (id: string) => Promise<void>): Promise<boolean> {
    return this.#roster.settle((row) => found(this.#agency(row)), dissolve);
  }

  noteAgents(id: string, agents: number): void {
    this.#sql.exec("UPDATE agencies SET agents = ? WHERE id = ?", agents, id);
  }

  /** Those that were not told yet whether there is a budget. */
  untold(metered: boolean): string[] {
    return this.#sql
      .exec<{ id: string }>("SELECT id FROM agencies WHERE state = 'ready' AND metered <> ?", metered ? 1 : 0)
      .toArray()
      .map(({ id }) => id);
  }

  told(id: string, metered: boolean): void {
    this.#sql.exec("UPDATE agencies SET metered = ? WHERE id = ?", metered ? 1 : 0, id);
  }

  totals(): { agencies: number; agents: number } {
    return this.#sql
      .exec<{ agencies: number; agents: number }>(
        "SELECT count(*) AS agencies, coalesce(sum(agents), 0) AS agents FROM agencies WHERE state = 'ready'",
      )
      .one();
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

function rowOf(agency: Agency): Row {
  return { id: agency.id, name: agency.name, created_at: Date.parse(agency.createdAt) };
}
