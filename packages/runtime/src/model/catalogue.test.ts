import { expect, test, vi } from "vitest";
import { openModels } from "./catalogue.ts";
import type { ModelEnv } from "./providers.ts";

type Pages = Record<string, unknown>;

/** An environment whose network serves these pages and records the requests. */
function createEnvironment(pages: Pages = {}, env: Partial<ModelEnv> & Record<string, unknown> = {}) {
  const requests: { url: string; headers: Record<string, string>; redirect: unknown }[] = [];
  const MODELS = {
    fetch: async (url: string, init: { headers: Record<string, string>; redirect: unknown }) => {
      requests.push({ url, headers: init.headers, redirect: init.redirect });
      const page = pages[url];
      if (page === undefined) throw new TypeError("connection refused");
      return typeof page === "number" ? new Response(null, { status: page }) : Response.json(page);
    },
  };
  const full = { MODELS, ...env } as unknown as ModelEnv;
  return { env: full, models: openModels(full), requests };
}

const tags = (...names: string[]) => ({
  "http://127.0.0.1:11434/api/tags": { models: names.map((name) => ({ name })) },
});
const createModelList = (...ids: string[]) => ({ data: ids.map((id) => ({ id })) });

test("a model with a key is resolved once, without any request", async () => {
  const { models, requests } = createEnvironment(
    {},
    { OPENAI_API_KEY: "sk", ANTHROPIC_API_KEY: "sk", GOOGLE_GENERATIVE_AI_API_KEY: "k" },
  );
  for (const id of ["openai:gpt-4.1", "anthropic:anything-at-all", "google:gemini-2.5-flash"]) {
    const model = await models.resolve(id);
    expect(model.id).toBe(id);
    expect(await models.resolve(id)).toBe(model);
  }
  expect(requests).toEqual([]);
});

test("each environment has one catalogue", () => {
  const { env, models } = createEnvironment();
  expect(openModels(env)).toBe(models);
});

test("an invalid model id is rejected with a suggestion", async () => {
  const { models } = createEnvironment({}, { OPENAI_API_KEY: "sk" });
  const getError = (id: string) =>
    models.resolve(id).then(
      () => undefined,
      (error) => error,
    );
  expect(await getError("opnai:gpt-4.1")).toMatchObject({
    code: "bad_request",
    details: { suggestion: "openai:gpt-4.1" },
  });
  expect(await getError("nonsense:x")).toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("Known providers: anthropic, openai"),
  });
  expect(await getError("gpt-4.1")).toMatchObject({ code: "bad_request", details: { suggestion: "openai:gpt-4.1" } });
  for (const id of ["", ":", "x", ":x", "openai:"])
    expect(await getError(id)).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("provider:model"),
    });
  expect(await getError("anthropic:claude-sonnet-5-5")).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("Set ANTHROPIC_API_KEY"),
  });
  expect(await getError("scripted:tuor")).toMatchObject({
    code: "bad_request",
    details: { suggestion: "scripted:tour" },
  });
  expect(await getError("scripted:../etc/passwd")).toMatchObject({ code: "bad_request" });
  expect((await models.resolve("scripted:tour")).id).toBe("scripted:tour");
});

test("an invalid base URL is reported with the name of its variable", async () => {
  const { models } = createEnvironment({}, { LLM_API_BASE: "localhost" });
  await expect(models.resolve("openai:x")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("LLM_API_BASE is not a valid URL"),
  });
});

test("a model that Ollama does not have is rejected with the nearest match; if the server is down, any model is accepted", async () => {
  const { models } = createEnvironment(tags("llama3.2:latest", "qwen3:8b"));
  expect((await models.resolve("ollama:llama3.2")).id).toBe("ollama:llama3.2");
  expect((await models.resolve("ollama:qwen3:8b")).id).toBe("ollama:qwen3:8b");
  await expect(models.resolve("ollama:qwen3:8")).rejects.toMatchObject({
    code: "bad_request",
    details: { suggestion: "ollama:qwen3:8b" },
  });
  const down = createEnvironment();
  expect((await down.models.resolve("ollama:anything")).id).toBe("ollama:anything");
});

test("a model pulled a moment ago is found", async () => {
  const pages: Pages = tags("old");
  const { models } = createEnvironment(pages);
  await expect(models.resolve("ollama:fresh")).rejects.toThrow("no model “fresh”");
  Object.assign(pages, tags("old", "fresh"));
  expect((await models.resolve("ollama:fresh")).id).toBe("ollama:fresh");
});

