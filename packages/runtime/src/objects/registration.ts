import { type Agent as AgentInfo, fail, type Props } from "@thinkery/sdk";

export interface RegisteredAgent {
  agent: AgentInfo;
  props: Props;
}

/** The agent's record, stored when it was created by its agency or by its parent agent. */
export class Registration {
  readonly #sql: SqlStorage;
  #cached: RegisteredAgent | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Throws if the agent was never created: merely naming an object creates the object. */
  get(): RegisteredAgent {
    return (this.#cached ??= this.#read());
  }

  put(agent: AgentInfo, props: Props | undefined): void {
    const json = props ? JSON.stringify(props) : null;
    this.#sql.exec("INSERT INTO registration (only, agent, props) VALUES (1, ?, ?)", JSON.stringify(agent), json);
  }

  #read(): RegisteredAgent {
    const [row] = this.#sql.exec<{ agent: string; props: string | null }>("SELECT * FROM registration").toArray();
    if (!row) throw fail("not_found", "Agent not found.");
    return { agent: JSON.parse(row.agent) as AgentInfo, props: row.props ? (JSON.parse(row.props) as Props) : {} };
  }
}
