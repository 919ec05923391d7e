import type { AgentEvent } from "../protocol/event.ts";
import type { Subagent } from "../protocol/subagent.ts";

export type SubagentEvent = Extract<
  AgentEvent,
  {
    type:
      | "subagent.spawned"
      | "subagent.started"
      | "subagent.action"
      | "subagent.spent"
      | "subagent.completed"
      | "subagent.closed"
      | "subagent.deleted";
  }
>;

const maxActivityChars = 200;

/** Applies what happened to a sub-agent, like the store does. The newest is first. */
export function applySubagentEvent(subagents: readonly Subagent[], event: SubagentEvent): readonly Subagent[] {
  const at = Date.parse(event.ts);
  switch (event.type) {
    case "subagent.spawned":
      return subagents.some(({ taskId }) => taskId === event.data.taskId)
        ? subagents
        : [toSubagent(event.data, at), ...subagents];
    case "subagent.started":
      return change(subagents, event.data.taskId, { status: "running", startedAt: at });
    case "subagent.action": {
      const { taskId, toolName, input } = event.data;
      return change(subagents, taskId, { activity: `${toolName} ${input}`.slice(0, maxActivityChars) });
    }
    case "subagent.spent":
    case "subagent.closed":
    case "subagent.deleted": {
      const { taskId, usage } = event.data;
      return usage ? change(subagents, taskId, { usage }) : subagents;
    }
    case "subagent.completed": {
      const { taskId, status, result, error, usage, steps } = event.data;
      return change(subagents, taskId, {
        status,
        usage,
        steps,
        completedAt: at,
        ...(result === undefined ? {} : { result }),
        ...(error === undefined ? {} : { error }),
      });
    }
  }
}

/** Adds a list that was loaded while events came in. What has ended stays so, and newer ones come first. */
export function mergeSubagents(known: readonly Subagent[], listed: readonly Subagent[]): readonly Subagent[] {
  const knownByTask = new Map(known.map((subagent) => [subagent.taskId, subagent]));
  const listedTasks = new Set(listed.map(({ taskId }) => taskId));
  const merged = listed.map((subagent) => {
    const before = knownByTask.get(subagent.taskId);
    return before?.completedAt !== undefined && subagent.completedAt === undefined ? before : subagent;
  });
  return [...known.filter(({ taskId }) => !listedTasks.has(taskId)), ...merged];
}

function change(subagents: readonly Subagent[], taskId: string, part: Partial<Subagent>): readonly Subagent[] {
  return subagents.map((subagent) => (subagent.taskId === taskId ? { ...subagent, ...part } : subagent));
}

function toSubagent(data: Extract<SubagentEvent, { type: "subagent.spawned" }>["data"], at: number): Subagent {
  const { taskId, facetName, childThreadId, agentType, title, wait, workspace, runId, callId, messageId } = data;
  return {
    taskId,
    facetName,
    childThreadId,
    agentType,
    title,
    status: data.queued ? "waiting" : "running",
    wait,
    workspace,
    ...(runId === undefined ? {} : { runId }),
    ...(callId === undefined ? {} : { callId }),
    ...(messageId === undefined ? {} : { messageId }),
    createdAt: at,
    ...(data.queued ? {} : { startedAt: at }),
  };
}
