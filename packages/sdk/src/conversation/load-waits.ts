import type { Caller } from "../client/caller.ts";
import type { Continuation, Question } from "../protocol/continuation.ts";
import { parseAddress } from "../protocol/names.ts";
import type { Waits } from "./waits.ts";

/** Loads what an agent already waits for. `pending` is what its state names: approvals first, then questions. */
export async function loadWaits(
  { call }: Pick<Caller, "call">,
  params: { agency: string; agent: string },
  pending: Continuation,
): Promise<Waits> {
  const isApproval = pending.kind === "approval";
  if (!isApproval && pending.kind !== "input") return { approvals: [], continuations: [pending] };
  const [approvals, questions] = await Promise.all([
    isApproval ? call("listAgentApprovals", { params, query: { status: "pending" } }) : { approvals: [] },
    call("listQuestions"),
  ]);
  const own = questions.questions.filter(({ agent, turn }) => turn === pending.turn && isPathOf(agent, params.agent));
  return {
    approvals: approvals.approvals,
    continuations: [
      ...own.map(toContinuation),
      // The inbox is updated a moment later.
      ...(isApproval || own.some(({ id }) => id === pending.id) ? [] : [pending]),
    ],
  };
}

function toContinuation(question: Question): Continuation {
  const { agent: _, ...rest } = question;
  return { ...rest, kind: "input" };
}

/** The agency is not compared: its turn says which one it is, and agencies of other users have two names. */
const isPathOf = (address: string, agent: string) => parseAddress(address)?.path.join("/") === agent;
