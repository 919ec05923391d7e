import type { WaitAnswer } from "@thinkery/sdk";
import { evaluatePolicy } from "../../policy/evaluate-policy.ts";
import type { DecidedCall } from "../../store/approvals.ts";
import type { StoredContinuation } from "../../store/continuations.ts";
import { createOutput } from "../../tools/output.ts";
import { digestCalls } from "./call-digest.ts";
import {
  type CallScope,
  createInputFailure,
  type PreparedCall,
  type RefusedCall,
  refuseCall,
  type RequestedCall,
} from "./execute-call.ts";
import { parseInput } from "./parse-input.ts";
import type { CallFailure } from "./run-with-timeout.ts";

type Output = Awaited<ReturnType<typeof createOutput>>;

/**
 * Prepares a call that a person has decided about. What runs is exactly what was approved, or the input that they gave
 * in its place, which passes the gate again. Rules that deny win over an approval. Returns undefined if the call has its
 * result without running.
 */
export async function prepareDecidedCall(
  call: RequestedCall,
  decided: DecidedCall,
  scope: CallScope<Output>,
): Promise<PreparedCall | undefined> {
  const { approval, call: asked, decision } = decided;
  const found = scope.find(call.name);
  if ("failure" in found) return refuse({ ...call, input: {} }, found.failure, scope);
  const { tool } = found;
  const requested = { ...call, tool };
  if (!decision.approved) {
    return refuse(requested, { code: "denied", message: explainDenial(decided) }, scope);
  }
  if (decision.result !== undefined) return answerInPlace(requested, decision.result, scope);
  const interrupted = scope.checkInterrupted?.(call, tool);
  if (interrupted) return refuse(requested, interrupted, scope);

  const isEdited = decision.input !== undefined;
  const given = isEdited ? decision.input : asked.args;
  const decidedCall = { ...requested, input: given };
  const digest = digestCalls(approval.calls.map(({ name, args: input }) => ({ name, input })));
  if (digest !== approval.digest || asked.name !== tool.name) {
    const message = "The call is not the one that was approved, so it did not run. Ask again.";
    return refuse(decidedCall, { code: "denied", message }, scope);
  }
  const parsed = parseInput(tool, given);
  if ("issues" in parsed) return refuse(decidedCall, createInputFailure(tool.name, parsed.issues), scope);
  const failure = isEdited ? await checkEdited(call.id, tool.name, parsed.input, scope) : undefined;
  if (failure) return refuse(decidedCall, failure, scope);
  const { action, reason } = evaluatePolicy(scope.step.deps.config, { tool, input: parsed.input });
  if (action === "deny") return refuse(decidedCall, { code: "denied", message: reason }, scope);
  return { id: call.id, tool, input: parsed.input, isApproved: true };
}

/** Prepares a call that waited for something other than an approval, and has its answer. */
export function prepareAnsweredCall(
  call: RequestedCall,
  { state, answer }: StoredContinuation,
  scope: CallScope<Output>,
): PreparedCall | undefined {
  const found = scope.find(call.name);
  if ("failure" in found) return refuse({ ...call, input: {} }, found.failure, scope);
  const { tool } = found;
  const interrupted = tool.resume && scope.checkInterrupted?.(call, tool);
  if (interrupted) return refuse({ ...call, tool }, interrupted, scope);
  const waitAnswer: WaitAnswer = { ...answer, ...(state === undefined ? {} : { state }) };
  return { id: call.id, tool, input: call.input, answer: waitAnswer };
}

function refuse(call: RefusedCall, failure: CallFailure, scope: CallScope<Output>): undefined {
  refuseCall(call, failure, scope);
  return undefined;
}

async function answerInPlace(
  { id, tool, input }: RequestedCall & PreparedCall,
  result: unknown,
  { step, log }: CallScope<Output>,
): Promise<undefined> {
  const call = { id, tool: { ...tool, action: "answer" }, input };
  const output = await createOutput({ name: tool.name }, id, result, step.blobs);
  step.record(log.createStartedEvent(call), log.createCompletedEvent(call, result, output, 0));
  return undefined;
}

/** Lets middleware veto an input that a person wrote. It cannot change it: nobody would have approved the change. */
async function checkEdited(
  id: string,
  name: string,
  input: unknown,
  { step: { middleware } }: CallScope<Output>,
): Promise<CallFailure | undefined> {
  if (!middleware.has("beforeTool")) return undefined;
  const decision = await middleware.runBeforeTool({ id, name, input });
  if ("deny" in decision) return { code: "denied", message: decision.deny };
  if (!decision.changed) return undefined;
  return { code: "denied", message: `Middleware would change the edited input of ${name}, so it did not run.` };
}

function explainDenial({ approval, decision, call }: DecidedCall): string {
  if (approval.status === "expired") return `Nobody approved this call of ${call.name} in time, so it did not run.`;
  const reason = decision.reason ? ` The reason given: ${decision.reason}` : "";
  return `A person denied this call of ${call.name}, so it did not run.${reason}`;
}
