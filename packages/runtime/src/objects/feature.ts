import type { AgentExport, AgentState } from "@thinkery/sdk";
import type { Connection } from "agents";
import type { ExportLists } from "./agent-export.ts";

/**
 * One feature of an agent. Its tables are in `store/schema`, its routes in `http/routes`, and its API for other objects
 * is an `RpcTarget` in this folder. `assembleAgent` creates all features.
 */
export interface AgentFeature {
  /** Runs after each wake, before the agent handles anything. */
  wake?(connections: readonly Connection[]): void;
  /** Stops all activity, because the agent is about to be erased. */
  halt?(): void;
  /** Called when the conversation is cleared. */
  clear?(): void;
  /** Returns what it adds to the agent's state. */
  state?(): Partial<AgentState>;
  /** Returns what it adds to the agent's export. */
  export?(): Partial<AgentExport>;
  /** The same for lists that may be long. */
  exportLists?(): ExportLists;
  /** Returns when it next has something to do (epoch ms), if ever. Call `DueTimer.update` when that gets earlier. */
  nextDueAt?(): number | undefined;
  /** Does what is due. May run late, and twice. */
  runDue?(now: number): void | Promise<void>;
}
