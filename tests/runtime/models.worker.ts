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

interface CallRequest extends Omit<WireOptions, "fetch"> {
  adapter: string;
  request: ModelRequest;
  /** Aborts after the first part. */
  abort?: boolean;
  /** Leaves the loop after the first part, or after this much text, and then calls once more. */
  leave?: boolean | number;
  /** Consecutive calls, within one request to this Worker. */
  times?: number;
}

/** The AI SDK's clients for formats we also implement ourselves: tested for comparison, not part of the product. */
function createSdkModel(adapter: string, options: WireOptions): Model {
  const { base: baseURL, key: apiKey = "none", model, fetch } = options;
  const openai = () => createOpenAI({ baseURL, apiKey, fetch });
  switch (adapter) {
    case "sdk-chat":
      return createAiSdkModel(openai().chat(model), options);
    case "sdk-responses":
      return createAiSdkModel(openai().responses(model), {
        ...options,
        providerOptions: () => ({
          openai: { store: false, reasoningSummary: "auto", include: ["reasoning.encrypted_content"] },
        }),
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

/** A stand-in for the Workers AI binding, with its inputs and outputs, that calls the chat completions endpoint. */
const createBinding = (options: WireOptions) => ({
  run: (model: string, inputs: object, { signal }: { signal?: AbortSignal | null }) =>
    options.fetch(`${options.base}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model, ...inputs }),
      signal: signal ?? null,
      redirect: "manual",
    }),
});

/** Makes one model call and returns everything it produced. */
async function run(
  { adapter, request, abort, leave, times = 1, ...options }: CallRequest,
  send: typeof fetch,
): Promise<object> {
  const parts: ModelPart[] = [];
  const batches: number[] = [];
  let lastPartAt = 0;
  const abortController = new AbortController();
  try {
    const model = await open(adapter, { ...options, fetch: send });
    for await (const batch of model.stream(request, abortController.signal)) {
      parts.push(...batch);
      batches.push(batch.length);
      lastPartAt = Date.now();
      if (abort) setTimeout(() => abortController.abort(new Error("enough")), 1);
      if (leave && countTextChars(parts) >= Number(leave)) break;
    }
    if (leave) for await (const batch of model.stream(request, abortController.signal)) parts.push(...batch);
    for (let more = 1; more < times; more += 1)
      for await (const batch of model.stream(request, abortController.signal)) parts.push(...batch);
    return { parts, batches };
  } catch (error) {
    if (!(error instanceof ModelError)) return { parts, thrown: String(error) };
    const { kind, retryable, status, retryAfterMs, message, advice } = error;
    return {
      parts,
      quietMs: Date.now() - lastPartAt,
      error: { kind, retryable, status, retryAfterMs, message, advice },
    };
  }
}

const countTextChars = (parts: ModelPart[]) =>
  parts.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 1);

/** JSON has no bytes: a test writes them as `{ "base64": … }`. */
const revive = (_name: string, value: { base64?: string }) =>
  typeof value?.base64 === "string" ? Uint8Array.from(atob(value.base64), (char) => char.charCodeAt(0)) : value;

export default {
  async fetch(request: Request, env: { MODELS: Fetcher }): Promise<Response> {
    if (request.method === "GET") return new Response("alive");
    const call = JSON.parse(await request.text(), revive) as CallRequest;
    const send = ((input: RequestInfo, init?: RequestInit) => env.MODELS.fetch(input, init)) as typeof fetch;
    return Response.json(await run(call, send));
  },
};
