import type { Delegation, NewEvent, Subagent, Subagents } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import { isActive, type SubagentRow, toSubagent } from "../../store/subagent-row.ts";
import type { Registration } from "../registration.ts";
import type { DelegationSource } from "./delegations.ts";
import { createCallDelivery } from "./report-events.ts";

interface OpenOptions {
  store: AgentStore;
  registration: Registration;
}

/** A tool call of a turn. */
interface CallSource {
  runId: string;
  callId: string;
  record(...events: NewEvent[]): void;
  /** Adds events that are recorded together with the result of the call. */
  addToResult(create: () => NewEvent[]): void;
}

interface OpenActions {
  delegate(delegation: Delegation, source: DelegationSource): Promise<Subagent>;
  get(taskId: string): Promise<Subagent>;
  /** Called when a sub-agent starts to work in the background. */
  onBackground(): void;
}

/** Returns what a tool call can do with the sub-agents of its agent. */
export function openSubagents(
  { store, registration }: OpenOptions,
  source: CallSource,
  { delegate, get, onBackground }: OpenActions,
): Subagents {
  /** Those whose reports the call has got. The model has them once it has the result. */
  const taken = new Set<string>();
  const take = (rows: readonly SubagentRow[]) => {
    if (taken.size === 0 && rows.length > 0)
      source.addToResult(() => createCallDelivery(store.subagents, [...taken], source));
    for (const { taskId } of rows) taken.add(taskId);
  };
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
      if (row && !isActive(row) && !row.isDelivered) take([row]);
      return subagent;
    },
    listActive: () => store.subagents.listActive().map(toSubagent),
    takeReports() {
      const rows = store.subagents.listUndelivered().filter(({ taskId }) => !taken.has(taskId));
      take(rows);
      return rows.map(toSubagent);
    },
  };
}
