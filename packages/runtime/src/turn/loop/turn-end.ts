import type { Failure, NewEvent } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import { closeChildCalls, createToolError } from "../calls/model-calls.ts";

export type Ending =
  | { status: "completed" }
  | { status: "canceled"; reason: string }
  | { status: "error"; failure: Failure };

/** Creates the events that end an incomplete turn: open calls get a result, and undelivered messages are requeued. */
export function createEndEvents(
  store: AgentStore,
  runId: string,
  ending: Exclude<Ending, { status: "completed" }>,
): NewEvent[] {
  const ownIds = listOwnMessages(store, runId);
  const messageIds = store.messages.listWaitingIds(runId).filter((id) => !ownIds.includes(id));
  const reason =
    ending.status === "canceled"
      ? "The turn was canceled before this call had a result."
      : "The turn ended before this call had a result.";
  return [
    ...closeChildCalls(store, runId, ending.status === "canceled" ? "canceled" : "outcome_unknown"),
    ...store.messages
      .listUnansweredCalls(runId)
      .map((call) => createToolError(call, runId, "canceled", reason, 0, "cancel")),
    ...(messageIds.length > 0
      ? [{ type: "message.requeued", data: { runId: crypto.randomUUID(), fromRunId: runId, messageIds } } as const]
      : []),
    ending.status === "canceled"
      ? { type: "run.canceled", data: { runId, reason: ending.reason } }
      : {
          type: "agent.error",
          data: {
            runId,
            error: ending.failure.message,
            code: ending.failure.code,
            ...(ending.failure.advice ? { advice: ending.failure.advice } : {}),
            ...(ending.failure.budget ? { budget: ending.failure.budget } : {}),
          },
        },
  ];
}

/**
 * Returns a queued turn's own messages, as opposed to those that joined it. A turn that has started has delivered its
 * own.
 */
function listOwnMessages(store: AgentStore, runId: string): string[] {
  const turn = store.turns.get(runId);
  if (turn?.status !== "queued") return [];
  const [event] = store.log.read(turn.number - 1, 1);
  if (event?.type === "request.accepted") return event.data.messages.map(({ id }) => id);
  return event?.type === "message.requeued" ? event.data.messageIds : [];
}
