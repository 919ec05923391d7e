import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseDotenv } from "./dotenv.ts";
import { loadEnvironment } from "./environment.ts";
import { checkModelAddress, checkModelIds, readModelVariables, listProviders } from "./providers.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "thinkery-env-"));
});

afterEach(() => rm(cwd, { recursive: true }));

test("plain, exported, quoted and commented lines are read", () => {
  const text = [
    "# a comment",
    "PLAIN=one",
    "  export SPACED = two words  ",
    "COMMENTED=three # not this",
    "HASH=a#b",
    'DOUBLE="line\\nnext \\"q\\"" # after',
    "SINGLE='as $IS \\n'",
    "EMPTY=",
    "URL=http://x/?a=b",
    "not a line",
    "1BAD=x",
  ].join("\r\n");
  expect(parseDotenv(text)).toEqual({
    PLAIN: "one",
    SPACED: "two words",
    COMMENTED: "three",
    HASH: "a#b",
    DOUBLE: 'line\nnext "q"',
    SINGLE: "as $IS \\n",
    EMPTY: "",
    URL: "http://x/?a=b",
  });
});

test("the real environment wins over the working folder's .env", async () => {
  await writeFile(join(cwd, ".env"), "OPENAI_API_KEY=file\nANTHROPIC_API_KEY=file\n");
  const { env } = loadEnvironment({ OPENAI_API_KEY: "real" }, cwd);
  expect(env).toEqual({ OPENAI_API_KEY: "real", ANTHROPIC_API_KEY: "file" });
});

test("a .env cannot choose the host or its token", async () => {
  await writeFile(join(cwd, ".env"), "THINKERY_URL=http://elsewhere.example\nTHINKERY_TOKEN=known\n");
  const { env, ignored } = loadEnvironment({ THINKERY_TOKEN: "mine" }, cwd);
  expect(env).toEqual({ THINKERY_TOKEN: "mine" });
  expect(ignored).toEqual(["THINKERY_URL"]);
});

test("without a .env the environment is unchanged", () => {
  expect(loadEnvironment({ A: "b" }, cwd)).toEqual({ env: { A: "b" }, ignored: [] });
});

test("providers with a key or an address are listed", () => {
  expect(listProviders({})).toEqual([]);
  expect(listProviders({ OPENAI_API_KEY: "x", ANTHROPIC_API_KEY: " ", OLLAMA_HOST: "127.0.0.1:11434" })).toEqual([
    "openai",
    "ollama",
  ]);
  expect(listProviders({ LLM_API_KEY: "x", LLM_API_BASE: "http://127.0.0.1:1" })).toEqual(["openai-compatible"]);
});

test("configured providers are listed if their key is set or they need none", () => {
  const configured = {
    groq: { baseUrl: "https://a.example", apiKeyVariable: "GROQ_API_KEY" },
    box: { baseUrl: "http://10.0.0.1/v1" },
  };
  expect(listProviders({}, configured)).toEqual(["box"]);
  expect(listProviders({ GROQ_API_KEY: "x" }, configured)).toEqual(["groq", "box"]);
});

test("only the model keys and addresses that are set are passed to main", () => {
  const env = {
    OPENAI_API_KEY: " a ",
    GROQ_API_KEY: "b",
    LLM_API_BASE: "http://127.0.0.1:1",
    ANTHROPIC_API_KEY: "",
    HOME: "/x",
    OTHER_KEY: "c",
  };
  const configured = { groq: { baseUrl: "https://a.example", apiKeyVariable: "GROQ_API_KEY" } };
  expect(readModelVariables(env, configured)).toEqual({
    variables: { OPENAI_API_KEY: "a", GROQ_API_KEY: "b", LLM_API_BASE: "http://127.0.0.1:1" },
    secrets: ["a", "b"],
  });
});

test("an address from .env is used only with a key from the same file", async () => {
  const check = (real: Record<string, string>) => checkModelAddress(loadEnvironment(real, cwd).env, cwd);
  await writeFile(join(cwd, ".env"), "LLM_API_BASE=https://evil.example/v1\n");
  expect(() => check({ LLM_API_KEY: "mine" })).toThrow("Refusing to send your LLM_API_KEY");
  expect(() => check({})).not.toThrow();
  await writeFile(join(cwd, ".env"), "LLM_API_BASE=https://evil.example/v1\nLLM_API_KEY=theirs\n");
  expect(() => check({})).not.toThrow();
  // The real environment wins, so it would be the real key that is sent.
  expect(() => check({ LLM_API_KEY: "mine" })).toThrow("Refusing to send your LLM_API_KEY");
  expect(() => check({ LLM_API_KEY: "mine", LLM_API_BASE: "https://mine.example/v1" })).not.toThrow();
});

test("an invalid address is rejected", () => {
  expect(() => checkModelAddress({ LLM_API_BASE: "localhost:8080" }, cwd)).toThrow("not a valid URL");
});

test("a model of an unknown provider is rejected with its config key, for every role", () => {
  const providers = { box: { baseUrl: "http://10.0.0.1/v1" } };
  const check =
    (model: string | undefined, models: object = {}) =>
    () =>
      checkModelIds({ ...(model ? { model } : {}), models, providers });
  expect(
    check("box:x", { fast: "ollama:qwen3:8b", summarizer: "scripted:tour", vision: "google:gemini" }),
  ).not.toThrow();
  expect(check(undefined)).not.toThrow();
  expect(check("bx:x")).toThrow("Unknown provider “bx” in “model”: bx:x. Did you mean “box:x”?");
  expect(check("box:x", { summarizer: "nonsense:y" })).toThrow(
    /“models\.summarizer”.*Known providers: anthropic, openai, google, ollama, lmstudio, scripted, box/,
  );
});
