import { type Tool, type ToolContext, ToolFailure, ToolImage, type ToolTrouble } from "@thinkery/sdk";
import { hold } from "../host/drain.ts";
import type { GateOptions } from "./gate.ts";
import { inputFor, made, troubleOf } from "./made-call.ts";
import { decide } from "./policy.ts";
import { shownCall } from "./shown-call.ts";

/** So many calls one run of code may make; of these, so many at a time: the others wait. */
const mostCalls = 1000;
const mostAtOnce = 16;
/** In characters of JSON: of one call, and of all calls of a run. Whatever main reads, everybody waits for. */
const longestInput = 2 * 1024 * 1024;
const longestInputs = 64 * 1024 * 1024;
const deepest = 100;
/** Longer inputs are in the log by their beginning: it says what was done, not with which bytes. */
const longestNoted = 8 * 1024;
const longestAnswer = 10 * 1024 * 1024;

/** What the logs have to know of what is called. */
type Called = Pick<Tool, "name" | "action" | "logged">;

interface CodeCallsOptions {
  /** The call that runs the code. */
  within: string;
  signal: AbortSignal;
  gate: GateOptions;
  /** The id of the next call that code makes under that call. */
  nextId(): string;
  contextFor(call: { callId: string; toolName: string }, signal: AbortSignal): ToolContext;
}

/**
 * What code may call while a tool call runs it: the agent's tools, and what is only for code. The same gate as the
 * model's: is there such a tool, is the input right, does the policy allow it, then the ledger, the tool, the action
 * log. The answers go to the code.
 */
export class CodeCalls {
  readonly #options: CodeCallsOptions;
  readonly #ending = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #waiting: (() => void)[] = [];
  #made = 0;
  /** How much they were given. */
  #given = 0;

