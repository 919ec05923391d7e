import {
  Deferred,
  type MessageToolCall,
  type NewEvent,
  type Tool,
  type ToolContext,
  type WaitAnswer,
  type WaitOptions,
} from "@thinkery/sdk";
import { hold } from "../../host/drain.ts";
import { evaluatePolicy } from "../../policy/evaluate-policy.ts";
import { createFrozenCopy } from "../../store/persisted-object.ts";
import { parseInput } from "./parse-input.ts";
import { type CallFailure, describeFailure, runWithTimeout } from "./run-with-timeout.ts";
import { runsLocally, type StepContext } from "./step-context.ts";

/** A call as requested by the model, or by code that the model runs. */
export interface RequestedCall {
  id: string;
  name: string;
  input: unknown;
  /** What the model wrote instead of valid JSON. */
  malformed?: string | undefined;
}

/** A call that may run: its tool, and its input as parsed by the tool's schema. */
export interface PreparedCall {
  id: string;
  tool: Tool;
  input: unknown;
  /** Whether a person has approved exactly this call. */
  isApproved?: boolean;
  /** What the call waited for, if it was deferred and its turn goes on. */
  answer?: WaitAnswer;
}

/** A call that needs a person's approval before it may run. */
export interface AskedCall {
  status: "asked";
  id: string;
  tool: Tool;
  /** The input as it was given, which the tool's schema may convert. */
  given: unknown;
  input: unknown;
  why: string;
}

/** A call that was refused before it started. Has no tool if none was found that may be called. */
export interface RefusedCall extends RequestedCall {
  tool?: Tool;
}

export type CallOutcome<Output> =
  | { status: "completed"; output: Output }
  | { status: "deferred" }
  | { status: "failed"; failure: CallFailure };

/** How calls of one origin are logged, and how their output is encoded. */
export interface CallLog<Output> {
  createRefusedEvents(call: RefusedCall, failure: CallFailure): NewEvent[];
  createStartedEvent(call: PreparedCall): NewEvent;
  /** Converts the tool's return value for the caller. Throws if it cannot be used. */
  encode(call: PreparedCall, value: unknown): Output | Promise<Output>;
  createCompletedEvent(call: PreparedCall, value: unknown, output: Output, ms: number): NewEvent;
  createFailedEvent(call: PreparedCall, failure: CallFailure, ms: number): NewEvent;
  /** Omitted if the caller cannot wait for a deferred result. */
  createDeferredEvents?(call: PreparedCall, ms: number, wait: WaitOptions | undefined): NewEvent[];
}

/** Where calls come from. Calls of the model and calls of code differ only in this. */
export interface CallScope<Output> {
  step: StepContext;
  signal: AbortSignal;
  log: CallLog<Output>;
  /** Returns the tool with this name, or why it cannot be called from here. */
  find(name: string): { tool: Tool } | { failure: CallFailure };
  /** Returns why the call must not be started again, if a crash interrupted it. */
  checkInterrupted?(call: RequestedCall, tool: Tool): CallFailure | undefined;
  /** Returns false if the call already has its result. */
  isOpen?(call: PreparedCall): boolean;
  createContext(call: PreparedCall, signal: AbortSignal, record: StepContext["record"]): ToolContext;
}

/**
 * Executes a call: finds the tool, validates the input, lets middleware change or veto it, evaluates the policy, writes
 * the ledger, runs the tool and records the outcome. There is no other way to an effect. Every call gets exactly one
 * result.
 */
export async function executeCall<Output>(call: RequestedCall, scope: CallScope<Output>): Promise<CallOutcome<Output>> {
  const prepared = await prepareCall(call, scope);
  if ("status" in prepared) {
    return prepared.status === "asked" ? refuseAsked(call, prepared, scope) : prepared;
  }
  // The caller may have been canceled while middleware ran.
  scope.signal.throwIfAborted();
  // The output gate holds back effects until this ledger row is durable.
  scope.step.record(scope.log.createStartedEvent(prepared));
  return runCall(prepared, scope, scope.step.record);
}

type Refusal = Extract<CallOutcome<never>, { status: "failed" }>;

/** Code and shell commands cannot wait for a person. */
function refuseAsked<Output>(call: RequestedCall, { tool, input, why }: AskedCall, scope: CallScope<Output>): Refusal {
  const message = `${why} Only a call by the model can wait for a person's approval, not one made by code or a command.`;
  return refuseCall({ ...call, input, tool }, { code: "denied", message }, scope);
}

/** Records that a call did not start, as its result. */
export function refuseCall<Output>(call: RefusedCall, failure: CallFailure, { step, log }: CallScope<Output>): Refusal {
  step.record(...log.createRefusedEvents(call, failure));
  return { status: "failed", failure };
}

