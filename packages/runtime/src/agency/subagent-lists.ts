import type { SubagentSummary } from "@thinkery/sdk";

type StoredSummary = Omit<SubagentSummary, "subagents">;

/** The sub-agents of the agents of one agency, as each parent last sent them. Only for lists. */
export class SubagentLists {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Replaces the list of a parent, which is an agent or a path such as `alice/subagent-x`. */
  put(parent: string, summaries: readonly StoredSummary[]): void {
    const names = new Set(summaries.map(({ name }) => name));
    for (const row of this.#readBelow(parent)) {
      const child = row.parent.slice(parent.length + 1).split("/", 1)[0] ?? "";
      // Deleted sub-agents cannot say that theirs are gone, too.
      if (row.parent !== parent && !names.has(child))
        this.#sql.exec("DELETE FROM subagent_lists WHERE parent = ?", row.parent);
    }
    if (summaries.length === 0) this.#sql.exec("DELETE FROM subagent_lists WHERE parent = ?", parent);
    else
      this.#sql.exec(
        "INSERT INTO subagent_lists (parent, subagents) VALUES (?, ?) ON CONFLICT DO UPDATE SET subagents = excluded.subagents",
        parent,
        JSON.stringify(summaries),
      );
  }

  remove(agent: string): void {
    this.put(agent, []);
  }

  /** Returns the sub-agents of an agent, newest first, each with its own. */
  list(agent: string): SubagentSummary[] {
    const rows = this.#readBelow(agent);
    if (rows.length === 0) return [];
    const lists = new Map(rows.map((row) => [row.parent, JSON.parse(row.subagents) as StoredSummary[]]));
    const build = (parent: string): SubagentSummary[] =>
      (lists.get(parent) ?? []).map((summary) => {
        const subagents = build(`${parent}/${summary.name}`);
        return subagents.length > 0 ? { ...summary, subagents } : summary;
      });
    return build(agent);
  }

  #readBelow(agent: string): { parent: string; subagents: string }[] {
    return this.#sql
      .exec<{ parent: string; subagents: string }>(
        // “0” comes after “/”: this is the range of all paths below the agent.
        "SELECT parent, subagents FROM subagent_lists WHERE parent = ? OR (parent > ? AND parent < ?)",
        agent,
        `${agent}/`,
        `${agent}0`,
      )
      .toArray();
  }
}
