import type { Caller } from "../client/caller.ts";
import type { Continuation, Question } from "../protocol/continuation.ts";
import { parseAddress, parseAgencyKey } from "../protocol/names.ts";
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
  const own = questions.questions.filter(({ agent }) => isSameAgent(agent, params));
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

function isSameAgent(address: string, { agency, agent }: { agency: string; agent: string }): boolean {
  const parsed = parseAddress(address);
  return parsed !== undefined && parseAgencyKey(parsed.agency).id === agency && parsed.path.join("/") === agent;
}