/** The first half of a call: everything that is checked before it may start. */
export async function prepareCall<Output>(
  call: RequestedCall,
  scope: CallScope<Output>,
): Promise<PreparedCall | AskedCall | Refusal> {
  const { step } = scope;
  const found = scope.find(call.name);
  // Without the tool, its redaction is unknown, so none of the input is logged.
  if ("failure" in found) return refuseCall({ ...call, input: {} }, found.failure, scope);
  const { tool } = found;
  const refuse = (failure: CallFailure, input = call.input) => refuseCall({ ...call, input, tool }, failure, scope);
  if (call.malformed !== undefined) {
    const message = `The input of ${tool.name} is not valid JSON. Send it again as one JSON object.`;
    return refuse({ code: "invalid_input", message });
  }
  const parsed = parseInput(tool, call.input);
  if ("issues" in parsed) return refuse(createInputFailure(tool.name, parsed.issues));
  const interrupted = scope.checkInterrupted?.(call, tool);
  if (interrupted) return refuse(interrupted);

  let { input } = parsed;
  let given = call.input;
  if (step.middleware.has("beforeTool")) {
    const decision = await step.middleware.runBeforeTool({ id: call.id, name: tool.name, input });
    if ("deny" in decision) return refuse({ code: "denied", message: decision.deny }, input);
    if (decision.changed) {
      const changed = parseInput(tool, decision.input);
      if ("issues" in changed) {
        return refuse(createInputFailure(tool.name, `${changed.issues} (changed by middleware)`), decision.input);
      }
      ({ input } = changed);
      given = decision.input;
    }
  }
  const { action, reason } = evaluatePolicy(step.deps.config, { tool, input });
  if (action === "ask") return { status: "asked", id: call.id, tool, given, input, why: reason };
  return action === "allow" ? { id: call.id, tool, input } : refuse({ code: "denied", message: reason }, input);
}

/** The second half: runs a call whose start is in the log. Errors of the tool become the call's result. */
export async function runCall<Output>(
  call: PreparedCall,
  scope: CallScope<Output>,
  record: StepContext["record"],
): Promise<CallOutcome<Output>> {
  const { step, signal, log } = scope;
  const { middleware } = step;
  const { id, tool, input } = call;
  const startedAt = Date.now();
  const getElapsed = () => Date.now() - startedAt;
  const settle = (...events: NewEvent[]) => {
    if (scope.isOpen?.(call) ?? true) record(...events);
  };
  const toolCall = middleware.observesTools
    ? freezeCall({ id, name: tool.name, input })
    : { id, name: tool.name, input };
  const release = hold();
  try {
    let value: unknown;
    let output: Output;
    try {
      if (middleware.has("onToolStart")) await middleware.runToolStart(toolCall);
      const createContext = (ending: AbortSignal) => scope.createContext(call, ending, record);
      value = await runWithTimeout({
        tool,
        execute: createExecution(call),
        isLocal: runsLocally(tool, step),
        limits: step.deps.limits,
        signal,
        createContext,
      });
      if (value instanceof Deferred && log.createDeferredEvents) {
        // Recorded at once, with all held events: its result may be reported at any moment.
        step.record(...log.createDeferredEvents(call, getElapsed(), value.wait));
        return { status: "deferred" };
      }
      output = await log.encode(call, value);
      settle(log.createCompletedEvent(call, value, output, getElapsed()), ...step.resultEvents.take(id));
    } catch (error) {
      const failure = describeFailure(error, tool, signal);
      settle(log.createFailedEvent(call, failure, getElapsed()));
      const thrown = error instanceof Error ? error : new Error(failure.message);
      if (!signal.aborted) await middleware.runToolError(toolCall, thrown);
      return { status: "failed", failure };
    }
    await middleware.runToolResult(toolCall, value);
    return { status: "completed", output };
  } finally {
    release();
  }
}

/** Returns what runs the call. One that waited goes on with its answer. */
function createExecution({ tool, input, answer }: PreparedCall): (context: ToolContext) => unknown {
  if (!answer) return (context) => tool.execute(input, context);
  return (context) => (tool.resume ? tool.resume(answer, context) : answer.value);
}

export function createInputFailure(name: string, issues: string): CallFailure {
  return { code: "invalid_input", message: `Invalid input for ${name}. ${issues}` };
}

/** Copies a call for middleware, so that hooks cannot change the tool's input. */
function freezeCall({ id, name, input }: MessageToolCall): MessageToolCall {
  return Object.freeze({ id, name, input: createFrozenCopy(input) });
}
