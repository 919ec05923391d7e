import { expect, test, vi } from "vitest";
import { openModels } from "./catalogue.ts";
import { findKnownContext, defaultContextTokens } from "./context.ts";
import type { ModelEnv } from "./providers.ts";

type Pages = Record<string, unknown>;

function createCatalogue(pages: Pages, env: object = {}) {
  const requests: string[] = [];
  const MODELS = {
    fetch: async (url: string) => {
      requests.push(url);
      if (pages[url] === undefined) throw new TypeError("connection refused");
      return Response.json(pages[url]);
    },
  };
  return { requests, models: openModels({ MODELS, ...env } as unknown as ModelEnv) };
}

test.each([
  ["openai:gpt-4.1-mini", 1_047_576],
  ["openai:gpt-4o-2024-08-06", 128_000],
  ["openai:gpt-5.1", 272_000],
  ["openai:gpt-5-chat-latest", 128_000],
  ["openai:o3", 200_000],
  ["box:meta/o3-mini", 200_000],
  ["box:foo3", undefined],
  ["anthropic:claude-3-7-sonnet-latest", 200_000],
  ["anthropic:claude-sonnet-4-20250514", 200_000],
  ["anthropic:claude-haiku-4-5", 200_000],
  ["anthropic:claude-opus-4-1-20250805", 200_000],
  ["router:anthropic/claude-sonnet-4-5", 200_000],
  // Left to the provider, which reports it.
  ["anthropic:claude-sonnet-4-6", undefined],
  ["anthropic:claude-sonnet-5-5", undefined],
  ["google:gemini-2.5-flash", 1_048_576],
  ["workers-ai:@cf/meta/llama-3.3-70b-instruct-fp8-fast", 24_000],
  ["box:mine", undefined],
])("%s has a known context window of %s", (id, tokens) => {
  expect(findKnownContext(id, {}, false)).toBe(tokens);
});

test("configured values come first, and known ones cause no request", async () => {
  const MODEL_CONFIG = { providers: {}, prices: {}, contextTokens: { "openai:gpt-4o": 9000, "ollama:llama": 8000 } };
  const { models, requests } = createCatalogue({}, { OPENAI_API_KEY: "k", MODEL_CONFIG });
  expect(
    await Promise.all(
      ["openai:gpt-4o", "ollama:llama", "openai:gpt-4.1", "scripted:tour"].map((id) => models.getContextTokens(id)),
    ),
  ).toEqual([9000, 8000, 1_047_576, 10_000_000]);
  expect(requests).toEqual([]);
});

test("a provider's list is fetched once, and the context length is read from any of the known fields", async () => {
  const fields = { max_input_tokens: 1, context_length: 2, context_window: 3, max_context_length: 4, max_model_len: 5 };
  const data = [
    ...Object.entries(fields).map(([field, n]) => ({ id: `by-${field}`, [field]: n * 10_000 })),
    { id: "unset" },
    { id: "odd", context_length: "many" },
  ];
  const MODEL_CONFIG = { providers: { box: { baseUrl: "http://10.0.0.1/v1" } }, prices: {} };
  const { models, requests } = createCatalogue({ "http://10.0.0.1/v1/models": { data } }, { MODEL_CONFIG });
  for (const [field, n] of Object.entries(fields))
    expect([field, await models.getContextTokens(`box:by-${field}`)]).toEqual([field, n * 10_000]);
  for (const name of ["unset", "odd", "unlisted"])
    expect(await models.getContextTokens(`box:${name}`)).toBe(defaultContextTokens);
  expect(requests).toHaveLength(1);
});

test("a provider that does not respond is not asked again at once", async () => {
  const MODEL_CONFIG = { providers: { box: { baseUrl: "http://10.0.0.1/v1" } }, prices: {} };
  const { models, requests } = createCatalogue({}, { MODEL_CONFIG });
  for (let time = 0; time < 3; time++) expect(await models.getContextTokens("box:x")).toBe(defaultContextTokens);
  expect(requests).toHaveLength(1);
});

test("local servers are asked for the loaded context length until the model is loaded", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const pages: Pages = { "http://127.0.0.1:11434/api/ps": { models: [] } };
    const { models, requests } = createCatalogue(pages);
    expect(await models.getContextTokens("ollama:gpt-4o")).toBe(defaultContextTokens);
    pages["http://127.0.0.1:11434/api/ps"] = { models: [{ name: "gpt-4o:latest", context_length: 4096 }] };
    expect(await models.getContextTokens("ollama:gpt-4o")).toBe(defaultContextTokens);
    vi.advanceTimersByTime(6_000);
    expect(await models.getContextTokens("ollama:gpt-4o")).toBe(4096);
    vi.advanceTimersByTime(60_000);
    expect(await models.getContextTokens("ollama:gpt-4o")).toBe(4096);
    expect(requests).toHaveLength(2);
    pages["http://127.0.0.1:1234/api/v0/models"] = {
      data: [
        { id: "loaded", loaded_context_length: 8192, max_context_length: 131_072 },
        { id: "other", max_context_length: 32_768 },
      ],
    };
    expect([await models.getContextTokens("lmstudio:loaded"), await models.getContextTokens("lmstudio:other")]).toEqual(
      [8192, 32_768],
    );
  } finally {
    vi.useRealTimers();
  }
});
