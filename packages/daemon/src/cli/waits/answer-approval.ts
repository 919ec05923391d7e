import {
  type Approval,
  type ApprovalAnswer,
  type AskedCall,
  fail,
  isThinkeryError,
  type RememberScope,
} from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import { findByPrefix } from "./inbox.ts";

export interface AnswerFlags {
  /** Ids of calls, or the starts of ids. Without any, all calls are decided. */
  calls: string[];
  input?: unknown;
  result?: unknown;
  remember?: RememberScope;
  reason?: string;
}

/** Sends a decision about calls, with the digest of what was shown. Fails if somebody else has answered. */
export async function answerApproval(
  client: Client,
  { id, digest }: Pick<Approval, "id" | "digest">,
  answer: Partial<ApprovalAnswer>,
): Promise<Approval> {
  try {
    return await client.call("answerApproval", { params: { id }, body: { ...answer, digest } });
  } catch (error) {
    throw explainScope(error);
  }
}

/** Creates the answer that approves an approval, or some of its calls. */
export function createApproval(approval: Approval, flags: AnswerFlags): Partial<ApprovalAnswer> {
  const { input, result, remember, reason } = flags;
  const common = { ...(remember === undefined ? {} : { remember }), ...(reason === undefined ? {} : { reason }) };
  if (input === undefined && result === undefined) return { ...common, ...decide(approval, flags.calls, true) };
  if (input !== undefined && result !== undefined) {
    throw fail("bad_request", "Pass --input to run the call with, or --result in its place, not both.");
  }
  if (remember !== undefined && remember !== "once") {
    const why = "what would be remembered is the call that was shown, which does not run";
    throw fail("bad_request", `--remember cannot be combined with --input or --result: ${why}.`);
  }
  const calls = flags.calls.length > 0 ? findCalls(approval, flags.calls) : listUndecided(approval);
  const [call] = calls;
  if (!call || calls.length > 1) {
    const ids = listUndecided(approval).map(({ id, name }) => `${id} (${name})`);
    throw fail("bad_request", `--input and --result are for one call; choose it with --call: ${ids.join(", ")}.`);
  }
  const changed = input === undefined ? { result } : { input };
  return { ...common, decisions: [{ callId: call.id, approved: true, ...changed }] };
}

/** Creates the answer that denies an approval, or some of its calls. */
export function createDenial(approval: Approval, { calls, reason }: AnswerFlags): Partial<ApprovalAnswer> {
  return { ...(reason === undefined ? {} : { reason }), ...decide(approval, calls, false) };
}

/** The calls that an answer decides. */
export function listDecided({ calls }: Approval, { decisions }: Partial<ApprovalAnswer>): AskedCall[] {
  const named = decisions && new Set(decisions.map(({ callId }) => callId));
  return calls.filter(({ id, decision }) => (named ? named.has(id) : decision === undefined));
}

/** What `remember` allows from now on, each kind of call once. */
export const describeRemembered = (calls: readonly AskedCall[]): string =>
  [...new Set(calls.map(({ name, remember }) => `${name} ${remember ?? "(every call)"}`))].join(", ");

function decide(approval: Approval, ids: string[], approved: boolean): Partial<ApprovalAnswer> {
  if (ids.length === 0) return { approved };
  return { decisions: findCalls(approval, ids).map(({ id }) => ({ callId: id, approved })) };
}

function findCalls({ calls }: Approval, ids: string[]): AskedCall[] {
  const found = ids.map((id) => {
    const call = findByPrefix(calls, id, ({ name }) => name);
    if (call) return call;
    const known = calls.map((other) => `${other.id} (${other.name})`).join(", ");
    throw fail("not_found", `The approval has no call “${id}”. Its calls: ${known}.`);
  });
  return [...new Set(found)];
}

const listUndecided = ({ calls }: Approval) => calls.filter(({ decision }) => !decision);

/** Says how to get a token that may answer approvals. */
export function explainScope(error: unknown): unknown {
  if (!isThinkeryError(error) || error.code !== "forbidden") return error;
  return fail(
    "forbidden",
    `${error.message} Create one with \`thinkery token new approver --scope read,approve\`, and set THINKERY_TOKEN to it.`,
  );
}
