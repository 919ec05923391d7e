import type { NewEvent, ToolErrorCode } from "@thinkery/sdk";
import { isDraining } from "../../host/drain.ts";
import type { ToolCall } from "../../model/model.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import { toResultId } from "../../store/messages.ts";
import { createOutput } from "../../tools/output.ts";
import { TurnError } from "../turn-error.ts";
import { askApproval, findAskIssue } from "./ask-approval.ts";
import { createContinuation } from "./create-continuation.ts";
import { prepareAnsweredCall, prepareDecidedCall } from "./decided-call.ts";
import {
  type AskedCall,
  type CallLog,
  type CallOutcome,
  type CallScope,
  type PreparedCall,
  prepareCall,
  refuseCall,
  runCall,
} from "./execute-call.ts";
import { listReadyCalls } from "./open-calls.ts";
import { maxIdenticalCalls } from "./repetition.ts";
import { runsLocally, type StepContext } from "./step-context.ts";
import { createToolContext } from "./tool-context.ts";

type Output = Awaited<ReturnType<typeof createOutput>>;

/** Executes calls of one model response. When this resolves, every call has its result or waits. */
export async function executeModelCalls(calls: readonly ToolCall[], step: StepContext): Promise<void> {
  await executeInOrder(calls, step);
  // What a call waits for may arrive while others run. Nothing else notices, because the turn is not paused then.
  while (step.mayHaveWaiting()) {
    step.record();
    const ready = listReadyCalls(step.store, step.runId);
    if (ready.length === 0) return;
    await executeInOrder(ready, step);
  }
}

/**
 * Adjacent parallel calls run concurrently. Calls after one that needs approval wait too, so that the model's order is
 * kept.
 */
async function executeInOrder(calls: readonly ToolCall[], step: StepContext): Promise<void> {
  const scope = createModelScope(step);
  const prepared: PreparedCall[] = [];
  const asked: AskedCall[] = [];
  for (const call of calls) {
    const result = await prepareModelCall(call, scope);
    if (!result) continue;
    if ("status" in result) asked.push(result);
    else if (asked.length === 0) prepared.push(result);
  }
  for (const group of groupParallel(prepared)) {
    step.signal.throwIfAborted();
    // A host that is shutting down starts nothing new; these calls are made after its restart.
    if (isDraining()) {
      step.record();
      await new Promise(() => {});
    }
    const [only] = group;
    const isLocal = only !== undefined && group.length === 1 && runsLocally(only.tool, step);
    // A local tool's only effect is events: they are written together with its start and its result.
    const record = isLocal ? step.hold : step.record;
    record(...group.map((call) => scope.log.createStartedEvent(call)));
    await Promise.all(group.map(async (call) => noteResult(call, await runCall(call, scope, record), step)));
    step.signal.throwIfAborted();
  }
  if (asked.length > 0) await askApproval(asked, step);
}

/** Returns undefined if the call has its result, or still waits for it. */
async function prepareModelCall(
  call: ToolCall,
  scope: CallScope<Output>,
): Promise<PreparedCall | AskedCall | undefined> {
  const { store } = scope.step;
  const requested = { ...call, input: call.input ?? {} };
  const continuation = store.continuations.find(call.id);
  if (continuation?.answer) return prepareAnsweredCall(requested, continuation, scope);
  const decided = store.approvals.findDecision(call.id);
  if (decided) return prepareDecidedCall(requested, decided, scope);
  stopRepetition(call, scope);
  const result = await prepareCall(requested, scope);
  if (!("status" in result)) return result;
  if (result.status === "failed") return undefined;
  const issue = findAskIssue(result);
  if (!issue) return result;
  refuseCall({ ...requested, tool: result.tool }, issue, scope);
  return undefined;
}

function noteResult({ id }: PreparedCall, outcome: CallOutcome<Output>, { repetition }: StepContext): void {
  if (outcome.status === "completed") repetition.noteResult(id, outcome.output.text);
  else if (outcome.status === "failed") repetition.noteResult(id, outcome.failure.message);
}

