import type { ModelRole, ModelRoles } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { openModels } from "./catalogue.ts";
import type { ModelEnv } from "./providers.ts";
import { openRoles } from "./roles.ts";

const MODELS = { fetch: () => Promise.reject(new TypeError("nobody is asked")) };
const keys = { OPENAI_API_KEY: "sk", ANTHROPIC_API_KEY: "sk", GOOGLE_GENERATIVE_AI_API_KEY: "k" };

function roles(layers: Partial<ModelRoles>[], env: object = keys) {
  const opened = openRoles(openModels({ MODELS, ...env } as unknown as ModelEnv), layers);
  return { opened, id: async (role: ModelRole) => (await opened.getModel(role)).id };
}

const all = async (given: ReturnType<typeof roles>) =>
  Object.fromEntries(
    await Promise.all(
      (["primary", "fast", "summarizer", "vision"] as const).map(async (role) => [role, await given.id(role)]),
    ),
  );

test("each role takes the strongest layer that says something of it, and the configuration comes last", async () => {
  const MODEL_CONFIG = {
    model: "openai:configured",
    models: { fast: "openai:configured-fast", vision: "openai:configured-eyes" },
    providers: {},
    prices: {},
  };
  const layers = [
    { vision: "google:request-eyes" },
    {},
    { primary: "anthropic:agent", vision: "google:agent-eyes" },
    { primary: "openai:blueprint", summarizer: "openai:blueprint-short" },
  ];
  expect(await all(roles(layers, { ...keys, MODEL_CONFIG }))).toEqual({
    primary: "anthropic:agent",
    fast: "openai:configured-fast",
    summarizer: "openai:blueprint-short",
    vision: "google:request-eyes",
  });
  expect(await all(roles([], { ...keys, MODEL_CONFIG }))).toEqual({
    primary: "openai:configured",
    fast: "openai:configured-fast",
    summarizer: "openai:configured-fast",
    vision: "openai:configured-eyes",
  });
});

test.each([
  ["anthropic:claude-opus-5", "anthropic:claude-haiku-5-5"],
  ["anthropic:a-name-without-a-price", "anthropic:claude-haiku-5-5"],
  ["anthropic:claude-haiku-5-5", "anthropic:claude-haiku-5-5"],
  ["openai:gpt-5", "openai:gpt-4.1-mini"],
  // Cheaper than the small one already.
  ["openai:gpt-4o-mini", "openai:gpt-4o-mini"],
  ["google:gemini-2.5-pro", "google:gemini-2.5-flash-lite"],
  ["scripted:tour", "scripted:tour"],
])("when nobody says, %s is helped by %s and sees by itself", async (primary, small) => {
  expect(await all(roles([{ primary }]))).toEqual({ primary, fast: small, summarizer: small, vision: primary });
});

test("at another address than its own, a provider's small model is not assumed", async () => {
  const elsewhere = {
    ...keys,
    MODEL_CONFIG: { providers: { anthropic: { baseUrl: "https://proxy.example/v1" } }, prices: {} },
  };
  expect(await roles([{ primary: "anthropic:claude-opus-5" }], elsewhere).id("fast")).toBe("anthropic:claude-opus-5");
  const compatible = { LLM_API_BASE: "http://127.0.0.1:9/v1", LLM_API_KEY: "k" };
  expect(await roles([{ primary: "openai:gpt-5" }], compatible).id("fast")).toBe("openai:gpt-5");
});

test("a role is filled once a turn, and by the same model as another of its id", async () => {
  const { opened } = roles([{ primary: "scripted:tour" }]);
  const primary = await opened.getPrimary();
  expect(await opened.getModel("primary")).toBe(primary);
  expect(await opened.getModel("summarizer")).toBe(primary);
});

test("a role that cannot be filled says which one it is, when it is needed and not before", async () => {
  const { opened } = roles(
    [{ primary: "scripted:tour", summarizer: "nonsense:x", vision: "anthropic:claude-opus-5" }],
    {},
  );
  expect((await opened.getPrimary()).id).toBe("scripted:tour");
  await expect(opened.getModel("summarizer")).rejects.toMatchObject({
    code: "bad_request",
    message: expect.stringMatching(/role “summarizer”.*no provider “nonsense”/),
  });
  await expect(opened.getModel("vision")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/role “vision”.*ANTHROPIC_API_KEY/),
  });
});
