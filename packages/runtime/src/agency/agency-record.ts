import { type Agency, fail, globalAgency, ownerUser, parseAgencyKey } from "@thinkery/sdk";
import { bumpRevision } from "./revision.ts";

interface Row extends Record<string, SqlStorageValue> {
  id: string;
  name: string;
  owner: string;
  created_at: number;
  deleting: number;
  metered: number;
}

/** An agency's own record: its owner, when it was created, and whether its owner has a budget. */
export class AgencyRecord {
  readonly #sql: SqlStorage;
  readonly #key: string;

  constructor(sql: SqlStorage, key: string) {
    this.#sql = sql;
    this.#key = key;
  }

  /** Returns undefined before it is created and while it is deleted. The global agency is created on first access. */
  find(): Agency | undefined {
    const row = this.#readRow();
    if (row?.deleting) return undefined;
    if (row) return { id: row.id, name: row.name, owner: row.owner, createdAt: new Date(row.created_at).toISOString() };
    if (this.#key !== globalAgency) return undefined;
    return this.#write({ id: globalAgency, name: "Global", owner: ownerUser, createdAt: new Date().toISOString() });
  }

  get(): Agency {
    const agency = this.find();
    if (!agency) throw fail("not_found", `Agency “${parseAgencyKey(this.#key).id}” not found.`);
    return agency;
  }

  create(agency: Agency): Agency {
    const existing = this.find();
    if (existing && existing.owner !== agency.owner) throw fail("conflict", `The name “${agency.id}” is taken.`);
    return existing ?? this.#write(agency);
  }

  rename(name: string): void {
    this.#sql.exec("UPDATE agency SET name = ?", name);
  }

  /** Hides the agency from now on; returns whether it existed. */
  markDeleting(): boolean {
    this.#sql.exec("UPDATE agency SET deleting = 1");
    return this.#readRow() !== undefined;
  }

  get owner(): string {
    return this.#readRow()?.owner ?? ownerUser;
  }

  get createdAt(): number {
    return this.#readRow()?.created_at ?? 0;
  }

  /** Whether its owner has a budget. */
  get isMetered(): boolean {
    return this.#readRow()?.metered === 1;
  }

  set isMetered(metered: boolean) {
    this.#sql.exec("UPDATE agency SET metered = ?", metered ? 1 : 0);
    bumpRevision(this.#key);
  }

  #write(agency: Agency): Agency {
    this.#sql.exec(
      "INSERT INTO agency (only, id, name, owner, created_at) VALUES (1, ?, ?, ?, ?)",
      agency.id,
      agency.name,
      agency.owner,
      Date.parse(agency.createdAt),
    );
    return agency;
  }

  #readRow(): Row | undefined {
    return this.#sql.exec<Row>("SELECT * FROM agency").toArray()[0];
  }
}
