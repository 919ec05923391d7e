import type { AgentEvent, AgentTarget, Outcome } from "@thinkery/sdk";
import { type Client, findOutcome, withRetry } from "@thinkery/sdk/client";
import { exitCodes } from "../exit.ts";
import type { OpenWaits } from "../waits/inbox.ts";

/** A turn that waits for a person. It stays, and goes on when somebody answers. */
export interface WaitingTurn extends OpenWaits {
  runId: string;
  agent: string;
  status: "waiting";
}

const pageSize = 1000;

/** Reads a turn's outcome from the events after `after`; returns undefined while it is running. */
export async function readOutcome(
  client: Client,
  { agency, agent }: AgentTarget,
  runId: string,
  after: number,
): Promise<Outcome | undefined> {
  const readPage = (from: number) => {
    const query = { after: from, limit: pageSize };
    return withRetry((signal) => client.call("listEvents", { params: { agency, agent }, query, signal }));
  };
  const events: AgentEvent[] = [];
  for (let next: number | undefined = after; next !== undefined;) {
    const found: Awaited<ReturnType<typeof readPage>> = await readPage(next);
    events.push(...found.events);
    next = found.next;
  }
  return findOutcome(events, runId, agent);
}

export function toOutcomeExitCode(outcome: Outcome | WaitingTurn): number {
  if (outcome.status === "waiting") return exitCodes.waiting;
  const { status, failure } = outcome;
  if (status === "completed") return exitCodes.ok;
  return failure?.code === "steps" || failure?.code === "budget" ? exitCodes.budget : exitCodes.failed;
}
