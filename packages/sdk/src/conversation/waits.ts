import type { Approval, AskedCall } from "../protocol/approval.ts";
import type { Continuation } from "../protocol/continuation.ts";
import type { AgentEvent, EventData } from "../protocol/event.ts";

/** An approval as the log of its agent tells of it. */
export type PendingApproval = Pick<Approval, "id" | "turn" | "calls" | "digest" | "createdAt" | "expiresAt">;

/** What the open turns of an agent wait for, oldest first. */
export interface Waits {
  readonly approvals: readonly PendingApproval[];
  readonly continuations: readonly Continuation[];
}

export const noWaits: Waits = { approvals: [], continuations: [] };

export function toPendingApproval(
  { approvalId: id, runId: turn, proposedToolCalls, digest, expiresAt }: EventData["hitl.interrupt"],
  { ts: createdAt }: Pick<AgentEvent, "ts">,
): PendingApproval {
  const calls = proposedToolCalls.map(({ callId, toolName, ...call }): AskedCall => ({
    id: callId,
    name: toolName,
    ...call,
  }));
  return { id, turn, calls, digest, createdAt, expiresAt };
}

/** Asks for approval of calls, in a few words. */
export function formatAsk(calls: readonly Pick<AskedCall, "name">[]): string {
  return `Approve ${[...new Set(calls.map(({ name }) => name))].join(", ")}?`;
}

export function toWait(data: EventData["continuation.created"], createdAt: string): Continuation {
  const { continuationId: id, kind, prompt, schema, hook, dueAt, runId: turn, callId } = data;
  return {
    id,
    kind,
    ...(prompt === undefined ? {} : { prompt }),
    ...(schema === undefined ? {} : { schema }),
    ...(hook === undefined ? {} : { hook }),
    ...(dueAt === undefined ? {} : { dueAt }),
    turn,
    callId,
    createdAt,
  };
}

export function addApproval(waits: Waits, approval: PendingApproval): Waits {
  if (waits.approvals.some(({ id }) => id === approval.id)) return waits;
  return { ...waits, approvals: [...waits.approvals, approval] };
}

/** Applies decisions. An approval is gone once all of its calls are decided. */
export function answerApproval(waits: Waits, { approvalId, decisions }: EventData["hitl.resume"]): Waits {
  const approvals = waits.approvals.flatMap((approval) => {
    if (approval.id !== approvalId) return [approval];
    const calls = approval.calls.map((call) => {
      const decided = decisions.find(({ callId }) => callId === call.id);
      if (!decided) return call;
      const { callId: _, ...decision } = decided;
      return { ...call, decision };
    });
    return calls.every(({ decision }) => decision !== undefined) ? [] : [{ ...approval, calls }];
  });
  return { ...waits, approvals };
}

export function addContinuation(waits: Waits, continuation: Continuation): Waits {
  if (waits.continuations.some(({ id }) => id === continuation.id)) return waits;
  return { ...waits, continuations: [...waits.continuations, continuation] };
}

export function removeContinuation(waits: Waits, id: string): Waits {
  return { ...waits, continuations: waits.continuations.filter((other) => other.id !== id) };
}

/** Adds what was loaded to what happened while connected. */
export function mergeWaits(waits: Waits, loaded: Waits): Waits {
  const before = loaded.continuations.reduce(addContinuation, loaded.approvals.reduce(addApproval, waits));
  return {
    approvals: before.approvals.toSorted(compareAge),
    continuations: before.continuations.toSorted(compareAge),
  };
}

const compareAge = (a: { createdAt: string }, b: { createdAt: string }) => a.createdAt.localeCompare(b.createdAt);

/** Removes what a turn waited for that is over. Returns the same object if there was nothing. */
export function removeTurnWaits(waits: Waits, runId: string): Waits {
  if (!waits.approvals.some(({ turn }) => turn === runId) && !waits.continuations.some(({ turn }) => turn === runId)) {
    return waits;
  }
  return {
    approvals: waits.approvals.filter(({ turn }) => turn !== runId),
    continuations: waits.continuations.filter(({ turn }) => turn !== runId),
  };
}
