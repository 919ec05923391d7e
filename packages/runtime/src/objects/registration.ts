import { type Agent as AgentInfo, fail, type Props } from "@thinkery/sdk";
import type { Assignment } from "./subagents/assignment.ts";

export interface RegisteredAgent {
  agent: AgentInfo;
  props: Props;
  /** What a sub-agent works on. */
  assignment?: Assignment;
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

  put(agent: AgentInfo, props: Props | undefined, assignment?: Assignment): void {
    const json = props ? JSON.stringify(props) : null;
    this.#sql.exec(
      "INSERT INTO registration (only, agent, props, assignment) VALUES (1, ?, ?, ?)",
      JSON.stringify(agent),
      json,
      assignment ? JSON.stringify(assignment) : null,
    );
  }

  #read(): RegisteredAgent {
    const [row] = this.#sql
      .exec<{ agent: string; props: string | null; assignment: string | null }>("SELECT * FROM registration")
      .toArray();
    if (!row) throw fail("not_found", "Agent not found.");
    return {
      agent: JSON.parse(row.agent) as AgentInfo,
      props: row.props ? (JSON.parse(row.props) as Props) : {},
      ...(row.assignment ? { assignment: JSON.parse(row.assignment) as Assignment } : {}),
    };
  }
}
