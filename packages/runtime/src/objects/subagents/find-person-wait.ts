import type { PersonWait } from "@thinkery/sdk";
import type { SubagentRow } from "../../store/subagent-row.ts";
import type { Subagents } from "../../store/subagents.ts";

/**
 * Returns what an agent's sub-agents wait for, if none of them goes on before a person answers; only those of one turn
 * if it is given.
 */
export function findPersonWait(subagents: Subagents, maxActive: number, turn?: string): PersonWait | undefined {
  const rows = subagents.listActive(turn);
  const waits = rows.flatMap(({ waitingFor }) => waitingFor ?? []);
  if (waits.length === 0 || !rows.every(isStuck)) return undefined;
  // One in the queue starts when any other finishes.
  if (waits.length < rows.length && (subagents.countRunning() < maxActive || !subagents.listActive().every(isStuck)))
    return undefined;
  return waits.includes("approval") ? "approval" : "question";
}

const isStuck = ({ state, waitingFor }: SubagentRow) => state === "queued" || waitingFor !== undefined;
