import type { Blueprint, Consultation, NewEvent, Props, Tool, ToolTrouble, TurnLimits } from "@thinkery/sdk";
import { draining, hold } from "../host/drain.ts";
import type { Performance } from "../middleware/pipeline.ts";
import type { ToolCall } from "../model/model.ts";
import type { AgentLinux } from "../sandbox/linux.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import { outputOf } from "../tools/output.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { TurnFailed } from "./failed.ts";
import { inputFor, made, troubleOf } from "./made-call.ts";
import { decide } from "./policy.ts";
import { mostIdentical, type Repetition } from "./repetition.ts";
import { shownCall } from "./shown-call.ts";
import { contextOf } from "./tool-context.ts";

export interface GateOptions {
  agent: string;
  runId: string;
  step: number;
  store: AgentStore;
  blobs: Blobs;
  tools: Toolbox;
  /** What only code may call, beside the tools. */
  capabilities: readonly Tool[];
  sandbox: Sandbox;
  workspace: Workspace;
  linux: AgentLinux;
  config: Blueprint["config"];
  limits: TurnLimits;
  signal: AbortSignal;
  repetition: Repetition;
  props: Props;
  middleware: Performance;
  consult(question: Consultation): Promise<string>;
  /** What a call under way has to show. */
  progress(callId: string, text: string): void;
  /** Writes these, and what is held; with none, only that. */
  record(...events: NewEvent[]): void;
  /** To be recorded with whatever comes next, before anything else can happen. */
  hold(...events: NewEvent[]): void;
}

/** A call that may be made: its tool, and its input as the tool's schema sees it. */
interface Admitted {
  call: ToolCall;
  tool: Tool;
  input: unknown;
}

/**
 * The one way from a model's wish to an effect: is there such a tool, is the input right, does the policy allow it,
 * has it been begun before; then the ledger, the tool, its outcome. Every call gets exactly one result.
 */
export async function runCalls(calls: readonly ToolCall[], options: GateOptions): Promise<void> {
  const admitted: Admitted[] = [];
  for (const call of calls) {
    const checked = check(call, options);
    if (checked) admitted.push(checked);
  }
  for (const group of grouped(admitted)) {
    options.signal.throwIfAborted();
    // A host that is about to stop begins nothing new; the calls are made when it is back.
    if (draining()) {
      options.record();
      await new Promise(() => {});
    }
    const [only] = group;
    if (group.length === 1 && only?.tool.local) {
      await performLocally(only, options);
      continue;
    }
    // The ledger's rows are written before the first effect, and the output gate holds effects until they are durable.
    options.record(...group.map((entry) => started(entry, options)));
    await Promise.all(group.map((entry) => perform(entry, options, options.record)));
    options.signal.throwIfAborted();
  }
}

/** An effect that is nothing but facts in the log is written in one go with its ledger row and its result. */
async function performLocally(entry: Admitted, options: GateOptions): Promise<void> {
  options.hold(started(entry, options));
  await perform(entry, options, options.hold);
}

function check(call: ToolCall, options: GateOptions): Admitted | undefined {
  const tool = options.tools.find(call.name);
  stopRepetition(call, tool?.name ?? call.name, options);
  if (!tool) return refuse(call, options, "unknown_tool", options.tools.unknown(call.name));
  if (call.malformed !== undefined) {
    return refuse(call, options, "invalid_input", `The input of ${tool.name} is not JSON. Send it again as one JSON object.`);
  }
  const { input, problems } = inputFor(tool, call.input ?? {});
  if (problems) return refuse(call, options, "invalid_input", `The input of ${tool.name} is not valid. ${problems}`);
  const begun = options.store.ledger.get(call.id);
  if (begun?.state === "started" && !tool.repeatable) {
    options.hold(...unansweredWithin(options.store, options.runId, "outcome_unknown", call.id));
    return refuse(
      call,
      options,
      "outcome_unknown",
      `The host stopped while ${tool.name} was running. Whether it took effect is unknown. Check before you call it again.`,
    );
  }
  const { action, reason } = decide(options.config, tool, input);
  if (action !== "allow") return refuse(call, options, "denied", reason);
  return { call, tool, input };
}