  constructor(options: CodeCallsOptions) {
    const { signal } = options;
    this.#options = options;
    signal.addEventListener("abort", () => this.#ending.abort(signal.reason), { once: true });
  }

  /** Input and answer are JSON. Throws what the code is to catch. */
  async call(capability: string, json: string): Promise<string> {
    if (++this.#made > mostCalls) throw new Error(`A run of code may make ${mostCalls} calls.`);
    while (this.#underWay.size >= mostAtOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#ending.signal.throwIfAborted();
    const answering = this.#answer(this.#options.nextId(), capability, json);
    this.#underWay.add(answering);
    try {
      return await answering;
    } finally {
      this.#underWay.delete(answering);
      this.#waiting.shift()?.();
    }
  }

  /** The run is over: what it began is ended, and has its answer in the log when this comes back. */
  async close(): Promise<void> {
    this.#ending.abort(new Error("The run is over."));
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.allSettled(this.#underWay);
  }

  async #answer(callId: string, capability: string, json: string): Promise<string> {
    const { config } = this.#options.gate;
    const tool = this.#find(callId, capability);
    this.#given += json.length;
    if (json.length > longestInput || this.#given > longestInputs) throw new Error(`The input of ${tool.name} is too large: a call may have ${megabytes(longestInput)} MB, and all calls of a run ${megabytes(longestInputs)} MB.`);
    if (isDeeper(json, deepest)) throw new Error(`The input of ${tool.name} is nested more than ${deepest} levels deep.`);
    const parsed: unknown = JSON.parse(json);
    // A tool takes an object, and whoever gives it nothing means an empty one.
    const given = this.#isTool(tool) ? (parsed ?? {}) : parsed;
    const { input, problems } = inputFor(tool, given);
    if (problems) return this.#refuse(callId, tool, given, "invalid_input", `The input of ${tool.name} is not valid. ${problems}`);
    const { action, reason } = decide(config, tool, input);
    if (action !== "allow") return this.#refuse(callId, tool, input, "denied", reason);
    const release = hold();
    try {
      return await this.#make(callId, tool, input);
    } finally {
      release();
    }
  }

  #find(callId: string, capability: string): Tool {
    const { tools, capabilities } = this.#options.gate;
    const [, name] = /^tools\.(.+)$/s.exec(capability) ?? [];
    const tool = name === undefined ? capabilities.find((known) => known.name === capability) : tools.find(name);
    if (tool && !tool.direct) return tool;
    const unknown = name === undefined ? `There is no capability “${capability.slice(0, 100)}”.` : tools.unknown(name);
    const error = tool ? `${tool.name} can be called by the model only, not by code.` : unknown;
    // What was tried is in the logs too.
    const refused = { name: tool?.name ?? (name ?? capability).slice(0, 100), action: "refuse" };
    return this.#refuse(callId, refused, {}, tool ? "denied" : "unknown_tool", error);
  }

  #isTool(found: Tool): boolean {
    return !this.#options.gate.capabilities.includes(found);
  }

  async #make(callId: string, tool: Tool, input: unknown): Promise<string> {
    const { gate, contextFor } = this.#options;
    const { record, middleware, limits } = gate;
    const { signal } = this.#ending;
    const began = Date.now();
    const shown = shownCall({ id: callId, name: tool.name, input }, middleware);
    // Durable before the effect, like every row of the ledger.
    record(this.#called(callId, tool, input));
    let value: unknown;
    let answer: string;
    try {
      if (middleware.has("onToolStart")) await middleware.toolStart(shown);
      value = await made({ tool, input, limits, signal, contextFor: (ending) => contextFor({ callId, toolName: tool.name }, ending) });
      if (value === null && this.#isTool(tool)) throw new ToolFailure("threw", `${tool.name} answers later, and code cannot wait for it. Call it without code.`);
      answer = jsonOf(tool, value);
    } catch (error) {
      const [trouble, text] = troubleOf(error, tool, signal);
      record(this.#answered(callId, tool, Date.now() - began, { trouble, error: text }));
      if (!signal.aborted) await middleware.toolError(shown, error instanceof Error ? error : new Error(text));
      throw new Error(text, { cause: error });
    }
    record(this.#answered(callId, tool, Date.now() - began, { summary: tool.summarize?.(value) ?? (typeof value === "string" ? value : answer).slice(0, 500) }));
    await middleware.toolResult(shown, value);
    return answer;
  }

  #refuse(callId: string, tool: Called, input: unknown, trouble: ToolTrouble, error: string): never {
    this.#options.gate.record(this.#called(callId, tool, input), this.#answered(callId, tool, 0, { trouble, error }));
    throw new Error(error);
  }

  #called(callId: string, tool: Called, input: unknown) {
    const { within, gate } = this.#options;
    const args = noted(tool.logged ? tool.logged(input) : input);
    return { type: "capability.called", data: { runId: gate.runId, step: gate.step, within, callId, toolName: tool.name, args } } as const;
  }

  #answered(callId: string, { name, action }: Called, ms: number, came: { summary?: string; error?: string; trouble?: ToolTrouble }) {
    const { within, gate } = this.#options;
    return { type: "capability.answered", data: { runId: gate.runId, within, callId, toolName: name, ms, action, ...came } } as const;
  }
}

/** Looks before it is read: what reads JSON, and what handles the value after that, may go down as deep as it is nested. */
function isDeeper(json: string, levels: number): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (isText) {
      if (code === backslash) at++;
      else if (code === quote) isText = false;
    } else if (code === quote) isText = true;
    else if (code === bracket || code === brace) {
      if (++depth > levels) return true;
    } else if (code === bracket + 2 || code === brace + 2) depth--;
  }
  return false;
}

const [quote, backslash, bracket, brace] = [0x22, 0x5c, 0x5b, 0x7b];

const megabytes = (characters: number) => characters / 1024 / 1024;

function noted(args: unknown): unknown {
  const json = JSON.stringify(args) ?? "";
  return json.length > longestNoted ? { beginning: json.slice(0, 1000), characters: json.length } : args;
}

/** What a tool returned, as code gets it. */
function jsonOf({ name }: Tool, value: unknown): string {
  const plain = value instanceof ToolImage ? { mediaType: value.mediaType, description: value.description, base64: Buffer.from(value.data).toString("base64") } : value;
  const json = JSON.stringify(plain, (_, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner)) ?? "null";
  if (json.length > longestAnswer) throw new ToolFailure("too_large", `${name} returned more than ${longestAnswer / 1024 / 1024} MB.`);
  return json;
}
