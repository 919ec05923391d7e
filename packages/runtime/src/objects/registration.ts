import { type Agent as AgentInfo, fail, type Props } from "@thinkery/sdk";

export interface RegisteredAgent {
  agent: AgentInfo;
  props: Props;
}

/** What the agent was told about itself when it was created: by its agency, or by the agent that it works for. */
export class Registration {
  readonly #sql: SqlStorage;
  #cached: RegisteredAgent | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Throws if there is no such agent: merely naming an object creates one. */
  get(): RegisteredAgent {
    return (this.#cached ??= this.#read());
  }

  put(agent: AgentInfo, props: Props | undefined): void {
    const json = props ? JSON.stringify(props) : null;
    this.#sql.exec("INSERT INTO registration (only, agent, props) VALUES (1, ?, ?)", JSON.stringify(agent), json);
  }

  #read(): RegisteredAgent {
    const [row] = this.#sql.exec<{ agent: string; props: string | null }>("SELECT * FROM registration").toArray();
    if (!row) throw fail("not_found", "There is no such agent.");
    return { agent: JSON.parse(row.agent) as AgentInfo, props: row.props ? (JSON.parse(row.props) as Props) : {} };
  }
}
