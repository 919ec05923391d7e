import type { AgentEvent } from "../protocol/event.ts";
import { mergingActivity, type Subagent } from "../protocol/subagent.ts";

export type SubagentEvent = Extract<
  AgentEvent,
  {
    type:
      | "subagent.spawned"
      | "subagent.started"
      | "subagent.action"
      | "subagent.reported"
      | "subagent.completed"
      | "subagent.closed";
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
      return subagents.map((subagent) =>
        subagent.taskId === event.data.taskId
          ? { ...subagent, ...nameBranch(subagent), status: "running", startedAt: at }
          : subagent,
      );
    case "subagent.action": {
      const { taskId, toolName, input } = event.data;
      return change(subagents, taskId, { activity: `${toolName} ${input}`.slice(0, maxActivityChars) });
    }
    case "subagent.reported":
      return change(subagents, event.data.taskId, { activity: mergingActivity });
    case "subagent.closed":
      return subagents.map((subagent) =>
        subagent.taskId === event.data.taskId ? close(subagent, event.data.merge) : subagent,
      );
    case "subagent.completed": {
      const { taskId, status, result, error, usage, steps, merge } = event.data;
      return change(subagents, taskId, {
        status,
        usage,
        steps,
        completedAt: at,
        ...(result === undefined ? {} : { result }),
        ...(error === undefined ? {} : { error }),
        ...(merge === undefined ? {} : { merge }),
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

/** The branch of a fork has the name of its sub-agent. */
const nameBranch = ({ workspace, facetName }: Pick<Subagent, "workspace" | "facetName">) =>
  workspace === "fork" ? { branch: facetName } : {};

/** Forgets the branch, unless there is something on it that was not merged. */
function close({ branch, ...subagent }: Subagent, merge = subagent.merge): Subagent {
  const isKept = branch !== undefined && merge?.isMerged === false;
  return { ...subagent, ...(merge ? { merge } : {}), ...(isKept ? { branch } : {}) };
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
    ...(data.queued ? {} : nameBranch(data)),
    ...(runId === undefined ? {} : { runId }),
    ...(callId === undefined ? {} : { callId }),
    ...(messageId === undefined ? {} : { messageId }),
    createdAt: at,
    ...(data.queued ? {} : { startedAt: at }),
  };
}