function createModelScope(step: StepContext): CallScope<Output> {
  const { deps, store, runId, signal } = step;
  return {
    step,
    signal,
    log: createModelLog(step),
    find(name) {
      const tool = deps.tools.find(name);
      return tool ? { tool } : { failure: { code: "unknown_tool", message: deps.tools.describeUnknown(name) } };
    },
    checkInterrupted({ id }, tool) {
      if (tool.idempotent || store.ledger.get(id)?.state !== "started") return undefined;
      step.hold(...closeChildCalls(store, runId, "outcome_unknown", id));
      const message = `The host stopped while ${tool.name} was running. Whether it took effect is unknown. Check before you call it again.`;
      return { code: "outcome_unknown", message };
    },
    // A deferred result may have been reported before its tool returned.
    isOpen: ({ id, tool }) => runsLocally(tool, step) || store.ledger.get(id)?.state === "started",
    createContext: ({ id, tool, isApproved = false }, ending, record) =>
      createToolContext({ callId: id, toolName: tool.name, isApproved }, step, ending, record),
  };
}

function createModelLog({ runId, step, blobs }: StepContext): CallLog<Output> {
  return {
    createRefusedEvents: (call, { code, message }) => [createToolError(call, runId, code, message, 0, "refuse")],
    createStartedEvent({ id, tool, input }) {
      const args = tool.redactInput ? tool.redactInput(input) : input;
      const { idempotent } = tool;
      return { type: "tool.started", data: { runId, step, callId: id, toolName: tool.name, args, idempotent } };
    },
    encode: ({ id, tool }, value) => createOutput(tool, id, value, blobs),
    createCompletedEvent({ id, tool }, _, { text, result }, ms) {
      const { name: toolName, action } = tool;
      const messageId = toResultId(id);
      return {
        type: "tool.output",
        data: { runId, callId: id, toolName, messageId, output: text, result, ms, action },
      };
    },
    createFailedEvent: ({ id, tool }, { code, message }, ms) =>
      createToolError({ id, name: tool.name }, runId, code, message, ms, tool.action),
    createDeferredEvents({ id, tool }, ms, wait) {
      const { name: toolName, action } = tool;
      const deferred: NewEvent = { type: "tool.deferred", data: { runId, callId: id, toolName, ms, action } };
      return wait ? [deferred, createContinuation(wait, { runId, callId: id, toolName })] : [deferred];
    },
  };
}

function stopRepetition(call: ToolCall, { step, log }: CallScope<Output>): void {
  const tool = step.deps.tools.find(call.name);
  if (tool?.polls) return;
  const name = tool?.name ?? call.name;
  if (!step.repetition.isStuck(call, name, step.step)) return;
  const message = `${name} was called ${maxIdenticalCalls} times in a row with the same input. The turn was stopped.`;
  step.record(...log.createRefusedEvents(call, { code: "repeated", message }));
  throw new TurnError(
    "repeated_call",
    `I called ${name} ${maxIdenticalCalls} times in a row with the same input and stopped. Should I continue, or do something else?`,
    "Reply to continue.",
  );
}

/** Creates the result of a call that has no output. */
export function createToolError(
  { id, name }: Pick<ToolCall, "id" | "name">,
  runId: string,
  errorCode: ToolErrorCode,
  error: string,
  ms: number,
  action: string,
): NewEvent {
  const messageId = toResultId(id);
  return { type: "tool.error", data: { runId, callId: id, toolName: name, messageId, error, errorCode, ms, action } };
}

/** Creates results for open calls of code that was interrupted; only for those under one call, if given. */
export function closeChildCalls(
  store: AgentStore,
  runId: string,
  errorCode: ToolErrorCode,
  parentCallId?: string,
): NewEvent[] {
  const error = "The code that made this call ended before it had a result.";
  return store.ledger.listOpenChildren(runId, parentCallId).map((call) => ({
    type: "capability.answered",
    data: {
      runId,
      parentCallId: call.parent_call,
      callId: call.call,
      toolName: call.tool,
      ms: 0,
      action: "cancel",
      error,
      errorCode,
    },
  }));
}

function groupParallel(calls: readonly PreparedCall[]): PreparedCall[][] {
  const groups: PreparedCall[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (call.tool.parallel && last?.every(({ tool }) => tool.parallel)) last.push(call);
    else groups.push([call]);
  }
  return groups;
}
