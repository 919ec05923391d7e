import type { PersonWait } from "../protocol/choices.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { SubagentFrame } from "../protocol/frame.ts";
import type { Subagent } from "../protocol/subagent.ts";
import { mergingActivity } from "./fork-merge.ts";

export type SubagentEvent = Extract<
  AgentEvent,
  {
    type:
      | "subagent.spawned"
      | "subagent.started"
      | "subagent.action"
      | "subagent.spent"
      | "subagent.waiting"
      | "subagent.reported"
      | "subagent.completed"
      | "subagent.closed"
      | "subagent.deleted";
  }
>;

const maxActivityChars = 200;
/** Of a message that is being written, only the end is kept: the rest is in the sub-agent's own conversation. */
const maxStreamChars = 2000;

/** What a sub-agent that streams is doing right now. */
export interface SubagentStream {
  /** The message that it is writing, or the one before its tool calls. */
  text: string;
  /** Tool calls without a result yet, oldest first. */
  calls: readonly { toolName: string; input: unknown }[];
  /** The next text belongs to another message. */
  isMessageOver: boolean;
}

/** By task. Those of sub-agents further down are included. */
export type SubagentStreams = Readonly<Record<string, SubagentStream>>;

const emptyStream: SubagentStream = { text: "", calls: [], isMessageOver: false };

export function applySubagentFrame(streams: SubagentStreams, frame: SubagentFrame): SubagentStreams {
  const { taskId } = frame;
  const stream = streams[taskId] ?? emptyStream;
  switch (frame.type) {
    case "subagent_text_delta": {
      const text = `${stream.isMessageOver ? "" : stream.text}${frame.delta}`.slice(-maxStreamChars);
      return { ...streams, [taskId]: { ...stream, text, isMessageOver: false } };
    }
    case "subagent_tool_call": {
      const call = { toolName: frame.toolName, input: frame.input };
      return { ...streams, [taskId]: { ...stream, calls: [...stream.calls, call], isMessageOver: true } };
    }
    case "subagent_tool_result": {
      const index = stream.calls.findIndex(({ toolName }) => toolName === frame.toolName);
      const calls = index < 0 ? stream.calls : stream.calls.toSpliced(index, 1);
      return { ...streams, [taskId]: { ...stream, calls, isMessageOver: true } };
    }
    case "subagent_complete":
    case "subagent_error":
      return removeStream(streams, taskId);
  }
}

/** Removes the stream of a sub-agent that has finished. */
export function removeStream(streams: SubagentStreams, taskId: string): SubagentStreams {
  if (!(taskId in streams)) return streams;
  const { [taskId]: _, ...others } = streams;
  return others;
}

/** Returns the status of a sub-agent in words, with what it waits for. */
export function formatSubagentStatus({ status, waitingFor }: Pick<Subagent, "status" | "waitingFor">): string {
  if (waitingFor === undefined) return status;
  return waitingFor === "approval" ? "waiting for approval" : "waiting for an answer";
}

/** Applies what happened to a sub-agent, like the store does. The newest is first. */
export function applySubagentEvent(subagents: readonly Subagent[], event: SubagentEvent): readonly Subagent[] {
  const at = Date.parse(event.ts);
  switch (event.type) {
    case "subagent.spawned":
      return subagents.some(({ taskId }) => taskId === event.data.taskId)
        ? subagents
        : [toSubagent(event.data, at), ...subagents];
    case "subagent.started":
      return setWait(subagents, event.data.taskId).map((subagent) =>
        subagent.taskId === event.data.taskId
          ? { ...subagent, ...nameBranch(subagent), status: "running", startedAt: at }
          : subagent,
      );
    case "subagent.action": {
      const { taskId, toolName, input, step, usage } = event.data;
      const activity = `${toolName} ${input}`.slice(0, maxActivityChars);
      const part = { ...(step === undefined ? {} : { step }), ...(usage === undefined ? {} : { usage }) };
      return change(subagents, taskId, { activity, ...part });
    }
    case "subagent.spent": {
      const { taskId, usage } = event.data;
      return usage ? change(subagents, taskId, { usage }) : subagents;
    }
    case "subagent.waiting": {
      const { taskId, waitingFor } = event.data;
      return setWait(subagents, taskId, waitingFor);
    }
    case "subagent.reported": {
      const { taskId, usage } = event.data;
      return change(setWait(subagents, taskId), taskId, { usage, activity: mergingActivity });
    }
    case "subagent.closed":
    case "subagent.deleted": {
      const { taskId, usage } = event.data;
      const part = {
        ...(usage ? { usage } : {}),
        ...(event.type === "subagent.deleted" ? { deleted: true as const } : {}),
      };
      const merge = event.type === "subagent.closed" ? event.data.merge : undefined;
      return subagents.map((subagent) =>
        subagent.taskId === taskId ? { ...close(subagent, merge), ...part } : subagent,
      );
    }
    case "subagent.completed": {
      const { taskId, status, result, error, usage, steps, merge } = event.data;
      return change(setWait(subagents, taskId), taskId, {
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

/** Notes that a sub-agent waits for a person, or goes on. One that has not started or has ended does neither. */
function setWait(subagents: readonly Subagent[], taskId: string, waitingFor?: PersonWait): readonly Subagent[] {
  return subagents.map((subagent) => {
    if (subagent.taskId !== taskId || subagent.startedAt === undefined || subagent.completedAt !== undefined)
      return subagent;
    const { waitingFor: _, ...rest } = subagent;
    return { ...rest, status: waitingFor ? "waiting" : "running", ...(waitingFor ? { waitingFor } : {}) };
  });
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
