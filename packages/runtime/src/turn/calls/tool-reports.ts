import { type ChildReport, fail, type NewEvent, type ToolCallResolution } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import { toResultId } from "../../store/messages.ts";
import { isOver, type TurnRow } from "../../store/turns.ts";
import { createOutput } from "../../tools/output.ts";
import { createToolError } from "./model-calls.ts";

interface ReportedCall {
  turn: TurnRow;
  toolName: string;
  /** Whether it already has a result. */
  isAnswered: boolean;
}

/** Returns the call that a report is about. Throws if there is none, or its turn is over. */
export function findReportedCall(store: AgentStore, callId: string): ReportedCall {
  const row = store.ledger.get(callId);
  const turn = row && store.turns.get(row.turn);
  if (!row || !turn) throw fail("not_found", "This agent has no tool call with this id.");
  // A turn that ended early has closed its open calls.
  if (row.state !== "done" && isOver(turn) && turn.status !== "completed") {
    throw fail("conflict", "The turn that made this call is over.");
  }
  return { turn, toolName: row.tool, isAnswered: row.state === "done" || row.state === "failed" };
}

/** Converts a report to the result of its call. */
export async function createResultEvent(
  { callId, output, error }: ToolCallResolution,
  { turn, toolName }: ReportedCall,
  blobs: Blobs,
): Promise<NewEvent> {
  if (error !== undefined) return createToolError({ id: callId, name: toolName }, turn.id, "threw", error, 0, "report");
  const { text, result } = await createOutput({ name: toolName }, callId, output ?? "", blobs);
  return {
    type: "tool.output",
    data: {
      runId: turn.id,
      callId,
      toolName,
      messageId: toResultId(callId),
      output: text,
      result,
      ms: 0,
      action: "report",
    },
  };
}

/** Returns the reports on calls that the turn's last step deferred. Read from the log, so that a crash loses none. */
export function readReports(store: AgentStore, runId: string): ChildReport[] {
  let deferred = new Set<string>();
  let reports = new Map<string, ChildReport>();
  for (let after = (store.turns.get(runId)?.number ?? 1) - 1; ;) {
    const events = store.log.read(after, 1000);
    for (const { type, data } of events) {
      if (!("runId" in data) || data.runId !== runId) continue;
      if (type === "run.tick") [deferred, reports] = [new Set(), new Map()];
      if (type === "tool.deferred") deferred.add(data.callId);
      if (type !== "tool.output" && type !== "tool.error") continue;
      const { callId, toolName } = data;
      const failed = type === "tool.error";
      reports.set(callId, { callId, toolName, report: failed ? data.error : data.output, failed });
    }
    const next = events.at(-1)?.seq;
    if (next === undefined) return [...reports.values()].filter(({ callId }) => deferred.has(callId));
    after = next;
  }
}