test.each<[string, Pages, Record<string, unknown>, string, RegExp]>([
  ["nothing", {}, {}, "scripted:tour", /no model server was found/],
  [
    "a configured model",
    {},
    { MODEL_CONFIG: { model: "groq:x", providers: {}, prices: {} }, OPENAI_API_KEY: "k" },
    "groq:x",
    /configuration/,
  ],
  ["two keys", {}, { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }, "anthropic:claude-sonnet-5-5", /ANTHROPIC_API_KEY/],
  ["OpenAI's key", {}, { OPENAI_API_KEY: "k" }, "openai:gpt-4.1-mini", /OPENAI_API_KEY/],
  ["Google's key", {}, { GOOGLE_GENERATIVE_AI_API_KEY: "k" }, "google:gemini-2.5-flash", /GOOGLE/],
  [
    "a base URL that lists models",
    { "http://127.0.0.1:9/v1/models": createModelList("text-embedding", "mine") },
    { LLM_API_BASE: "http://127.0.0.1:9/v1", ANTHROPIC_API_KEY: "k" },
    "openai:mine",
    /LLM_API_BASE/,
  ],
  [
    "a base URL that does not list models",
    {},
    { LLM_API_BASE: "http://127.0.0.1:9/v1" },
    "openai:gpt-4.1-mini",
    /LLM_API_BASE/,
  ],
  ["Ollama", tags("nomic-embed-text:latest", "llama3.2:latest"), {}, "ollama:llama3.2:latest", /Ollama/],
  [
    "an empty Ollama and LM Studio",
    { ...tags(), "http://127.0.0.1:1234/v1/models": createModelList("qwen") },
    {},
    "lmstudio:qwen",
    /LM Studio/,
  ],
  ["a key and Ollama", tags("llama"), { OPENAI_API_KEY: "k" }, "openai:gpt-4.1-mini", /OPENAI_API_KEY/],
  ["Workers AI", {}, { AI: {} }, "workers-ai:@cf/meta/llama-3.3-70b-instruct-fp8-fast", /Workers AI/],
])("with %s, the default model is chosen accordingly", async (_, pages, env, id, why) => {
  expect(await createEnvironment(pages, env).models.getDefaultModel()).toEqual({ id, why: expect.stringMatching(why) });
});

test("providers report their status and list live models if they can", async () => {
  const pages = {
    "https://api.openai.com/v1/models": createModelList(
      "gpt-4.1",
      "gpt-4o-audio-preview",
      "text-embedding-3-small",
      "o3",
    ),
    "https://api.anthropic.com/v1/models?limit=200": 401,
    "https://generativelanguage.googleapis.com/v1beta/models?pageSize=200": {
      models: [
        {
          name: "models/gemini-2.5-flash",
          inputTokenLimit: 1_048_576,
          supportedGenerationMethods: ["generateContent"],
        },
        { name: "models/embedding-001", supportedGenerationMethods: ["embedContent"] },
      ],
    },
    ...tags("llama3.2:latest"),
  };
  const keys = { OPENAI_API_KEY: "sk-o", ANTHROPIC_API_KEY: "sk-a", GOOGLE_GENERATIVE_AI_API_KEY: "g" };
  const { models, requests } = createEnvironment(pages, keys);
  const by = Object.fromEntries((await models.list()).map((provider) => [provider.name, provider]));
  expect(by.openai).toMatchObject({
    status: "ready",
    models: [{ id: "openai:gpt-4.1", price: { input: 2, output: 8 }, contextTokens: 1_047_576 }, { id: "openai:o3" }],
  });
  expect(by.anthropic).toMatchObject({
    status: "error",
    problem: "The API key was rejected. Check ANTHROPIC_API_KEY.",
  });
  expect(by.anthropic?.models.length).toBeGreaterThan(3);
  expect(by.google).toMatchObject({
    status: "ready",
    models: [{ id: "google:gemini-2.5-flash", contextTokens: 1_048_576 }],
  });
  expect(by.ollama).toMatchObject({
    status: "ready",
    models: [{ id: "ollama:llama3.2:latest", price: { input: 0, output: 0 } }],
  });
  expect(by.lmstudio).toMatchObject({ status: "not found", models: [] });
  expect(by.scripted).toMatchObject({ status: "ready", models: [{ id: "scripted:tour" }] });
  // Each key is sent only to its own provider, and never follows a redirect.
  for (const { url, headers, redirect } of requests) {
    const sentKeys = JSON.stringify(headers).match(/sk-o|sk-a|"g"/g) ?? [];
    const expected = url.includes("openai")
      ? ["sk-o"]
      : url.includes("anthropic")
        ? ["sk-a"]
        : url.includes("googleapis")
          ? ['"g"']
          : [];
    expect([url, sentKeys, redirect]).toEqual([url, expected, "manual"]);
  }
  expect(JSON.stringify(by)).not.toMatch(/sk-o|sk-a/);
});

test("without a key, a provider names the variable to set and receives no request", async () => {
  const { models, requests } = createEnvironment();
  const openai = (await models.list()).find(({ name }) => name === "openai");
  expect(openai).toMatchObject({
    status: "no key",
    apiKeyVariable: "OPENAI_API_KEY",
    problem: expect.stringContaining("OPENAI_API_KEY"),
  });
  expect(requests.filter(({ url }) => !url.includes("127.0.0.1"))).toEqual([]);
});

test("listings are cached for a while, then fetched again", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const pages: Pages = tags("llama");
    const { models, requests } = createEnvironment(pages);
    const count = (part: string) => requests.filter(({ url }) => url.includes(part)).length;
    expect([await models.listLocalServers(), await models.listLocalServers()]).toEqual([["ollama"], ["ollama"]]);
    expect([count("11434"), count("1234/")]).toEqual([1, 1]);
    // Failures expire sooner.
    pages["http://127.0.0.1:1234/v1/models"] = createModelList("qwen");
    vi.advanceTimersByTime(6_000);
    expect(await models.listLocalServers()).toEqual(["ollama", "lmstudio"]);
    expect([count("11434"), count("1234/")]).toEqual([1, 2]);
    vi.advanceTimersByTime(31_000);
    await models.listLocalServers();
    expect([count("11434"), count("1234/")]).toEqual([2, 3]);
  } finally {
    vi.useRealTimers();
  }
});
