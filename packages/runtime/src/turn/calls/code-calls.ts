import {
  Deferred,
  type NewEvent,
  type Tool,
  type ToolContext,
  ToolError,
  ToolImage,
  type ToolErrorCode,
} from "@thinkery/sdk";
import { isDeeperThan } from "../../sandbox/json-depth.ts";
import { type CallLog, type CallScope, executeCall } from "./execute-call.ts";
import type { StepContext } from "./step-context.ts";

/** Calls one run of code may make in total, and concurrently; further calls queue. */
const maxCallsPerRun = 1000;
const maxConcurrentCalls = 16;
/**
 * JSON characters of one call's input, and of all inputs of a run: main is single-threaded, so parsing blocks everyone.
 */
const maxInputChars = 2 * 1024 * 1024;
const maxTotalInputChars = 64 * 1024 * 1024;
const maxInputDepth = 100;
const maxOutputChars = 10 * 1024 * 1024;
/** Of longer inputs only the beginning is logged: the log says what was done, not with which bytes. */
const maxLoggedChars = 8 * 1024;
const loggedPreviewChars = 1000;
const maxSummaryChars = 500;
const maxNameChars = 100;

interface CodeCallsOptions {
  /** The call that runs the code. */
  parentCallId: string;
  signal: AbortSignal;
  step: StepContext;
  /** Returns an id for the next call that the code makes. */
  nextId(): string;
  createContext(call: { callId: string; toolName: string }, signal: AbortSignal): ToolContext;
}

/** The calls that code makes while a tool call runs it: to the agent's tools as `tools.<name>`, and to capabilities. */
export class CodeCalls {
  readonly #options: CodeCallsOptions;
  readonly #ending = new AbortController();
  readonly #active = new Set<Promise<unknown>>();
  readonly #waiting: (() => void)[] = [];
  readonly #scope: CallScope<string>;
  #count = 0;
  #inputChars = 0;

