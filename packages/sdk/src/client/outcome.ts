import { createTurnState, reduceTurn, toOutcome } from "../conversation/turn-state.ts";
import { eventToUpdates } from "../conversation/update.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { Outcome } from "../protocol/turn.ts";

/** Computes the outcome of a turn from the events of its agent. Returns undefined if the turn has not ended. */
export function findOutcome(events: readonly AgentEvent[], runId: string, agent: string): Outcome | undefined {
  const turn = events.flatMap(eventToUpdates).reduce(reduceTurn, createTurnState(runId));
  return toOutcome(turn, agent);
}
