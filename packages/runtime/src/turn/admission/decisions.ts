import {
  type Approval,
  type ApprovalAnswer,
  type CallDecision,
  type EventData,
  fail,
  type NewEvent,
} from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";

type Decided = Extract<NewEvent, { type: "hitl.resume" }>;

/** Returns the approval that an answer is about. Throws if there is none, or it has its answer. */
export function findAnswered(store: AgentStore, answer: ApprovalAnswer): Approval {
  const { approvalId, approved, decisions, digest } = answer;
  if (approved === undefined && !decisions)
    throw createIssue("Give `approved`, or `decisions` for single calls.", ["approved"]);
  const approval = approvalId === undefined ? findOnlyPending(store) : store.approvals.get(approvalId);
  if (!approval) throw fail("not_found", "There is no approval with this id.");
  if (approval.status !== "pending") throw fail("conflict", explainOver(approval));
  if (Date.parse(approval.expiresAt) <= Date.now()) throw fail("conflict", "The approval has expired.");
  if (digest !== undefined && digest !== approval.digest) {
    throw fail("conflict", "The digest is not the one of these calls. Look at the approval again before you answer.");
  }
  return approval;
}

/** Converts an answer to the event that decides calls. Throws if it names unknown or decided calls. */
export function createDecision(approval: Approval, answer: ApprovalAnswer, by: string): Decided {
  const { approved, reason, remember } = answer;
  const given = createGivenDecisions(approval, answer);
  const rest = approval.calls.filter(({ id, decision }) => !decision && !given.some(({ callId }) => callId === id));
  const decisions =
    approved === undefined
      ? given
      : [...given, ...rest.map(({ id }) => ({ callId: id, approved, ...(reason ? { reason } : {}) }))];
  const modified = decisions.flatMap((decision) => toModifiedCall(approval, decision));
  return {
    type: "hitl.resume",
    data: {
      runId: approval.turn,
      approvalId: approval.id,
      approved: decisions.some((decision) => decision.approved),
      ...(modified.length > 0 ? { modifiedToolCalls: modified } : {}),
      decisions,
      by,
      ...(reason ? { reason } : {}),
      ...(remember === "once" ? {} : { remember }),
    },
  };
}

/** Decides everything that is still open: nobody answered in time. */
export function createExpiry({ id, turn, calls }: Approval): Decided {
  const decisions = calls.filter(({ decision }) => !decision).map((call) => ({ callId: call.id, approved: false }));
  return { type: "hitl.resume", data: { runId: turn, approvalId: id, approved: false, decisions, expired: true } };
}

function findOnlyPending(store: AgentStore): Approval {
  const [first, second] = store.approvals.listPending();
  if (!first) throw fail("conflict", "No tool call is waiting for approval.");
  if (second) throw fail("bad_request", "Several approvals are pending. Say which with `approvalId`.");
  return first;
}

function createGivenDecisions(approval: Approval, answer: ApprovalAnswer): CallDecision[] {
  const { decisions = [], modifiedToolCalls, reason } = answer;
  const given = decisions.map((decision, index) => {
    const path = ["decisions", index];
    const call = approval.calls.find(({ id }) => id === decision.callId);
    if (!call) throw createIssue("The approval has no call with this id.", [...path, "callId"]);
    if (call.decision) throw fail("conflict", `The call ${call.id} is already decided.`);
    if (decisions.findIndex(({ callId }) => callId === decision.callId) !== index) {
      throw createIssue("The call is decided twice.", [...path, "callId"]);
    }
    if (!decision.approved && (decision.input !== undefined || decision.result !== undefined)) {
      throw createIssue("A denied call has neither input nor result. Set `approved` to true.", [...path, "approved"]);
    }
    if (decision.input !== undefined && decision.result !== undefined) {
      throw createIssue("Give an input to run the call with, or a result in its place, not both.", [...path, "result"]);
    }
    return reason && decision.reason === undefined && !decision.approved ? { ...decision, reason } : decision;
  });
  if (!modifiedToolCalls) return given;
  if (decisions.length > 0) throw createIssue("Give `decisions` or `modifiedToolCalls`, not both.", ["decisions"]);
  if (answer.approved !== true) {
    throw createIssue("New inputs are for calls that are approved. Set `approved` to true.", ["approved"]);
  }
  return createModifiedDecisions(approval, modifiedToolCalls);
}

/** S1's form of an edit: new inputs for all calls, in their order. */
function createModifiedDecisions(
  { calls }: Approval,
  modified: NonNullable<ApprovalAnswer["modifiedToolCalls"]>,
): CallDecision[] {
  if (modified.length !== calls.length) {
    throw createIssue(`Expected ${calls.length} calls, as many as were proposed.`, ["modifiedToolCalls"]);
  }
  return calls.map((call, index) => {
    if (call.decision) throw fail("conflict", `The call ${call.id} is already decided.`);
    const { toolName, args } = modified[index] ?? { toolName: "", args: undefined };
    if (toolName !== call.name) {
      throw createIssue(`Expected ${call.name}: a call can get another input, not another tool.`, [
        "modifiedToolCalls",
        index,
        "toolName",
      ]);
    }
    const isChanged = JSON.stringify(args) !== JSON.stringify(call.args);
    return { callId: call.id, approved: true, ...(isChanged ? { input: args ?? {} } : {}) };
  });
}

function toModifiedCall({ calls }: Approval, { callId, input }: CallDecision): ModifiedCalls {
  const call = calls.find(({ id }) => id === callId);
  return call && input !== undefined ? [{ toolName: call.name, args: input }] : [];
}

type ModifiedCalls = NonNullable<EventData["hitl.resume"]["modifiedToolCalls"]>;

function createIssue(message: string, path: (string | number)[]): Error {
  return fail("bad_request", `Invalid \`${path.join(".")}\`: ${message}`, { issues: [{ path, message }] });
}

function explainOver({ status, answeredBy }: Approval): string {
  if (status === "expired") return "The approval has expired: its turn is over, or nobody answered in time.";
  return `The approval was already answered${answeredBy ? ` by ${answeredBy}` : ""}: ${status}.`;
}
