import {
  type AgentState,
  type EventData,
  type ForkMerge,
  mergingActivity,
  type PersonWait,
  type ReportStatus,
  type Sender,
  type Subagent,
  type SubagentStatus,
  type SubagentUsage,
  type WorkspaceMode,
} from "@thinkery/sdk";

/** How a sub-agent says that its work ended. */
export type ReportedEnd = Omit<EventData["subagent.reported"], "childThreadId" | "taskId">;

export interface StoredSubagent extends Record<string, SqlStorageValue> {
  task: string;
  number: number;
  facet: string;
  child: string;
  token: string;
  turn: string | null;
  call: string | null;
  message_id: string | null;
  type: string;
  title: string;
  wait: number;
  workspace: WorkspaceMode;
  branch: string | null;
  check_command: string | null;
  streaming: number;
  timeout_ms: number;
  state: "queued" | "running" | ReportStatus;
  delivered: number;
  closed: number;
  deleted: number;
  created_at: number;
  started_at: number | null;
  completed_at: number | null;
  result: string | null;
  result_blob: string | null;
  error: string | null;
  usage: string | null;
  steps: number | null;
  merge: string | null;
  reported: string | null;
  waiting_for: PersonWait | null;
  action_number: number;
  activity: string | null;
}

/** The columns of a row, without what a sub-agent is told. */
export const storedColumns = [
  "task",
  "number",
  "facet",
  "child",
  "token",
  "turn",
  "call",
  "message_id",
  "type",
  "title",
  "wait",
  "workspace",
  "branch",
  "check_command",
  "streaming",
  "timeout_ms",
  "state",
  "delivered",
  "closed",
  "deleted",
  "created_at",
  "started_at",
  "completed_at",
  "result",
  "result_blob",
  "error",
  "usage",
  "steps",
  "merge",
  "reported",
  "waiting_for",
  "action_number",
  "activity",
] as const satisfies (keyof StoredSubagent)[];

/** What a sub-agent is told, and on whose behalf. */
export interface SubagentAssignment {
  message: string;
  from: Sender;
}

/** A delegated task: who works on it, for whom, and how it went. */
export interface SubagentRow extends Omit<Subagent, "status"> {
  token: string;
  /** `merging`: it has reported, and its fork is merged. */
  state: StoredSubagent["state"] | "merging";
  /** Its report, while its fork is merged. */
  reported?: ReportedEnd;
  /** The branch of a fork, even if it no longer exists. */
  fork?: string;
  check?: string;
  streaming: boolean;
  timeoutMs: number;
  resultBlob?: string;
  /** The model of the agent has got its report. */
  isDelivered: boolean;
  /** It has stopped, after it was cancelled. */
  isClosed: boolean;
  isDeleted: boolean;
  /** The last of its actions that is in the log. */
  actionNumber: number;
}

const publicFields = [
  "taskId",
  "facetName",
  "childThreadId",
  "agentType",
  "title",
  "wait",
  "workspace",
  "branch",
  "merge",
  "runId",
  "callId",
  "messageId",
  "createdAt",
  "startedAt",
  "completedAt",
  "result",
  "error",
  "usage",
  "steps",
  "activity",
  "waitingFor",
] satisfies (keyof SubagentRow)[];

/** Returns a row as the agent's state has it. */
export function toSubagentState(row: SubagentRow): NonNullable<AgentState["subagents"]>[number] {
  return {
    childThreadId: row.childThreadId,
    token: row.token,
    status: isActive(row) ? "waiting" : row.state === "cancelled" ? "canceled" : "completed",
    outcome: toStatus(row),
    ...(row.waitingFor === undefined ? {} : { waitingFor: row.waitingFor }),
    createdAt: row.createdAt,
    ...(row.completedAt === undefined ? {} : { completedAt: row.completedAt }),
    ...(isActive(row) ? {} : { report: row.result ?? row.error ?? "" }),
    ...(row.callId === undefined ? {} : { toolCallId: row.callId }),
    ...(row.merge ? { merge: row.merge } : {}),
  };
}

/** Returns a row as clients see it. */
export function toSubagent(row: SubagentRow): Subagent {
  const fields = publicFields.flatMap((field) => (row[field] === undefined ? [] : [[field, row[field]] as const]));
  return {
    ...Object.fromEntries(fields),
    ...(row.state === "merging" ? { activity: mergingActivity } : {}),
    status: toStatus(row),
    ...(row.isDeleted ? { deleted: true } : {}),
  } as Subagent;
}

function toStatus({ state, waitingFor }: SubagentRow): SubagentStatus {
  if (state === "merging") return "running";
  return state === "queued" || waitingFor !== undefined ? "waiting" : state;
}

export function isActive({ state }: Pick<SubagentRow, "state">): boolean {
  return state === "queued" || state === "running" || state === "merging";
}

/** A branch is created when its sub-agent starts, and removed once it is merged or has nothing in it. */
function hasBranch({ state, closed, deleted, merge }: StoredSubagent): boolean {
  if (state === "queued" || deleted === 1) return false;
  return state === "running" || closed === 0 || (merge !== null && !(JSON.parse(merge) as ForkMerge).isMerged);
}

export function toSubagentRow(row: StoredSubagent): SubagentRow {
  return {
    taskId: row.task,
    facetName: row.facet,
    childThreadId: row.child,
    token: row.token,
    agentType: row.type,
    title: row.title,
    wait: row.wait === 1,
    workspace: row.workspace,
    streaming: row.streaming === 1,
    timeoutMs: row.timeout_ms,
    state: row.state === "running" && row.reported !== null ? "merging" : row.state,
    isDelivered: row.delivered === 1,
    isClosed: row.closed === 1,
    isDeleted: row.deleted === 1,
    actionNumber: row.action_number,
    createdAt: row.created_at,
    ...(row.turn === null ? {} : { runId: row.turn }),
    ...(row.call === null ? {} : { callId: row.call }),
    ...(row.message_id === null ? {} : { messageId: row.message_id }),
    ...(row.branch === null ? {} : { fork: row.branch, ...(hasBranch(row) ? { branch: row.branch } : {}) }),
    ...(row.merge === null ? {} : { merge: JSON.parse(row.merge) as ForkMerge }),
    ...(row.reported === null ? {} : { reported: JSON.parse(row.reported) as ReportedEnd }),
    ...(row.check_command === null ? {} : { check: row.check_command }),
    ...(row.started_at === null ? {} : { startedAt: row.started_at }),
    ...(row.completed_at === null ? {} : { completedAt: row.completed_at }),
    ...(row.result === null ? {} : { result: row.result }),
    ...(row.result_blob === null ? {} : { resultBlob: row.result_blob }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.usage === null ? {} : { usage: JSON.parse(row.usage) as SubagentUsage }),
    ...(row.steps === null ? {} : { steps: row.steps }),
    ...(row.activity === null ? {} : { activity: row.activity }),
    ...(row.waiting_for === null ? {} : { waitingFor: row.waiting_for }),
  };
}
