import { type Agency, fail, type PageQuery } from "@thinkery/sdk";
import { Registry } from "../store/registry.ts";

interface Row extends Record<string, SqlStorageValue> {
  id: string;
  name: string;
  created_at: number;
}

const maxAgencies = 1000;

/** The agencies of one user. */
export class AgencyRegistry {
  readonly #sql: SqlStorage;
  readonly #user: string;
  readonly #registry: Registry<Row>;

  constructor(sql: SqlStorage, user: string) {
    this.#sql = sql;
    this.#user = user;
    this.#registry = new Registry<Row>(sql, "agencies", "id");
  }

  list(page: PageQuery): { agencies: Agency[]; next?: string } {
    const { rows, ...next } = this.#registry.page(page);
    return { agencies: rows.map((row) => this.#toAgency(row)), ...next };
  }

  find(id: string): Agency | undefined {
    const row = this.#registry.find(id);
    // The id names an object, and those names are case-sensitive: `Review` must not open `review`.
    return row?.state === "ready" && row.id === id ? this.#toAgency(row) : undefined;
  }

  get(id: string): Agency {
    const agency = this.find(id);
    if (!agency) throw fail("not_found", `Agency “${id}” not found.`);
    return agency;
  }

  listIds(): string[] {
    return this.#registry.listNames();
  }

  isFree(id: string): boolean {
    return this.#registry.find(id) === undefined;
  }

  /** Derives an id from a name, or makes one up. */
  findFreeId(name: string | undefined): string {
    const word = (name ?? "agency")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 40);
    const base = word || "agency";
    if (name && this.isFree(base)) return base;
    return `${base}-${crypto.randomUUID().slice(0, 6)}`;
  }

  /** Adds an agency whose object need not be created. */
  adopt(agency: Agency): void {
    this.#registry.reserve(toRow(agency));
    this.#registry.confirm(agency.id);
  }

  async add(agency: Agency, create: (agency: Agency) => Promise<void>): Promise<void> {
    if (this.#registry.count() >= maxAgencies)
      throw fail("conflict", `A user can have at most ${maxAgencies} agencies. Delete those you no longer need.`);
    // A failure most likely means that the name belongs to another user, so there is nothing of ours to delete.
    return this.#registry.add(toRow(agency), () => create(agency), "release");
  }

  rename(id: string, name: string): void {
    this.#sql.exec("UPDATE agencies SET name = ? WHERE id = ?", name, id);
  }

  remove(id: string, erase: (id: string) => Promise<void>): Promise<void> {
    return this.#registry.remove(id, erase);
  }

  settle(create: (agency: Agency) => Promise<void>, erase: (id: string) => Promise<void>): Promise<boolean> {
    return this.#registry.settle((row) => create(this.#toAgency(row)), erase);
  }

  setAgentCount(id: string, agents: number): void {
    this.#sql.exec("UPDATE agencies SET agents = ? WHERE id = ?", agents, id);
  }

  /** Tells every agency whether there is a budget. Repeats if that changes in the meantime. */
  async syncMetered(isMetered: () => boolean, tell: (id: string, metered: boolean) => Promise<void>): Promise<void> {
    for (;;) {
      const metered = isMetered();
      const outdated = this.#listUnsynced(metered);
      if (outdated.length === 0) return;
      await Promise.all(
        outdated.map(async (id) => {
          await tell(id, metered);
          this.markSynced(id, metered);
        }),
      );
    }
  }

  /** Returns the agencies that have not been told yet whether there is a budget. */
  #listUnsynced(metered: boolean): string[] {
    return this.#sql
      .exec<{ id: string }>("SELECT id FROM agencies WHERE state = 'ready' AND metered <> ?", metered ? 1 : 0)
      .toArray()
      .map(({ id }) => id);
  }

  markSynced(id: string, metered: boolean): void {
    this.#sql.exec("UPDATE agencies SET metered = ? WHERE id = ?", metered ? 1 : 0, id);
  }

  getTotals(): { agencies: number; agents: number } {
    return this.#sql
      .exec<{ agencies: number; agents: number }>(
        "SELECT count(*) AS agencies, coalesce(sum(agents), 0) AS agents FROM agencies WHERE state = 'ready'",
      )
      .one();
  }

  #toAgency(row: Row): Agency {
    return {
      id: row.id,
      name: row.name,
      owner: this.#user,
      createdAt: new Date(row.created_at).toISOString(),
    };
  }
}

function toRow(agency: Agency): Row {
  return { id: agency.id, name: agency.name, created_at: Date.parse(agency.createdAt) };
}
