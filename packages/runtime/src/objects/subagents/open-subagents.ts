import type { Delegation, NewEvent, Subagent, Subagents } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import { isActive, type SubagentRow, toSubagent } from "../../store/subagent-row.ts";
import type { Registration } from "../registration.ts";
import type { DelegationSource } from "./delegations.ts";

interface OpenOptions {
  store: AgentStore;
  registration: Registration;
}

/** A tool call of a turn. */
interface CallSource {
  runId: string;
  callId: string;
  record(...events: NewEvent[]): void;
}

interface OpenActions {
  delegate(delegation: Delegation, source: DelegationSource): Promise<Subagent>;
  get(taskId: string): Promise<Subagent>;
  markDelivered(rows: readonly SubagentRow[]): void;
  /** Called when a sub-agent starts to work in the background. */
  onBackground(): void;
}

/** Returns what a tool call can do with the sub-agents of its agent. */
export function openSubagents(
  { store, registration }: OpenOptions,
  source: CallSource,
  { delegate, get, markDelivered, onBackground }: OpenActions,
): Subagents {
  return {
    delegate(delegation) {
      const messageId = store.messages.getLastStepId(source.runId);
      const from = { user: registration.get().agent.owner, context: store.facts.getRequestContext() };
      if (!delegation.wait) onBackground();
      return delegate(delegation, { ...source, from, ...(messageId ? { messageId } : {}) });
    },
    async get(taskId) {
      const subagent = await get(taskId);
      const row = store.subagents.get(taskId);
      if (row && !isActive(row) && !row.isDelivered) markDelivered([row]);
      return subagent;
    },
    listActive: () => store.subagents.listActive().map(toSubagent),
    takeReports() {
      const rows = store.subagents.listUndelivered();
      if (rows.length > 0) markDelivered(rows);
      return rows.map(toSubagent);
    },
  };
}
