import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createAiSdkModel } from "../../packages/runtime/src/model/adapters/ai-sdk.ts";
import { createGoogleModel } from "../../packages/runtime/src/model/adapters/google.ts";
import { createWorkersAiModel } from "../../packages/runtime/src/model/adapters/workers-ai.ts";
import { ModelError } from "../../packages/runtime/src/model/error.ts";
import type { Model, ModelPart, ModelRequest } from "../../packages/runtime/src/model/model.ts";
import type { WireOptions } from "../../packages/runtime/src/model/wire/call.ts";
import { createChatModel } from "../../packages/runtime/src/model/wire/chat.ts";
import { createMessagesModel } from "../../packages/runtime/src/model/wire/messages.ts";
import { createResponsesModel } from "../../packages/runtime/src/model/wire/responses.ts";

interface Order extends Omit<WireOptions, "fetch"> {
  adapter: string;
  request: ModelRequest;
  /** Abort as soon as any part has come. */
  abort?: boolean;
  /** Leave the loop as soon as any part has come, or so much text, and then ask once more. */
  leave?: boolean | number;
  /** Calls in a row, within one request to this Worker. */
  times?: number;
}

/** The AI SDK's versions of the formats that have a wire of ours: beside them in the tests, not in the product. */
function createSdkModel(adapter: string, options: WireOptions): Model {
  const { base: baseURL, key: apiKey = "none", model, fetch } = options;
  const openai = () => createOpenAI({ baseURL, apiKey, fetch });
  switch (adapter) {
    case "sdk-chat":
      return createAiSdkModel(openai().chat(model), options);
    case "sdk-responses":
      return createAiSdkModel(openai().responses(model), {
        ...options,
        providerOptions: {
          openai: { store: false, reasoningSummary: "auto", include: ["reasoning.encrypted_content"] },
        },
      });
    case "sdk-messages":
      return createAiSdkModel(createAnthropic({ baseURL, apiKey, fetch })(model), options);
    default:
      return createAiSdkModel(
        createOpenAICompatible({ name: "compatible", baseURL, apiKey, fetch, includeUsage: true })(model),
        options,
      );
  }
}

async function open(adapter: string, options: WireOptions): Promise<Model> {
  switch (adapter) {
    case "chat":
      return createChatModel(options);
    case "responses":
      return createResponsesModel(options);
    case "messages":
      return createMessagesModel(options);
    case "google":
      return createGoogleModel(options);
    case "workers-ai":
      return createWorkersAiModel({
        id: options.id,
        model: options.model,
        ...(options.idleMs ? { idleMs: options.idleMs } : {}),
        binding: createBinding(options),
      });
    default:
      return createSdkModel(adapter, options);
  }
}

/** A binding that goes where the chat completions are: what it is given and gives back is what the real one takes. */
const createBinding = (options: WireOptions) => ({
  run: (model: string, inputs: object, { signal }: { signal?: AbortSignal | null }) =>
    options.fetch(`${options.base}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model, ...inputs }),
      signal: signal ?? null,
      redirect: "manual",
    }),
});

/** Runs one call and tells everything that came of it. */
async function run(
  { adapter, request, abort, leave, times = 1, ...options }: Order,
  send: typeof fetch,
): Promise<object> {
  const parts: ModelPart[] = [];
  const batches: number[] = [];
  let heardAt = 0;
  const stop = new AbortController();
  try {
    const model = await open(adapter, { ...options, fetch: send });
    for await (const batch of model.stream(request, stop.signal)) {
      parts.push(...batch);
      batches.push(batch.length);
      heardAt = Date.now();
      if (abort) setTimeout(() => stop.abort(new Error("enough")), 1);
      if (leave && countTextChars(parts) >= Number(leave)) break;
    }
    if (leave) for await (const batch of model.stream(request, stop.signal)) parts.push(...batch);
    for (let more = 1; more < times; more += 1)
      for await (const batch of model.stream(request, stop.signal)) parts.push(...batch);
    return { parts, batches };
  } catch (error) {
    if (!(error instanceof ModelError)) return { parts, thrown: String(error) };
    const { kind, passing, status, retryAfterMs, message, advice } = error;
    return { parts, quietMs: Date.now() - heardAt, error: { kind, passing, status, retryAfterMs, message, advice } };
  }
}

const countTextChars = (parts: ModelPart[]) =>
  parts.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 1);

/** Bytes do not travel in JSON; a test writes them as `{ "base64": … }`. */
const revive = (_name: string, value: { base64?: string }) =>
  typeof value?.base64 === "string" ? Uint8Array.from(atob(value.base64), (char) => char.charCodeAt(0)) : value;

export default {
  async fetch(request: Request, env: { MODELS: Fetcher }): Promise<Response> {
    if (request.method === "GET") return new Response("alive");
    const order = JSON.parse(await request.text(), revive) as Order;
    const send = ((input: RequestInfo, init?: RequestInit) => env.MODELS.fetch(input, init)) as typeof fetch;
    return Response.json(await run(order, send));
  },
};
