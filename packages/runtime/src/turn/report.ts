import { fail, type NewEvent, type ToolReport } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import { isOver, type TurnRow } from "../store/turns.ts";
import { outputOf } from "../tools/output.ts";
import { resultId, troubled } from "./gate.ts";



interface Reported {
  turn: TurnRow;
  toolName: string;
  /** It has its answer already. */
  answered: boolean;
}

/** The call that a report is about, or why there is none to report on. */
export function reportOf(store: AgentStore, callId: string): Reported {
  const row = store.ledger.get(callId);
  const turn = row && store.turns.get(row.turn);
  if (!row || !turn) throw fail("not_found", "No tool call of this agent has this id.");
  const answered = row.state === "done" || row.state === "failed";
  if (!answered && isOver(turn)) throw fail("conflict", "The turn that asked for this is over.");
  return { turn, toolName: row.tool, answered };
}

/** The report as the result of its call. */
export async function reported({ callId, output, error }: ToolReport, { turn, toolName }: Reported, blobs: Blobs): Promise<NewEvent> {
  if (error !== undefined) return troubled({ id: callId, name: toolName }, { runId: turn.id }, "threw", error, 0, "report");
  const { text, result } = await outputOf({ name: toolName }, callId, output ?? "", blobs);
  return {
    type: "tool.output",
    data: { runId: turn.id, callId, toolName, messageId: resultId(callId), output: text, result, ms: 0, action: "report" },
  };
}
