import type { ConversationUpdate, JobEvent, TurnEnd } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import { toContinuation } from "../store/continuations.ts";

/** Converts an update to an event of `/run`, if it has one. The end of a turn is converted by `createJobEnd`. */
export function toJobEvent(update: ConversationUpdate, agent: string): JobEvent | undefined {
  switch (update.kind) {
    case "draft-text":
      return update.text
        ? { type: "chunk", agent, text: update.text }
        : { type: "reasoning", agent, text: update.reasoning };
    case "call":
      return { type: "tool_call", agent, call: update.call };
    case "call-settled": {
      const { callId, name, result } = update;
      return {
        type: "tool_result",
        agent,
        callId,
        name,
        output: result.output,
        ...(result.failed ? { failed: true } : {}),
      };
    }
    case "retry":
      return { type: "retrying", agent, error: update.error, retryIn: update.inMs };
    case "approval-asked": {
      const { id: approvalId, turn: runId, calls, digest, expiresAt } = update.approval;
      return { type: "approval", agent, approvalId, runId, calls, digest, expiresAt };
    }
    case "wait-started": {
      const { id: continuationId, kind, turn: runId, prompt = "", schema } = update.continuation;
      if (kind !== "input") return undefined;
      return { type: "question", agent, continuationId, runId, prompt, ...(schema ? { schema } : {}) };
    }
    default:
      return undefined;
  }
}

/** Returns the events for what a turn waits for already. */
export function listWaitEvents(runId: string, agent: string, { approvals, continuations }: AgentStore): JobEvent[] {
  const updates: ConversationUpdate[] = [
    ...approvals.listPending(runId).map((approval) => ({ kind: "approval-asked" as const, runId, approval })),
    ...continuations
      .listOpen()
      .filter((continuation) => continuation.runId === runId)
      .map((stored) => ({ kind: "wait-started" as const, runId, continuation: toContinuation(stored) })),
  ];
  return updates.flatMap((update) => toJobEvent(update, agent) ?? []);
}

/** Creates the last event of a turn. */
export function createJobEnd(status: TurnEnd["status"], runId: string, agent: string, store: AgentStore): JobEvent {
  if (status === "canceled") return { type: "done", agent, runId, status, content: store.messages.getLastText(runId) };
  const turn = store.turns.get(runId);
  if (status === "completed") return { type: "done", agent, runId, status, content: turn?.result ?? "" };
  const { code = "internal", message = "The turn failed.", advice } = turn?.failure ?? {};
  return { type: "error", agent, runId, code, message, ...(advice ? { advice } : {}) };
}
