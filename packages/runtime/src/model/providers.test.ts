import { expect, test } from "vitest";
import { parseOllamaHost, collectProviders } from "./providers.ts";

const MODELS = { fetch: async () => new Response() } as never;

test("keys are read from their variables, and blank ones are ignored", () => {
  const providers = collectProviders({ MODELS, OPENAI_API_KEY: " sk-1 ", ANTHROPIC_API_KEY: "  " });
  expect(providers.get("openai")).toMatchObject({
    key: "sk-1",
    wire: "responses",
    baseUrl: "https://api.openai.com/v1",
  });
  expect(providers.get("anthropic")).not.toHaveProperty("key");
  expect([...providers.keys()]).toEqual(["anthropic", "openai", "google", "ollama", "lmstudio", "scripted"]);
});

test("with LLM_API_BASE, openai uses that URL in the chat format with LLM_API_KEY, never with OpenAI's key", () => {
  const env = { MODELS, OPENAI_API_KEY: "sk-openai", LLM_API_BASE: "http://127.0.0.1:8080/v1/" };
  expect(collectProviders(env).get("openai")).toMatchObject({
    wire: "chat",
    baseUrl: "http://127.0.0.1:8080/v1",
    needsKey: false,
  });
  expect(collectProviders(env).get("openai")).not.toHaveProperty("key");
  expect(collectProviders({ ...env, LLM_API_KEY: "own" }).get("openai")).toMatchObject({
    key: "own",
    apiKeyVariable: "LLM_API_KEY",
  });
});

test("the configuration adds providers and overrides the URLs of built-in ones", () => {
  const MODEL_CONFIG = {
    prices: {},
    providers: {
      groq: { baseUrl: "https://api.groq.com/openai/v1/", apiKeyVariable: "GROQ_API_KEY" },
      plain: { baseUrl: "http://10.0.0.1/v1", wire: "messages" as const },
      openai: { baseUrl: "https://proxy.example/v1" },
    },
  };
  const providers = collectProviders({ MODELS, MODEL_CONFIG, OPENAI_API_KEY: "sk", GROQ_API_KEY: "gsk" } as never);
  expect(providers.get("groq")).toMatchObject({
    wire: "chat",
    baseUrl: "https://api.groq.com/openai/v1",
    key: "gsk",
    needsKey: true,
  });
  expect(providers.get("plain")).toMatchObject({ wire: "messages", needsKey: false });
  expect(providers.get("openai")).toMatchObject({
    wire: "responses",
    baseUrl: "https://proxy.example/v1",
    key: "sk",
    needsKey: true,
  });
});

test("a configured key variable replaces the built-in one, even if it is not set", () => {
  const MODEL_CONFIG = {
    prices: {},
    providers: { openai: { baseUrl: "https://proxy.example/v1", apiKeyVariable: "PROXY_KEY" } },
  };
  const openai = collectProviders({ MODELS, MODEL_CONFIG, OPENAI_API_KEY: "sk-openai" }).get("openai");
  expect(openai).toMatchObject({ apiKeyVariable: "PROXY_KEY", needsKey: true });
  expect(openai).not.toHaveProperty("key");
  expect(
    collectProviders({ MODELS, MODEL_CONFIG, OPENAI_API_KEY: "sk-openai", PROXY_KEY: "own" } as never).get("openai"),
  ).toMatchObject({ key: "own" });
});

test("without a daemon, local servers are not providers unless OLLAMA_HOST is set", () => {
  expect([...collectProviders({ AI: {} as never }).keys()]).toEqual([
    "anthropic",
    "openai",
    "google",
    "workers-ai",
    "scripted",
  ]);
  expect(collectProviders({ OLLAMA_HOST: "http://10.0.0.1:1" }).get("ollama")?.baseUrl).toBe("http://10.0.0.1:1/v1");
});

test.each([
  ["127.0.0.1:11434", "http://127.0.0.1:11434"],
  ["127.0.0.1", "http://127.0.0.1:11434"],
  ["0.0.0.0", "http://127.0.0.1:11434"],
  [":8080", "http://127.0.0.1:8080"],
  ["http://box.local", "http://box.local:80"],
  ["https://box.local/", "https://box.local:443"],
  ["http://[::1]:9/", "http://[::1]:9"],
])("OLLAMA_HOST %s is %s", (text, address) => {
  expect(parseOllamaHost(text)).toBe(address);
});
