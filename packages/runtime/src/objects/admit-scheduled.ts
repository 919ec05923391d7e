import { fail, isThinkeryError, type ScheduleOutcome } from "@thinkery/sdk";
import type { ScheduledMessage } from "../schedules/run-admission.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import { isOver } from "../store/turns.ts";
import { createInput } from "../turn/admission/input.ts";
import type { TurnQueue } from "../turn/admission/turn-queue.ts";
import type { TurnLease } from "./turn-lease.ts";

interface AdmittingAgent {
  store: AgentStore;
  blobs: Blobs;
  queue: TurnQueue;
  turnLease: TurnLease;
}

/** Admits the message of a schedule like any other. Idempotent. */
export async function admitScheduled(
  { store, blobs, queue, turnLease }: AdmittingAgent,
  { key, message, from, unlessOpen }: ScheduledMessage,
): Promise<{ runId?: string }> {
  // Before anything else: this one may be what is open.
  const known = store.turns.findAdmission(key);
  if (known) return { runId: known.turn };
  const previous = unlessOpen === undefined ? undefined : store.turns.get(unlessOpen);
  if (previous && !isOver(previous)) return {};
  let hasLease = false;
  try {
    return await turnLease.acquireFor(async () => {
      hasLease = true;
      const input = await createInput({ message, mode: "queue", idempotencyKey: key }, from, blobs);
      return { runId: queue.admit(input).runId };
    });
  } catch (error) {
    // The user runs as many turns as allowed: this one waits for another to end.
    if (!hasLease && isThinkeryError(error) && error.code === "conflict") throw fail("unavailable", error.message);
    throw error;
  }
}

/** Returns how turns ended, without those that have not. */
export function getTurnOutcomes({ turns }: AgentStore, runIds: readonly string[]): Record<string, ScheduleOutcome> {
  const outcomes: Record<string, ScheduleOutcome> = {};
  for (const runId of runIds) {
    const turn = turns.get(runId);
    if (turn && isOver(turn)) outcomes[runId] = turn.status === "error" ? "failed" : toOutcome(turn.status);
  }
  return outcomes;
}

const toOutcome = (status: string): ScheduleOutcome => (status === "canceled" ? "canceled" : "completed");
