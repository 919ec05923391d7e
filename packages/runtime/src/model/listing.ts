import { z } from "zod";
import type { ModelEnv, Provider } from "./providers.ts";

/** Asks providers which models they have. */

export interface ListedModel {
  name: string;
  contextTokens?: number;
}

const tokensSchema = z.int().positive().optional().catch(undefined);

/** Who tells at all how much a model reads, tells it in one of these fields. */
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

/** What Ollama has in memory, with the length it was loaded for; the length a model was made for says little. */
const loadedSchema = z.object({ models: z.array(z.object({ name: z.string(), context_length: tokensSchema })) });

/** LM Studio's own list, which knows more than the one it has in OpenAI's format. */
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

// OpenAI lists what draws, hears and embeds beside what talks.
const chatModelPattern =
  /^(?:gpt-|chatgpt-|o\d)(?!.*(?:audio|realtime|image|tts|transcribe|search|instruct|live|embedding|whisper))/;
const embeddingModelPattern = /embed/i;

/** How requests leave: through the daemon's own service where there is one, which also reaches this machine. */
export function createModelFetch(env: ModelEnv): typeof fetch {
  const { MODELS } = env;
  return MODELS ? (input, init) => MODELS.fetch(input, init) : (input, init) => fetch(input, init);
}

/** What a provider lists, within the time given. Throws a sentence for people. */
export async function listModels(provider: Provider, send: typeof fetch, limitMs: number): Promise<ListedModel[]> {
  const { wire, baseUrl: base, name } = provider;
  if (name === "ollama") {
    const { models } = await fetchJson(`${stripVersion(base)}/api/tags`, provider, send, limitMs, tagsSchema);
    return models.map((model) => ({ name: model.name }));
  }
  if (wire === "google") {
    const { models } = await fetchJson(`${base}/models?pageSize=200`, provider, send, limitMs, googleSchema);
    return models
      .filter(({ supportedGenerationMethods }) => supportedGenerationMethods.includes("generateContent"))
      .map((model) => toListedModel(model.name.replace(/^models\//, ""), model.inputTokenLimit));
  }
  const path = wire === "messages" ? "/models?limit=200" : "/models";
  const { data } = await fetchJson(base + path, provider, send, limitMs, listSchema);
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
  return isOpenAi(base) ? all.filter((model) => chatModelPattern.test(model.name)) : all;
}

/** How much a model of this machine reads at once, as it is loaded now. */
export async function readLoadedContext(
  provider: Provider,
  model: string,
  send: typeof fetch,
  limitMs: number,
): Promise<number | undefined> {
  if (provider.name === "ollama") {
    const { models } = await fetchJson(
      `${stripVersion(provider.baseUrl)}/api/ps`,
      provider,
      send,
      limitMs,
      loadedSchema,
    );
    return models.find(({ name }) => isSameModel(name, model))?.context_length;
  }
  const { data } = await fetchJson(
    `${stripVersion(provider.baseUrl)}/api/v0/models`,
    provider,
    send,
    limitMs,
    studioSchema,
  );
  const found = data.find(({ id }) => id === model);
  return found?.loaded_context_length ?? found?.max_context_length;
}

/** Is what Ollama calls so the model that somebody named? */
export function isSameModel(name: string, wanted: string): boolean {
  return name === wanted || name === `${wanted}:latest`;
}

/** The first that can hold a conversation. */
export function findFirstChatModel(models: readonly ListedModel[]): string | undefined {
  return (models.find(({ name }) => !embeddingModelPattern.test(name)) ?? models[0])?.name;
}

async function fetchJson<T>(
  url: string,
  provider: Provider,
  send: typeof fetch,
  limitMs: number,
  schema: z.ZodType<T>,
): Promise<T> {
  const { apiKeyVariable } = provider;
  let response: Response;
  try {
    // A key must not follow a redirect.
    response = await send(url, {
      headers: createHeaders(provider),
      redirect: "manual",
      signal: AbortSignal.timeout(limitMs),
    });
  } catch (error) {
    const late = error instanceof Error && error.name === "TimeoutError";
    throw new Error(late ? `It did not answer within ${limitMs / 1000} s.` : "It cannot be reached.", { cause: error });
  }
  if (!response.ok) {
    await response.body?.cancel();
    const refused = response.status === 401 || response.status === 403;
    throw new Error(
      refused && apiKeyVariable ? `It refuses the key; check ${apiKeyVariable}.` : `It answered ${response.status}.`,
    );
  }
  const read = schema.safeParse(await response.json().catch(() => undefined));
  if (!read.success) throw new Error("It answered something else than a list of models.");
  return read.data;
}

function createHeaders({ wire, key }: Provider): Record<string, string> {
  if (wire === "messages") return { "anthropic-version": "2023-06-01", ...(key ? { "x-api-key": key } : {}) };
  if (!key) return {};
  return wire === "google" ? { "x-goog-api-key": key } : { authorization: `Bearer ${key}` };
}

const stripVersion = (base: string) => base.replace(/\/v1$/, "");

function toListedModel(name: string, contextTokens: number | undefined): ListedModel {
  return contextTokens === undefined ? { name } : { name, contextTokens };
}

function isOpenAi(base: string): boolean {
  return new URL(base).hostname === "api.openai.com";
}
