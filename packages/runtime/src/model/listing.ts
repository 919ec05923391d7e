import { z } from "zod";
import type { ModelEnv, Provider } from "./providers.ts";

/** A model as its provider lists it. */
export interface ListedModel {
  name: string;
  contextTokens?: number;
}

const tokensSchema = z.int().positive().optional().catch(undefined);

/** Servers that report the context length do so in one of these fields. */
const listSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      max_input_tokens: tokensSchema,
      context_length: tokensSchema,
      context_window: tokensSchema,
      max_context_length: tokensSchema,
      max_model_len: tokensSchema,
    }),
  ),
});

const tagsSchema = z.object({ models: z.array(z.object({ name: z.string() })) });

/** The models Ollama has loaded, with the context length each was loaded with (not the one it was trained for). */
const loadedSchema = z.object({ models: z.array(z.object({ name: z.string(), context_length: tokensSchema })) });

/** LM Studio's native list, which has more fields than its OpenAI-compatible one. */
const studioSchema = z.object({
  data: z.array(z.object({ id: z.string(), loaded_context_length: tokensSchema, max_context_length: tokensSchema })),
});

const googleSchema = z.object({
  models: z.array(
    z.object({
      name: z.string(),
      inputTokenLimit: z.number().optional(),
      supportedGenerationMethods: z.array(z.string()).default([]),
    }),
  ),
});

// OpenAI also lists image, audio and embedding models.
const chatModelPattern =
  /^(?:gpt-|chatgpt-|o\d)(?!.*(?:audio|realtime|image|tts|transcribe|search|instruct|live|embedding|whisper))/;
const embeddingModelPattern = /embed/i;

/** Returns a fetch that goes through the daemon's service if bound, which also reaches local addresses. */
export function createModelFetch(env: ModelEnv): typeof fetch {
  const { MODELS } = env;
  return MODELS ? (input, init) => MODELS.fetch(input, init) : (input, init) => fetch(input, init);
}

/** Fetches a provider's model list. Throws an error with a user-facing message. */
export async function listModels(provider: Provider, send: typeof fetch, timeoutMs: number): Promise<ListedModel[]> {
  const { wire, baseUrl, name } = provider;
  if (name === "ollama") {
    const { models } = await fetchJson(`${stripVersion(baseUrl)}/api/tags`, provider, send, timeoutMs, tagsSchema);
    return models.map((model) => ({ name: model.name }));
  }
  if (wire === "google") {
    const { models } = await fetchJson(`${baseUrl}/models?pageSize=200`, provider, send, timeoutMs, googleSchema);
    return models
      .filter(({ supportedGenerationMethods }) => supportedGenerationMethods.includes("generateContent"))
      .map((model) => toListedModel(model.name.replace(/^models\//, ""), model.inputTokenLimit));
  }
  const path = wire === "messages" ? "/models?limit=200" : "/models";
  const { data } = await fetchJson(baseUrl + path, provider, send, timeoutMs, listSchema);
  const all = data.map((model) =>
    toListedModel(
      model.id,
      model.max_input_tokens ??
        model.context_length ??
        model.context_window ??
        model.max_context_length ??
        model.max_model_len,
    ),
  );
  return isOpenAi(baseUrl) ? all.filter((model) => chatModelPattern.test(model.name)) : all;
}

/** Returns the context length a local model is currently loaded with. */
export async function readLoadedContext(
  provider: Provider,
  model: string,
  send: typeof fetch,
  timeoutMs: number,
): Promise<number | undefined> {
  if (provider.name === "ollama") {
    const { models } = await fetchJson(
      `${stripVersion(provider.baseUrl)}/api/ps`,
      provider,
      send,
      timeoutMs,
      loadedSchema,
    );
    return models.find(({ name }) => isSameModel(name, model))?.context_length;
  }
  const { data } = await fetchJson(
    `${stripVersion(provider.baseUrl)}/api/v0/models`,
    provider,
    send,
    timeoutMs,
    studioSchema,
  );
  const found = data.find(({ id }) => id === model);
  return found?.loaded_context_length ?? found?.max_context_length;
}

/** Compares a listed name with a requested one; Ollama's `:latest` tag is optional. */
export function isSameModel(name: string, wanted: string): boolean {
  return name === wanted || name === `${wanted}:latest`;
}

/** Returns the first model that is not an embedding model. */
export function findFirstChatModel(models: readonly ListedModel[]): string | undefined {
  return (models.find(({ name }) => !embeddingModelPattern.test(name)) ?? models[0])?.name;
}

async function fetchJson<T>(
  url: string,
  provider: Provider,
  send: typeof fetch,
  timeoutMs: number,
  schema: z.ZodType<T>,
): Promise<T> {
  const { apiKeyVariable } = provider;
  let response: Response;
  try {
    // A key must not follow a redirect.
    response = await send(url, {
      headers: createHeaders(provider),
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === "TimeoutError";
    throw new Error(isTimeout ? `No response within ${timeoutMs / 1000} s.` : "Connection failed.", { cause: error });
  }
  if (!response.ok) {
    await response.body?.cancel();
    const isRejected = response.status === 401 || response.status === 403;
    throw new Error(
      isRejected && apiKeyVariable
        ? `The API key was rejected. Check ${apiKeyVariable}.`
        : `Unexpected status ${response.status}.`,
    );
  }
  const parsed = schema.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) throw new Error("The response is not a list of models.");
  return parsed.data;
}

function createHeaders({ wire, key }: Provider): Record<string, string> {
  if (wire === "messages") return { "anthropic-version": "2023-06-01", ...(key ? { "x-api-key": key } : {}) };
  if (!key) return {};
  return wire === "google" ? { "x-goog-api-key": key } : { authorization: `Bearer ${key}` };
}

const stripVersion = (baseUrl: string) => baseUrl.replace(/\/v1$/, "");

function toListedModel(name: string, contextTokens: number | undefined): ListedModel {
  return contextTokens === undefined ? { name } : { name, contextTokens };
}

function isOpenAi(baseUrl: string): boolean {
  return new URL(baseUrl).hostname === "api.openai.com";
}