  constructor(options: CodeCallsOptions) {
    const { signal } = options;
    this.#options = options;
    this.#scope = createCodeScope(options, this.#ending.signal);
    signal.addEventListener("abort", () => this.#ending.abort(signal.reason), { once: true });
  }

  /** Makes a call. Input and output are JSON; errors are thrown in the calling code. */
  async call(capability: string, json: string): Promise<string> {
    if (++this.#count > maxCallsPerRun) throw new Error(`Code may make at most ${maxCallsPerRun} calls per run.`);
    while (this.#active.size >= maxConcurrentCalls) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#ending.signal.throwIfAborted();
    const executing = this.#execute(capability, json);
    this.#active.add(executing);
    try {
      return await executing;
    } finally {
      this.#active.delete(executing);
      this.#waiting.shift()?.();
    }
  }

  /** Cancels open calls. When this resolves, every call has its result in the log. */
  async close(): Promise<void> {
    this.#ending.abort(new Error("The run is over."));
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.allSettled(this.#active);
  }

  async #execute(capability: string, json: string): Promise<string> {
    const id = this.#options.nextId();
    const input = this.#parse(capability, json);
    const outcome = await executeCall({ id, name: capability, input }, this.#scope);
    if (outcome.status === "completed") return outcome.output;
    throw new Error(outcome.status === "failed" ? outcome.failure.message : "The call was deferred.");
  }

  #parse(capability: string, json: string): unknown {
    const name = toDisplayName(capability);
    this.#inputChars += json.length;
    if (json.length > maxInputChars || this.#inputChars > maxTotalInputChars) {
      throw new Error(
        `The input of ${name} is too large. The limit is ${toMegabytes(maxInputChars)} MB per call and ${toMegabytes(maxTotalInputChars)} MB per run.`,
      );
    }
    if (isDeeperThan(json, maxInputDepth)) {
      throw new Error(`The input of ${name} is nested more than ${maxInputDepth} levels deep.`);
    }
    const input: unknown = JSON.parse(json);
    // A tool takes an object, so no input means an empty one. A capability may take anything.
    return isToolName(capability) ? (input ?? {}) : input;
  }
}

const toolPrefix = "tools.";

const isToolName = (capability: string) => capability.startsWith(toolPrefix) && capability !== toolPrefix;

function toDisplayName(capability: string): string {
  return (isToolName(capability) ? capability.slice(toolPrefix.length) : capability).slice(0, maxNameChars);
}

function createCodeScope(options: CodeCallsOptions, signal: AbortSignal): CallScope<string> {
  const { step, parentCallId, createContext } = options;
  const { tools, capabilities } = step.deps;
  return {
    step,
    signal,
    log: createCodeLog(step, parentCallId),
    find(name) {
      const isTool = isToolName(name);
      const toolName = isTool ? name.slice(toolPrefix.length) : name;
      const tool = isTool ? tools.find(toolName) : capabilities.find((candidate) => candidate.name === name);
      if (tool && !tool.modelOnly) return { tool };
      if (tool) {
        const message = `${tool.name} can only be called by the model, not by code.`;
        return { failure: { code: "denied", message } };
      }
      const message = isTool
        ? tools.describeUnknown(toolName)
        : `There is no capability “${name.slice(0, maxNameChars)}”.`;
      return { failure: { code: "unknown_tool", message } };
    },
    createContext: ({ id, tool }, ending) => createContext({ callId: id, toolName: tool.name }, ending),
  };
}

interface CallResult {
  summary?: string;
  error?: string;
  errorCode?: ToolErrorCode;
}

function createCodeLog({ runId, step }: StepContext, parentCallId: string): CallLog<string> {
  const createCalledEvent = (callId: string, toolName: string, args: unknown): NewEvent => ({
    type: "capability.called",
    data: { runId, step, parentCallId, callId, toolName, args: abbreviate(args) },
  });
  const createAnsweredEvent = (
    callId: string,
    toolName: string,
    action: string,
    ms: number,
    result: CallResult,
  ): NewEvent => ({
    type: "capability.answered",
    data: { runId, parentCallId, callId, toolName, ms, action, ...result },
  });
  const redact = ({ redactInput }: Tool, input: unknown) => (redactInput ? redactInput(input) : input);
  return {
    createRefusedEvents({ id, name: capability, tool, input }, { code: errorCode, message: error }) {
      const name = tool?.name ?? toDisplayName(capability);
      const args = tool ? redact(tool, input) : {};
      return [
        createCalledEvent(id, name, args),
        createAnsweredEvent(id, name, tool?.action ?? "refuse", 0, { errorCode, error }),
      ];
    },
    createStartedEvent: ({ id, tool, input }) => createCalledEvent(id, tool.name, redact(tool, input)),
    encode({ tool }, value) {
      if (value instanceof Deferred) {
        throw new ToolError(
          "threw",
          `${tool.name} returns its result later, and code cannot wait for it. Call it as a tool instead.`,
        );
      }
      return toJson(tool, value);
    },
    createCompletedEvent({ id, tool }, value, json, ms) {
      const summary = tool.summarize?.(value) ?? (typeof value === "string" ? value : json).slice(0, maxSummaryChars);
      return createAnsweredEvent(id, tool.name, tool.action, ms, { summary });
    },
    createFailedEvent: ({ id, tool }, { code: errorCode, message: error }, ms) =>
      createAnsweredEvent(id, tool.name, tool.action, ms, { errorCode, error }),
  };
}

const toMegabytes = (chars: number) => chars / 1024 / 1024;

function abbreviate(args: unknown): unknown {
  const json = JSON.stringify(args) ?? "";
  if (json.length <= maxLoggedChars) return args;
  return { beginning: json.slice(0, loggedPreviewChars), characters: json.length };
}

/** Converts a tool's return value to JSON for code. */
function toJson({ name }: Tool, value: unknown): string {
  const plain = value instanceof ToolImage ? describeImage(value) : value;
  const json =
    JSON.stringify(plain, (_, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner)) ?? "null";
  if (json.length <= maxOutputChars) return json;
  throw new ToolError("too_large", `${name} returned more than ${toMegabytes(maxOutputChars)} MB.`);
}

function describeImage({ mediaType, description, data }: ToolImage) {
  return { mediaType, description, base64: Buffer.from(data).toString("base64") };
}
