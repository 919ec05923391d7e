import type { AgentExport, AgentState } from "@thinkery/sdk";
import type { Connection } from "agents";

/**
 * One capability of an agent. Its tables are in `store/schema`, its routes in `http/routes`, and what other objects may
 * ask of it is an `RpcTarget` beside it. `assembleAgent` puts it together with the others.
 */
export interface AgentFeature {
  /** Runs after each wake, before anything is asked of the agent. */
  wake?(connections: readonly Connection[]): void;
  /** Ends what it is doing: the agent is about to be erased. */
  halt?(): void;
  /** The conversation was cleared. */
  clear?(): void;
  /** Returns what it adds to the agent's state. */
  state?(): Partial<AgentState>;
  /** Returns what it adds to the agent's export. */
  export?(): Partial<AgentExport>;
}