function stopRepetition(call: ToolCall, name: string, options: GateOptions): void {
  if (!options.repetition.isStuck(call, name, options.step)) return;
  refuse(call, options, "repeated", `${name} was called ${mostIdentical} times in a row with the same input. The turn was stopped.`);
  throw new TurnFailed(
    "repeated_call",
    `I called ${name} ${mostIdentical} times in a row with the same input and stopped. Should I go on, or do something else?`,
    "Answer to go on.",
  );
}

function refuse(call: ToolCall, options: GateOptions, trouble: ToolTrouble, error: string): undefined {
  options.record(troubled(call, options, trouble, error, 0, "refuse"));
}

function started({ call, tool, input }: Admitted, { runId, step }: GateOptions): NewEvent {
  return {
    type: "tool.started",
    data: { runId, step, callId: call.id, toolName: tool.name, args: tool.logged ? tool.logged(input) : input, repeatable: tool.repeatable },
  };
}

/** Makes the call. Whatever goes wrong in a tool is the model's to read. `note` writes what came of it. */
async function perform(entry: Admitted, options: GateOptions, note: GateOptions["record"]): Promise<void> {
  const release = hold();
  try {
    const { middleware } = options;
    const shown = shownCall(entry.call, middleware);
    if (middleware.has("onToolStart")) await middleware.toolStart(shown);
    const { value, error } = await result(entry, options, note);
    if (value === null) return;
    if (error === undefined) await middleware.toolResult(shown, value);
    else if (!options.signal.aborted) await middleware.toolError(shown, error);
  } finally {
    release();
  }
}

async function result(entry: Admitted, options: GateOptions, note: GateOptions["record"]): Promise<{ value?: unknown; error?: Error }> {
  const { call, tool } = entry;
  const { runId } = options;
  const began = Date.now();
  try {
    const { signal, limits } = options;
    const value = await made({ tool, input: entry.input, limits, signal, contextFor: (ending) => contextOf({ callId: call.id, toolName: tool.name }, options, ending, note) });
    const ms = Date.now() - began;
    if (value === null) defer(entry, options, ms);
    else {
      const { text, result } = await outputOf(tool, call.id, value, options.blobs);
      options.repetition.hear(call.id, text);
      settle(entry, options, note, {
        type: "tool.output",
        data: { runId, callId: call.id, toolName: tool.name, messageId: resultId(call.id), output: text, result, ms, action: tool.action },
      });
    }
    return { value };
  } catch (error) {
    const [trouble, text] = troubleOf(error, tool, options.signal);
    options.repetition.hear(call.id, text);
    settle(entry, options, note, troubled(call, options, trouble, text, Date.now() - began, tool.action));
    return { error: error instanceof Error ? error : new Error(text) };
  }
}

/** Whoever was quicker to report the answer has given it. */
function settle({ call, tool }: Admitted, { store }: GateOptions, note: GateOptions["record"], event: NewEvent): void {
  if (tool.local || store.ledger.get(call.id)?.state === "started") note(event);
}

/** The answer comes later, or was reported already. What is held may be the ledger's row. */
function defer({ call, tool }: Admitted, { runId, record }: GateOptions, ms: number): void {
  record({ type: "tool.deferred", data: { runId, callId: call.id, toolName: tool.name, ms, action: tool.action } });
}

/** The result of a call that has none to show. */
export function troubled(
  { id, name }: Pick<ToolCall, "id" | "name">,
  { runId }: Pick<GateOptions, "runId">,
  trouble: ToolTrouble,
  error: string,
  ms: number,
  action: string,
): NewEvent {
  return { type: "tool.error", data: { runId, callId: id, toolName: name, messageId: resultId(id), error, trouble, ms, action } };
}

/** The answers of calls that code had made when it was cut off. */
export function unansweredWithin(store: AgentStore, runId: string, trouble: ToolTrouble, within?: string): NewEvent[] {
  const error = "The run that made this call ended before it had an answer.";
  return store.ledger
    .openWithin(runId, within)
    .map(({ call, tool, within }) => ({ type: "capability.answered", data: { runId, within, callId: call, toolName: tool, ms: 0, action: "cancel", error, trouble } }));
}

export const resultId = (callId: string) => `${callId}-result`;

/** Neighbours that are independent of each other go together; every other call goes alone. */
function grouped(entries: readonly Admitted[]): Admitted[][] {
  const groups: Admitted[][] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    if (entry.tool.independent && last?.every(({ tool }) => tool.independent)) last.push(entry);
    else groups.push([entry]);
  }
  return groups;
}
