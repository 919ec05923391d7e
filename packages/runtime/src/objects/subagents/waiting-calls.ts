import { describeForkMerge, type NewEvent, type Subagent, type ToolCallResolution } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import { type SubagentRow, toSubagent } from "../../store/subagent-row.ts";
import { formatOutcome, maxReportChars } from "./format-report.ts";
import { createCallDelivery } from "./report-events.ts";

interface WaitingCallsOptions {
  store: AgentStore;
  blobs: Blobs;
  /** Records the result of a call, and with it what it brings about. */
  resolveToolCall(report: ToolCallResolution, createMore?: () => NewEvent[]): Promise<unknown>;
}

/** The tool whose calls wait until no sub-agent works. */
const waitTool = "waitForSubagents";

/** The tool calls that wait for sub-agents. */
export class WaitingCalls {
  readonly #options: WaitingCallsOptions;

  constructor(options: WaitingCallsOptions) {
    this.#options = options;
  }

  /** Whether a call of the turn waits for a sub-agent. */
  has(runId: string): boolean {
    const { store } = this.#options;
    return store.ledger
      .listDeferred(runId)
      .some((call) => store.ledger.get(call)?.tool === waitTool || store.subagents.findByCall(call)?.wait);
  }

  /** Gives the reports that are there to the calls that wait for them. */
  async resolveAll(): Promise<void> {
    const { store, resolveToolCall } = this.#options;
    const turn = store.turns.getPaused() ?? store.turns.getRunning();
    if (!turn) return;
    const deferred = store.ledger.listDeferred(turn.id);
    for (const row of store.subagents.listFinished(deferred)) await this.resolve(row);
    if (store.subagents.countActive() > 0) return;
    for (const callId of deferred) {
      if (store.ledger.get(callId)?.tool !== waitTool) continue;
      const rows = store.subagents.listUndelivered();
      const taskIds = rows.map(({ taskId }) => taskId);
      await resolveToolCall({ callId, output: { subagents: rows.map(toSubagent).map(toResult) } }, () =>
        createCallDelivery(store.subagents, taskIds, { runId: turn.id, callId }),
      );
    }
  }

  /** Gives a report to the call that waits for it, unless it has its result. */
  async resolve(row: SubagentRow): Promise<void> {
    const { store, blobs, resolveToolCall } = this.#options;
    const call = row.callId === undefined ? undefined : store.ledger.get(row.callId);
    const turn = call && store.turns.get(call.turn);
    if (!call || call.state === "done" || call.state === "failed") return;
    // A turn that is over has closed its calls.
    if (!turn || (turn.status !== "running" && turn.status !== "paused")) return;
    const { call: callId } = call;
    if (row.state !== "complete") {
      const error = formatOutcome(row).slice(0, maxReportChars);
      await resolveToolCall({ callId, error });
      return;
    }
    const bytes = row.resultBlob === undefined ? undefined : await blobs.get(row.resultBlob);
    const output = formatOutcome(row, bytes ? new TextDecoder().decode(bytes) : row.result);
    await resolveToolCall({ callId, output });
  }
}

/** What `waitForSubagents` tells the model about a sub-agent. */
function toResult({ taskId, agentType, title, status, result, error, merge }: Subagent) {
  return {
    taskId,
    agentType,
    title,
    status,
    ...(result ? { result } : {}),
    ...(error ? { error } : {}),
    ...(merge ? { files: describeForkMerge(merge) } : {}),
  };
}
