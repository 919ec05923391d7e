import type { Grant, Policy, PolicyRule } from "@thinkery/sdk";

interface GrantRow extends Record<string, SqlStorageValue> {
  id: string;
  tool: string;
  match: string | null;
  agent: string | null;
  granted_by: string;
  created_at: number;
}

const maxGrants = 2000;

/** An agency's rules for all of its agents, and the approvals that were given for good. */
export class AgencyPolicy {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get(): Policy {
    const [row] = this.#sql.exec<{ rules: string }>("SELECT rules FROM policy").toArray();
    return { rules: row ? (JSON.parse(row.rules) as PolicyRule[]) : [] };
  }

  put({ rules }: Policy): void {
    this.#sql.exec(
      "INSERT INTO policy (only, rules) VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET rules = excluded.rules",
      JSON.stringify(rules),
    );
  }

  listGrants(): Grant[] {
    return this.#sql
      .exec<GrantRow>("SELECT * FROM grants ORDER BY created_at, id")
      .toArray()
      .map(({ id, tool, match, agent, granted_by: by, created_at }) => ({
        id,
        tool,
        ...(match === null ? {} : { match }),
        ...(agent === null ? {} : { agent }),
        by,
        createdAt: new Date(created_at).toISOString(),
      }));
  }

  /** Adds grants, once each. The oldest are dropped when there are too many. */
  addGrants(grants: readonly Omit<Grant, "createdAt">[]): void {
    for (const { id, tool, match, agent, by } of grants) {
      this.#sql.exec(
        `INSERT OR IGNORE INTO grants (id, tool, match, agent, granted_by, created_at)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6
         WHERE NOT EXISTS (SELECT 1 FROM grants WHERE tool = ?2 AND match IS ?3 AND agent IS ?4)`,
        id,
        tool,
        match ?? null,
        agent ?? null,
        by,
        Date.now(),
      );
    }
    this.#sql.exec(
      "DELETE FROM grants WHERE id NOT IN (SELECT id FROM grants ORDER BY created_at DESC LIMIT ?)",
      maxGrants,
    );
  }

  /** Returns whether there was one. */
  removeGrant(id: string): boolean {
    return this.#sql.exec("DELETE FROM grants WHERE id = ? RETURNING id", id).toArray().length > 0;
  }

  /** Removes the grants of a deleted agent and of everyone below it. */
  forgetAgent(agent: string): void {
    this.#sql.exec(
      "DELETE FROM grants WHERE agent = ? OR substr(agent, 1, ?) = ?",
      agent,
      agent.length + 1,
      `${agent}/`,
    );
  }
}
