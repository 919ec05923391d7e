import type { Ai, GenerateOptions, ModelMessage, StreamEvent } from "./definition.ts";
import type { HostClient } from "./host-client.ts";
import { callLocalTool, createLocalTools, type OfferedTools } from "./local-tools.ts";
import { toWireMessages } from "./model-messages.ts";
import { rejectOnAbort } from "./reject-on-abort.ts";
import type { WireModelPart, WireModelRequest, WireTool, WireToolCall, WireToolResult } from "./wire.ts";

const defaultGenerateSteps = 5;
const maxSteps = 100;

/** Creates `ctx.ai`. `settings` are the agent's, whose standard ones are the defaults of a call. */
export function createAi(host: HostClient, settings: Readonly<Record<string, unknown>>): Ai {
  return {
    stream: (options) => streamSteps(host, settings, options, options.maxSteps ?? 1),
    async generate(given) {
      const options = typeof given === "string" ? { prompt: given } : given;
      let text = "";
      for await (const event of streamSteps(host, settings, options, options.maxSteps ?? defaultGenerateSteps)) {
        if (event.type === "tool-result") text = "";
        if (event.type === "text") text += event.text;
      }
      return text;
    },
  };
}

async function* streamSteps(
  host: HostClient,
  settings: Readonly<Record<string, unknown>>,
  options: GenerateOptions,
  steps: number,
): AsyncGenerator<StreamEvent, void, undefined> {
  if (!(Number.isInteger(steps) && steps >= 1 && steps <= maxSteps))
    throw new RangeError(`maxSteps must be a whole number from 1 to ${maxSteps}, not ${String(steps)}.`);
  const messages = takeMessages(options);
  const offered = createLocalTools(options.tools);
  for (let step = 1; ; step++) {
    const request = createRequest(options, settings, messages, offered.tools);
    const response = yield* streamResponse(host, request, options.signal);
    messages.push({
      role: "assistant",
      content: response.text,
      ...(response.calls.length > 0 ? { toolCalls: response.calls } : {}),
      ...(response.replayId ? { replayId: response.replayId } : {}),
    });
    if (response.calls.length === 0) return;
    for (const { call, result } of await executeCalls(host, response.calls, offered)) {
      const { content, output, isError } = result;
      messages.push({ role: "tool", callId: call.id, name: call.name, content, ...(isError ? { isError } : {}) });
      yield { type: "tool-result", id: call.id, tool: call.name, result: output ?? content, isError };
    }
    if (step >= steps) return;
  }
}

/** Returns the caller's own list if there is one, because responses are added to it. */
function takeMessages({ messages, prompt }: GenerateOptions): ModelMessage[] {
  if (messages && prompt !== undefined) throw new TypeError("Pass either `prompt` or `messages`, not both.");
  if (Array.isArray(messages)) return messages;
  if (typeof prompt !== "string") throw new TypeError("A model needs a `prompt` or `messages`.");
  return [{ role: "user", content: prompt }];
}

function createRequest(
  { model, system, temperature, maxOutputTokens, thinking, reasoningEffort }: GenerateOptions,
  settings: Readonly<Record<string, unknown>>,
  messages: readonly ModelMessage[],
  tools: readonly WireTool[],
): WireModelRequest {
  const read = <T extends "string" | "number">(name: string, type: T) =>
    (typeof settings[name] === type ? settings[name] : undefined) as (T extends "string" ? string : number) | undefined;
  const chosen = {
    model: model ?? read("model", "string"),
    system,
    temperature: temperature ?? read("temperature", "number"),
    maxOutputTokens: maxOutputTokens ?? read("maxOutputTokens", "number"),
    thinkingBudget: thinking?.budgetTokens ?? (reasoningEffort ? undefined : read("thinkingBudget", "number")),
    reasoningEffort,
  };
  const present = Object.entries(chosen).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(present) as Omit<WireModelRequest, "messages">),
    messages: toWireMessages(messages),
    ...(tools.length > 0 ? { tools: [...tools] } : {}),
  };
}

interface Response {
  text: string;
  calls: WireToolCall[];
  replayId?: string;
}

async function* streamResponse(
  host: HostClient,
  request: WireModelRequest,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent, Response, undefined> {
  signal?.throwIfAborted();
  const { id } = await host.call("model.open", request);
  const response: Response = { text: "", calls: [] };
  let isFinished = false;
  try {
    while (!isFinished) {
      const read = host.call("model.read", { id });
      const { parts } = await (signal ? rejectOnAbort(read, signal) : read);
      for (const part of parts) {
        isFinished ||= part.type === "finish";
        collectPart(response, part);
        yield toEvent(part);
      }
    }
    return response;
  } finally {
    // Code may stop reading at any part.
    if (!isFinished) host.notify("model.close", { id });
  }
}

function collectPart(response: Response, part: WireModelPart): void {
  if (part.type === "text") response.text += part.text;
  if (part.type === "tool-call") response.calls.push({ id: part.id, name: part.name, input: part.input });
  if (part.type === "finish" && part.replayId) response.replayId = part.replayId;
}

function toEvent(part: WireModelPart): StreamEvent {
  if (part.type === "tool-call") return { type: "tool-call", id: part.id, tool: part.name, args: part.input };
  if (part.type === "finish")
    return { type: "finish", reason: part.reason, ...(part.usage ? { usage: part.usage } : {}) };
  return part;
}

/** Executes the calls of a response: the agent's own here, all others together by the host. */
async function executeCalls(
  host: HostClient,
  calls: readonly WireToolCall[],
  { tools, localTools }: OfferedTools,
): Promise<{ call: WireToolCall; result: WireToolResult }[]> {
  const names = new Set(tools.map(({ name }) => name));
  const remote = calls.filter(({ name }) => names.has(name) && !localTools.has(name));
  const requested =
    remote.length > 0
      ? host.call("tools.execute", { calls: remote.map(({ id, name, input }) => ({ id, name, input })) })
      : undefined;
  const local = await Promise.all(
    calls.map(({ name, input }) => {
      const tool = localTools.get(name);
      // The agent may have more tools than this call offers.
      return tool ? callLocalTool(tool, input) : names.has(name) ? undefined : refuseCall(name, names);
    }),
  );
  const { results = [] } = (await requested) ?? {};
  return calls.map((call, index) => ({
    call,
    result: local[index] ?? (results[remote.indexOf(call)] as WireToolResult),
  }));
}

function refuseCall(name: string, names: ReadonlySet<string>): WireToolResult {
  return { content: `There is no tool “${name}”. Available tools: ${[...names].join(", ")}.`, isError: true };
}
