import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseDotenv } from "./dotenv.ts";
import { loadEnvironment } from "./environment.ts";
import { providersIn } from "./providers.ts";

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

test("without a .env the environment is as it was", () => {
  expect(loadEnvironment({ A: "b" }, cwd)).toEqual({ env: { A: "b" }, ignored: [] });
});

test("providers are those that have a key or an address", () => {
  expect(providersIn({})).toEqual([]);
  expect(providersIn({ OPENAI_API_KEY: "x", ANTHROPIC_API_KEY: " ", OLLAMA_HOST: "127.0.0.1:11434" })).toEqual([
    "openai",
    "ollama",
  ]);
  expect(providersIn({ LLM_API_KEY: "x", LLM_API_BASE: "http://127.0.0.1:1" })).toEqual(["openai-compatible"]);
});
