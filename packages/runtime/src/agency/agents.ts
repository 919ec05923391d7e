import { type Agent, fail, type PageQuery } from "@thinkery/sdk";

interface Row extends Record<string, SqlStorageValue> {
  name: string;
  blueprint: string;
  driver: string;
  model: string | null;
  system: string | null;
  props: string | null;
  owner: string;
  created_at: number;
  state: string;
}

/** An agent with what only its own object needs to know. */
export interface Registration {
  agent: Agent;
  props?: Record<string, unknown>;
}

/** The agents of one agency. A row outlives any crash between it and the agent's own object; see `unsettled`. */
export class AgentRegistry {
  readonly #sql: SqlStorage;
  readonly #agency: string;

  constructor(sql: SqlStorage, agency: string) {
    this.#sql = sql;
    this.#agency = agency;
  }

  list({ limit, after = "" }: PageQuery): { agents: Agent[]; next?: string } {
    const rows = this.#sql
      .exec<Row>("SELECT * FROM agents WHERE state = 'ready' AND name > ? ORDER BY name LIMIT ?", after, limit + 1)
      .toArray();
    const agents = rows.slice(0, limit).map((row) => this.#agent(row));
    const last = agents.at(-1);
    return rows.length > limit && last ? { agents, next: last.name } : { agents };
  }

  find(name: string): Agent | undefined {
    const row = this.#row(name);
    return row?.state === "ready" ? this.#agent(row) : undefined;
  }

  get(name: string): Agent {
    const agent = this.find(name);
    if (!agent) throw fail("not_found", `There is no agent “${name}” in ${this.#agency}.`);
    return agent;
  }

  count(): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM agents WHERE state = 'ready'").one().n;
  }

  isFree(name: string): boolean {
    return this.#row(name) === undefined;
  }

  /** First half of a creation: the name is taken, durably, before the agent's object hears of it. */
  reserve({ agent, props }: Registration): void {
    this.#sql.exec(
      "INSERT INTO agents (name, blueprint, driver, model, system, props, owner, created_at, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'creating')",
      agent.name,
      agent.blueprint,
      agent.driver,
      agent.model ?? null,
      agent.system ?? null,
      props ? JSON.stringify(props) : null,
      agent.owner,
      Date.parse(agent.createdAt),
    );
  }

  settle(name: string): void {
    this.#sql.exec("UPDATE agents SET state = 'ready' WHERE name = ? AND state = 'creating'", name);
  }

  condemn(name: string): void {
    this.#sql.exec("UPDATE agents SET state = 'deleting' WHERE name = ?", name);
  }

  remove(name: string): void {
    this.#sql.exec("DELETE FROM agents WHERE name = ?", name);
  }

  names(): string[] {
    return this.#sql.exec<{ name: string }>("SELECT name FROM agents").toArray().map((row) => row.name);
  }

  /** What a crash left between two objects: creations to finish and deletions to carry out. */
  unsettled(): { creating: Registration[]; deleting: string[] } {
    const rows = this.#sql.exec<Row>("SELECT * FROM agents WHERE state <> 'ready'").toArray();
    return {
      creating: rows
        .filter((row) => row.state === "creating")
        .map((row) => ({ agent: this.#agent(row), ...(row.props ? { props: JSON.parse(row.props) } : {}) })),
      deleting: rows.filter((row) => row.state === "deleting").map((row) => row.name),
    };
  }

  #row(name: string): Row | undefined {
    return this.#sql.exec<Row>("SELECT * FROM agents WHERE name = ?", name).toArray()[0];
  }

  #agent(row: Row): Agent {
    return {
      id: row.name,
      name: row.name,
      agency: this.#agency,
      blueprint: row.blueprint,
      driver: row.driver as Agent["driver"],
      ...(row.model ? { model: row.model } : {}),
      ...(row.system ? { system: row.system } : {}),
      owner: row.owner,
      createdAt: new Date(row.created_at).toISOString(),
    };
  }
}
