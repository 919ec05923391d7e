import { expect, test, vi } from "vitest";
import { openModels } from "./catalogue.ts";
import { findKnownContext, defaultContextTokens } from "./context.ts";
import type { ModelEnv } from "./providers.ts";

type Pages = Record<string, unknown>;

function catalogue(pages: Pages, env: object = {}) {
  const asked: string[] = [];
  const MODELS = {
    fetch: async (url: string) => {
      asked.push(url);
      if (pages[url] === undefined) throw new TypeError("connection refused");
      return Response.json(pages[url]);
    },
  };
  return { asked, models: openModels({ MODELS, ...env } as unknown as ModelEnv) };
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
  // Their provider says it better than we would.
  ["anthropic:claude-sonnet-4-6", undefined],
  ["anthropic:claude-sonnet-5-5", undefined],
  ["google:gemini-2.5-flash", 1_048_576],
  ["workers-ai:@cf/meta/llama-3.3-70b-instruct-fp8-fast", 24_000],
  ["box:mine", undefined],
])("%s is known to read %s", (id, tokens) => {
  expect(findKnownContext(id, {}, false)).toBe(tokens);
});

test("the configuration's word counts first, and nobody is asked about what is known", async () => {
  const MODEL_CONFIG = { providers: {}, prices: {}, contextTokens: { "openai:gpt-4o": 9000, "ollama:llama": 8000 } };
  const { models, asked } = catalogue({}, { OPENAI_API_KEY: "k", MODEL_CONFIG });
  expect(
    await Promise.all(
      ["openai:gpt-4o", "ollama:llama", "openai:gpt-4.1", "scripted:tour"].map((id) => models.getContextTokens(id)),
    ),
  ).toEqual([9000, 8000, 1_047_576, 10_000_000]);
  expect(asked).toEqual([]);
});

test("a provider that lists how much its models read is asked once, in whichever field it tells it", async () => {
  const fields = { max_input_tokens: 1, context_length: 2, context_window: 3, max_context_length: 4, max_model_len: 5 };
  const data = [
    ...Object.entries(fields).map(([field, n]) => ({ id: `by-${field}`, [field]: n * 10_000 })),
    { id: "silent" },
    { id: "odd", context_length: "many" },
  ];
  const MODEL_CONFIG = { providers: { box: { baseUrl: "http://10.0.0.1/v1" } }, prices: {} };
  const { models, asked } = catalogue({ "http://10.0.0.1/v1/models": { data } }, { MODEL_CONFIG });
  for (const [field, n] of Object.entries(fields))
    expect([field, await models.getContextTokens(`box:by-${field}`)]).toEqual([field, n * 10_000]);
  for (const name of ["silent", "odd", "unlisted"])
    expect(await models.getContextTokens(`box:${name}`)).toBe(defaultContextTokens);
  expect(asked).toHaveLength(1);
});

test("who does not answer is not waited for again and again", async () => {
  const MODEL_CONFIG = { providers: { box: { baseUrl: "http://10.0.0.1/v1" } }, prices: {} };
  const { models, asked } = catalogue({}, { MODEL_CONFIG });
  for (let time = 0; time < 3; time++) expect(await models.getContextTokens("box:x")).toBe(defaultContextTokens);
  expect(asked).toHaveLength(1);
});

test("programs of this machine are asked how the model is loaded, again and again until it is", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const pages: Pages = { "http://127.0.0.1:11434/api/ps": { models: [] } };
    const { models, asked } = catalogue(pages);
    expect(await models.getContextTokens("ollama:gpt-4o")).toBe(defaultContextTokens);
    pages["http://127.0.0.1:11434/api/ps"] = { models: [{ name: "gpt-4o:latest", context_length: 4096 }] };
    expect(await models.getContextTokens("ollama:gpt-4o")).toBe(defaultContextTokens);
    vi.advanceTimersByTime(6_000);
    expect(await models.getContextTokens("ollama:gpt-4o")).toBe(4096);
    vi.advanceTimersByTime(60_000);
    expect(await models.getContextTokens("ollama:gpt-4o")).toBe(4096);
    expect(asked).toHaveLength(2);
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
