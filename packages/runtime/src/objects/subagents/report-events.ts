import type { EventData, NewEvent, ReportStatus } from "@thinkery/sdk";
import type { Blobs } from "../../store/blobs/blobs.ts";
import { isActive, type ReportedEnd, type SubagentRow } from "../../store/subagent-row.ts";
import type { Subagents } from "../../store/subagents.ts";
import type { AssignmentReport, RelayedAction } from "./assignment.ts";
import type { DelegatedTasks } from "./delegated-tasks.ts";
import { maxReportChars } from "./format-report.ts";

/** How a sub-agent's work ended, for the log. */
export type End = Omit<EventData["subagent.completed"], "childThreadId" | "taskId">;

const noUsage = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** The end of a sub-agent that did not report: it was cancelled or given up. What it spent is known when it stops. */
export function createOwnEnd(
  { state, reported, usage: known }: Pick<SubagentRow, "state" | "reported" | "usage">,
  status: Exclude<ReportStatus, "complete">,
  error?: string,
): End {
  const { usage = known ?? noUsage, steps = 0, ms = 0 } = reported ?? {};
  return {
    status,
    ...(error ? { error } : {}),
    usage,
    steps,
    ms,
    ...(state === "queued" ? {} : { unconfirmed: true }),
  };
}

/** The end that a sub-agent reported. A long result is stored as a blob. */
export async function createReportedEnd(
  { status, result, error, usage, days, reserved, steps, ms }: AssignmentReport,
  blobs: Blobs,
): Promise<ReportedEnd> {
  const base: ReportedEnd = { status, ...(error ? { error } : {}), usage, days, reserved, steps, ms };
  if (result === undefined) return base;
  if (result.length <= maxReportChars) return { ...base, result };
  const bytes = new TextEncoder().encode(result);
  const shortened = `${result.slice(0, maxReportChars).toWellFormed()}\n[truncated; ${result.length} characters in total]`;
  return { ...base, result: shortened, resultBlob: await blobs.put(bytes), resultBytes: bytes.length };
}

/** Creates the events that cancel sub-agents. */
export function createCancelEvents(rows: readonly SubagentRow[], tasks: DelegatedTasks): NewEvent[] {
  return rows.flatMap((row): NewEvent[] => {
    const { childThreadId, taskId } = row;
    return [
      { type: "subagent.completed", data: { childThreadId, taskId, ...createOwnEnd(row, "cancelled") } },
      ...tasks.end(taskId, { status: "cancelled" }),
    ];
  });
}

/** Says that the model need not be told of these: it was canceled too. */
export function createDelivered(rows: readonly SubagentRow[], runId: string): NewEvent {
  return { type: "subagent.delivered", data: { runId, taskIds: rows.map(({ taskId }) => taskId) } };
}

/** Says that the model gets these reports with the result of a call, except those that it has got meanwhile. */
export function createCallDelivery(
  subagents: Pick<Subagents, "get">,
  taskIds: readonly string[],
  { runId, callId }: { runId: string; callId: string },
): NewEvent[] {
  const undelivered = taskIds.filter((taskId) => subagents.get(taskId)?.isDelivered === false);
  if (undelivered.length === 0) return [];
  return [{ type: "subagent.delivered", data: { runId, taskIds: undelivered, callId } }];
}

/** Converts actions that a sub-agent sent to events, except those that are in the log already. */
export function toActionEvents(row: SubagentRow, actions: readonly RelayedAction[]): NewEvent[] {
  return actions
    .filter(({ number }) => number > row.actionNumber)
    .map((action) => ({
      type: "subagent.action",
      data: {
        childThreadId: row.childThreadId,
        taskId: row.taskId,
        agent: action.agent ?? row.childThreadId,
        number: action.number,
        ...(row.runId === undefined ? {} : { runId: row.runId }),
        ...(row.messageId === undefined ? {} : { messageId: row.messageId }),
        callId: action.id,
        toolName: action.tool,
        action: action.action,
        input: action.input,
        ...(action.outputSummary === undefined ? {} : { summary: action.outputSummary }),
        ...(action.error === undefined ? {} : { error: action.error }),
        ...(action.step === undefined ? {} : { step: action.step }),
        // After its end, only what it says when it stops is exact.
        ...(action.usage === undefined || !isActive(row) ? {} : { usage: action.usage }),
        ms: action.durationMs,
      },
    }));
}
