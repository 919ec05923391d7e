import type { ModelRole } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { openModels } from "./catalogue.ts";
import type { ModelEnv } from "./providers.ts";
import { openRoles, type RoleLayer } from "./roles.ts";

const MODELS = { fetch: () => Promise.reject(new TypeError("unexpected request")) };
const keys = { OPENAI_API_KEY: "sk", ANTHROPIC_API_KEY: "sk", GOOGLE_GENERATIVE_AI_API_KEY: "k" };

function createRoles(layers: RoleLayer[], env: object = keys) {
  const opened = openRoles(openModels({ MODELS, ...env } as unknown as ModelEnv), layers);
  return { opened, id: async (role: ModelRole) => (await opened.getModel(role)).id };
}

const listIds = async (turn: ReturnType<typeof createRoles>) =>
  Object.fromEntries(
    await Promise.all(
      (["primary", "fast", "summarizer", "vision"] as const).map(async (role) => [role, await turn.id(role)]),
    ),
  );

test("each role takes the strongest layer that sets it, and the configuration comes last", async () => {
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
  expect(await listIds(createRoles(layers, { ...keys, MODEL_CONFIG }))).toEqual({
    primary: "anthropic:agent",
    fast: "openai:configured-fast",
    summarizer: "openai:blueprint-short",
    vision: "google:request-eyes",
  });
  expect(await listIds(createRoles([], { ...keys, MODEL_CONFIG }))).toEqual({
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
  // Already cheaper than the small model.
  ["openai:gpt-4o-mini", "openai:gpt-4o-mini"],
  ["google:gemini-2.5-pro", "google:gemini-2.5-flash-lite"],
  ["scripted:tour", "scripted:tour"],
])("by default, %s uses %s as its fast model and itself for vision", async (primary, small) => {
  expect(await listIds(createRoles([{ primary }]))).toEqual({
    primary,
    fast: small,
    summarizer: small,
    vision: primary,
  });
});

test("at a custom base URL, a provider's small model is not assumed", async () => {
  const proxied = {
    ...keys,
    MODEL_CONFIG: { providers: { anthropic: { baseUrl: "https://proxy.example/v1" } }, prices: {} },
  };
  expect(await createRoles([{ primary: "anthropic:claude-opus-5" }], proxied).id("fast")).toBe(
    "anthropic:claude-opus-5",
  );
  const compatible = { LLM_API_BASE: "http://127.0.0.1:9/v1", LLM_API_KEY: "k" };
  expect(await createRoles([{ primary: "openai:gpt-5" }], compatible).id("fast")).toBe("openai:gpt-5");
});

test("a role is resolved once per turn, and roles with the same id share a model", async () => {
  const { opened } = createRoles([{ primary: "scripted:tour" }]);
  const primary = await opened.getPrimary();
  expect(await opened.getModel("primary")).toBe(primary);
  expect(await opened.getModel("summarizer")).toBe(primary);
});

test("an unusable model is reported with its role, and only when it is needed", async () => {
  const { opened } = createRoles(
    [{ primary: "scripted:tour", summarizer: "nonsense:x", vision: "anthropic:claude-opus-5" }],
    {},
  );
  expect((await opened.getPrimary()).id).toBe("scripted:tour");
  await expect(opened.getModel("summarizer")).rejects.toMatchObject({
    code: "bad_request",
    message: expect.stringMatching(/role “summarizer”.*Unknown provider “nonsense”/),
  });
  await expect(opened.getModel("vision")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/role “vision”.*ANTHROPIC_API_KEY/),
  });
});

test("each role thinks as much as the strongest layer says that sets it", () => {
  const MODEL_CONFIG = { reasoning: { primary: "high", summarizer: "none" }, providers: {}, prices: {} };
  const { opened } = createRoles(
    [{ reasoning: { fast: "low" } }, { primary: "openai:gpt-5" }, { reasoning: { fast: "max", primary: "medium" } }],
    { ...keys, MODEL_CONFIG },
  );
  expect((["primary", "fast", "summarizer", "vision"] as const).map((role) => opened.getEffort(role))).toEqual([
    "medium",
    "low",
    "none",
    undefined,
  ]);
});
