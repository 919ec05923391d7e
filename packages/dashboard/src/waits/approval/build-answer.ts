import type { ApprovalAnswer, AskedCall, PendingApproval, RememberScope } from "@thinkery/sdk";
import { type InputDraft, readInputDraft } from "./edit-input.ts";

/** What a person prepares for a call in place of approving it as it is. */
export type CallDraft =
  | { kind: "edit"; input: InputDraft }
  /** The call's result, in place of running the tool. */
  | { kind: "result"; text: string };

export type CallDrafts = Readonly<Record<string, CallDraft>>;

/** A draft that cannot be sent: of which call, and why. */
export interface DraftIssue {
  callId: string;
  issue: string;
  field?: string;
}

type CallDecision = NonNullable<ApprovalAnswer["decisions"]>[number];

/** What the host gets. It names the digest, so that only the calls that the person saw can be approved. */
export type AnswerBody = Omit<ApprovalAnswer, "approvalId"> & { approvalId: string; digest: string };

export const listOpenCalls = ({ calls }: Pick<PendingApproval, "calls">): AskedCall[] =>
  calls.filter(({ decision }) => decision === undefined);

/** Approves one call, or all that are open, with what was prepared for them. */
export function buildApproval(
  approval: PendingApproval,
  drafts: CallDrafts,
  remember: RememberScope,
  callId?: string,
): AnswerBody | DraftIssue {
  const calls = listOpenCalls(approval).filter(({ id }) => callId === undefined || id === callId);
  const decisions: CallDecision[] = [];
  for (const call of calls) {
    const draft = Object.hasOwn(drafts, call.id) ? drafts[call.id] : undefined;
    const decision = decide(call, draft);
    if ("issue" in decision) return decision;
    // Calls that are approved as they are need not be named.
    if (callId !== undefined || draft) decisions.push(decision);
  }
  return {
    ...createBody(approval),
    remember,
    ...(callId === undefined ? { approved: true } : {}),
    ...(decisions.length > 0 ? { decisions } : {}),
  };
}

/** Denies one call, or all that are open. */
export function buildDenial(approval: PendingApproval, reason: string, callId?: string): AnswerBody {
  const given = reason.trim() === "" ? {} : { reason: reason.trim() };
  const body = createBody(approval);
  if (callId === undefined) return { ...body, approved: false, ...given };
  return { ...body, decisions: [{ callId, approved: false, ...given }] };
}

const createBody = ({ id, digest }: PendingApproval) => ({
  approvalId: id,
  digest,
  remember: "once" as RememberScope,
});

/** Returns whether approving a call would do something other than run it as it was asked. */
export function isChanged(call: AskedCall, draft: CallDraft | undefined): boolean {
  const decision = decide(call, draft);
  return "issue" in decision || decision.input !== undefined || decision.result !== undefined;
}

function decide({ id: callId, args }: AskedCall, draft: CallDraft | undefined): CallDecision | DraftIssue {
  if (!draft) return { callId, approved: true };
  if (draft.kind === "result") return { callId, approved: true, result: draft.text };
  const result = readInputDraft(draft.input);
  if ("issue" in result) return { callId, ...result };
  // What was not changed is approved as it was asked.
  if (JSON.stringify(result.input) === JSON.stringify(args)) return { callId, approved: true };
  return { callId, approved: true, input: result.input };
}
