import type { Outcome } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import { getTurnUsage } from "../../store/turn-usage.ts";
import type { TurnRow } from "../../store/turns.ts";

/** Creates the outcome of a turn for callers that waited for it. */
export function createOutcome(store: AgentStore, agent: string, turn: TurnRow): Outcome {
  const messages = store.messages.listByTurn(turn.id);
  const results = new Map(
    messages.flatMap(({ toolResult, content }) => (toolResult ? [[toolResult.callId, { toolResult, content }]] : [])),
  );
  const { calls: _, ...usage } = getTurnUsage(store, turn.id);
  return {
    runId: turn.id,
    agent,
    status: turn.status === "error" ? "error" : turn.status === "canceled" ? "canceled" : "completed",
    content: turn.result ?? store.messages.getLastText(turn.id),
    toolCalls: messages.flatMap(({ toolCalls = [] }) =>
      toolCalls.map(({ id, name, input }) => {
        const result = results.get(id);
        return {
          id,
          name,
          input,
          ...(result ? { output: result.content } : {}),
          ...(result?.toolResult.failed ? { failed: true } : {}),
        };
      }),
    ),
    usage,
    ...(turn.failure ? { failure: turn.failure } : {}),
  };
}
