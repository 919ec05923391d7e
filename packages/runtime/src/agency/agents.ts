import { type Agent, fail, type PageQuery, type Props } from "@thinkery/sdk";
import { Registry } from "../store/registry.ts";

interface Row extends Record<string, SqlStorageValue> {
  name: string;
  blueprint: string;
  /** Empty if the agent has none of its own: the column is older than drivers in blueprints. */
  driver: string;
  model: string | null;
  system: string | null;
  props: string | null;
  owner: string;
  created_at: number;
}

/** An agent with the data that only its own object needs. */
export interface AgentRegistration {
  agent: Agent;
  props?: Props;
}

type Register = (registration: AgentRegistration) => Promise<void>;
type Erase = (name: string) => Promise<void>;

/** The agents of one agency. */
export class AgentRegistry {
  readonly #sql: SqlStorage;
  readonly #agency: string;
  readonly #registry: Registry<Row>;

  constructor(sql: SqlStorage, agency: string) {
    this.#sql = sql;
    this.#agency = agency;
    this.#registry = new Registry<Row>(sql, "agents", "name");
  }

  list(page: PageQuery): { agents: Agent[]; next?: string } {
    const { rows, ...next } = this.#registry.page(page);
    return { agents: rows.map((row) => this.#toAgent(row)), ...next };
  }

  find(name: string): Agent | undefined {
    const row = this.#registry.find(name);
    return row?.state === "ready" ? this.#toAgent(row) : undefined;
  }

  /** Returns an agent's name as it is written, without reading anything else. */
  findName(name: string): string | undefined {
    const query = "SELECT name FROM agents WHERE name = ? AND state = 'ready'";
    return this.#sql.exec<{ name: string }>(query, name).toArray()[0]?.name;
  }

  /** Returns the name of an agent's blueprint, without reading anything else. */
  findBlueprint(name: string): string | undefined {
    const query = "SELECT blueprint FROM agents WHERE name = ? AND state = 'ready'";
    return this.#sql.exec<{ blueprint: string }>(query, name).toArray()[0]?.blueprint;
  }

  get(name: string): Agent {
    const agent = this.find(name);
    if (!agent) throw fail("not_found", `Agent “${name}” not found in ${this.#agency}.`);
    return agent;
  }

  count(): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM agents WHERE state = 'ready'").one().n;
  }

  isFree(name: string): boolean {
    return this.#registry.find(name) === undefined;
  }

  /** Returns a name that no agent has. */
  createFreeName(prefix: string): string {
    for (;;) {
      const name = `${prefix}-${crypto.randomUUID().slice(0, 6)}`;
      if (this.isFree(name)) return name;
    }
  }

  /** Throws if an agent has this name, or one that differs only in case. */
  checkFree(name: string): void {
    if (this.isFree(name)) return;
    const existing = this.find(name)?.name ?? name;
    const detail = existing === name ? "" : `, and “${name}” differs from it only in case`;
    throw fail("conflict", `Agent “${existing}” already exists in ${this.#agency}${detail}.`);
  }

  listByBlueprint(blueprint: string, limit: number): string[] {
    const query = "SELECT name FROM agents WHERE blueprint = ? AND state = 'ready' ORDER BY name LIMIT ?";
    return this.#sql
      .exec<{ name: string }>(query, blueprint, limit)
      .toArray()
      .map(({ name }) => name);
  }

  /** Returns one agent of each blueprint. */
  listOnePerBlueprint(limit: number): string[] {
    return this.#sql
      .exec<{ name: string }>(
        "SELECT min(name) AS name FROM agents WHERE state = 'ready' GROUP BY blueprint ORDER BY blueprint LIMIT ?",
        limit,
      )
      .toArray()
      .map(({ name }) => name);
  }

  listNames(): string[] {
    return this.#registry.listNames();
  }

  /** Returns the names of the agents that exist, without those that are being created or deleted. */
  listReadyNames(): string[] {
    return this.#sql
      .exec<{ name: string }>("SELECT name FROM agents WHERE state = 'ready' ORDER BY name")
      .toArray()
      .map(({ name }) => name);
  }

  add({ agent, props }: AgentRegistration, register: Register): Promise<void> {
    const row = {
      name: agent.name,
      blueprint: agent.blueprint,
      driver: agent.driver ?? "",
      model: agent.model ?? null,
      system: agent.system ?? null,
      props: props ? JSON.stringify(props) : null,
      owner: agent.owner,
      created_at: Date.parse(agent.createdAt),
    };
    return this.#registry.add(row, () => register({ agent, ...(props ? { props } : {}) }), "delete");
  }

  remove(name: string, erase: Erase): Promise<void> {
    return this.#registry.remove(name, erase);
  }

  settle(register: Register, erase: Erase): Promise<boolean> {
    const registerAgain = (row: Row) =>
      register({ agent: this.#toAgent(row), ...(row.props ? { props: JSON.parse(row.props) as Props } : {}) });
    return this.#registry.settle(registerAgain, erase);
  }

  #toAgent(row: Row): Agent {
    return {
      id: row.name,
      name: row.name,
      agency: this.#agency,
      blueprint: row.blueprint,
      ...(row.driver ? { driver: row.driver } : {}),
      ...(row.model ? { model: row.model } : {}),
      ...(row.system ? { system: row.system } : {}),
      owner: row.owner,
      createdAt: new Date(row.created_at).toISOString(),
    };
  }
}
