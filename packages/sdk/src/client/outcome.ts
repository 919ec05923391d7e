import { createTurnState, reduceTurn, toOutcome } from "../conversation/turn-state.ts";
import { eventToUpdates } from "../conversation/update.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { Outcome } from "../protocol/turn.ts";

/** How a turn ended, by these events; undefined while it goes on. */
export function findOutcome(events: readonly AgentEvent[], runId: string, agent: string): Outcome | undefined {
  const turn = events.flatMap(eventToUpdates).reduce(reduceTurn, createTurnState(runId));
  return toOutcome(turn, agent);
}
