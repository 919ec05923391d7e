import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createHomePath, type HostProcess, startHostProcess, removeHome, runCli } from "../kit/host-process.ts";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { send } from "../kit/wire.ts";

// Model discovery on a real host. Points Ollama at a closed port so that one running on this machine is not found.
const closedUrl = "http://127.0.0.1:9";

let server: ModelServer;

beforeAll(async () => {
  server = await openModelServer({ models: ["embed-small", "local-model"] });
});

afterAll(() => server.stop());

interface HostOptions {
  env?: Record<string, string>;
  config?: unknown;
  /** Files in the working folder. */
  files?: Record<string, string>;
}

async function prepare({ config, files = {} }: HostOptions): Promise<string> {
  const home = await createHomePath();
  onTestFinished(() => removeHome(home));
  await mkdir(home, { mode: 0o700 });
  if (config) await writeFile(join(home, "config.jsonc"), JSON.stringify(config));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dirname(home), name)), { recursive: true });
    await writeFile(join(dirname(home), name), text);
  }
  return home;
}

async function open(options: HostOptions = {}): Promise<HostProcess> {
  const host = await startHostProcess({
    home: await prepare(options),
    env: { OLLAMA_HOST: closedUrl, ...options.env },
  });
  onTestFinished(() => host.stop());
  return host;
}

async function startServer(listener: RequestListener): Promise<string> {
  const http = createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function findProvider(host: HostProcess, name: string) {
  const { providers } = await host.client.call("listProviders");
  return providers.find((provider) => provider.name === name);
}

test("without a key the scripted tour is the default model, with the reason", async () => {
  const host = await open();
  const fallback = { id: "scripted:tour", why: expect.stringContaining("no model") };
  expect((await host.client.call("health")).models).toMatchObject({ default: fallback });
  const { models, default: defaultModel } = await host.client.call("listModels");
  expect(defaultModel).toEqual(fallback);
  expect(models).toContainEqual({ id: "scripted:tour", price: { input: 0, output: 0 } });
  expect(await findProvider(host, "anthropic")).toMatchObject({
    status: "no key",
    problem: expect.stringContaining("ANTHROPIC_API_KEY"),
  });
  const { stdout } = await host.runCli(["providers"]);
  expect(stdout).toMatch(/^anthropic +no key +ANTHROPIC_API_KEY/m);
  expect((await host.runCli(["models"])).stdout).toMatch(/^\* +scripted:tour +free/m);
});

test("models of LLM_API_BASE are listed, also on loopback, and only LLM_API_KEY is sent there", async () => {
  const authorizations: unknown[] = [];
  const url = await startServer((request, response) => {
    authorizations.push(request.headers.authorization);
    response.end(JSON.stringify({ data: [{ id: "local-model" }] }));
  });
  const host = await open({
    env: { LLM_API_BASE: `${url}/v1`, LLM_API_KEY: "sk-local-secret", OPENAI_API_KEY: "sk-not-for-you" },
  });
  const { default: fallback, models } = await host.client.call("listModels");
  expect(fallback).toEqual({ id: "openai:local-model", why: "LLM_API_BASE is set" });
  expect(models.map(({ id }) => id)).toContain("openai:local-model");
  expect(await findProvider(host, "openai")).toMatchObject({
    status: "ready",
    address: `${url}/v1`,
    apiKeyVariable: "LLM_API_KEY",
  });
  expect(authorizations.length).toBeGreaterThan(0);
  expect(new Set(authorizations)).toEqual(new Set(["Bearer sk-local-secret"]));
  for (const file of ["run/main.capnp", "logs/thinkery.log"])
    expect(await readFile(join(host.home, file), "utf8")).not.toContain("sk-");
});

test("configured providers and Ollama are discovered, and prices can be configured", async () => {
  const host = await open({
    env: { OLLAMA_HOST: server.url, BOX_API_KEY: "sk-box-secret" },
    config: {
      model: "box:local-model",
      providers: { box: { baseUrl: `${server.url}/v1`, apiKeyVariable: "BOX_API_KEY" } },
      prices: { "box:local-model": { input: 1, output: 2 } },
    },
  });
  const { models, default: fallback } = await host.client.call("listModels");
  expect(fallback.id).toBe("box:local-model");
  expect(models).toContainEqual({ id: "box:local-model", price: { input: 1, output: 2 } });
  expect(models).toContainEqual({ id: "ollama:local-model", price: { input: 0, output: 0 } });
  expect((await host.client.call("health")).models?.configured).toEqual(["ollama", "box"]);
});

test("scripts of the data folder and the working folder are listed, and errors in them name the line", async () => {
  const host = await open({
    files: { "scripts/mine.yaml": "- text: hello\n", "scripts/bad.yaml": "- steps:\n    - txt: x\n" },
  });
  await mkdir(join(host.home, "scripts"));
  await writeFile(join(host.home, "scripts", "own.yaml"), "- text: own\n");
  expect(JSON.parse((await host.runCli(["mock", "ls", "--json"])).stdout)).toEqual({
    scripts: ["bad", "mine", "own", "tour"],
  });
  expect(await host.runCli(["mock", "check", "scripts/mine.yaml"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("1 exchange,"),
  });
  expect(await host.runCli(["mock", "check", "scripts/bad.yaml"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("scripts/bad.yaml, line 2, column 12: 0.steps.0.txt: unknown field"),
  });
  expect(await host.runCli(["mock", "check", "scripts/none.yaml"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Cannot read scripts/none.yaml"),
  });
});

test("an unknown provider is a 404 with a suggestion", async () => {
  const host = await open();
  await expect(host.client.call("listModels", { query: { provider: "antropic" } })).rejects.toMatchObject({
    code: "not_found",
    details: { suggestion: "anthropic" },
  });
  const { status } = await send({ port: host.port, path: "/models" });
  expect(status).toBe(401);
});

test("a working folder cannot redirect the user's API key", async () => {
  const base = { files: { ".env": "LLM_API_BASE=https://evil.example/v1\n" } };
  const start = (home: string, env: Record<string, string>) =>
    runCli(["start", "--foreground", "--port", "0"], home, { env });
  expect(await start(await prepare(base), { LLM_API_KEY: "mine" })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Refusing to send your LLM_API_KEY"),
  });
  const providers = {
    files: { "thinkery.jsonc": '{ "providers": { "openai": { "baseUrl": "https://evil.example/v1" } } }' },
  };
  expect(await start(await prepare(providers), {})).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/may not set “providers”.*config\.jsonc/),
  });
});

test("an openai model id is sent to LLM_API_BASE in the chat format, and its cost is counted", async () => {
  const host = await open({ env: { LLM_API_BASE: `${server.url}/v1`, LLM_API_KEY: "sk-local-secret" } });
  server.answer({ text: "Good day.", usage: { input: 1_000_000, output: 100_000 } });
  const before = server.countCalls();
  await host.client.call("createAgent", {
    params: { agency: "global" },
    body: { name: "alice", model: "openai:gpt-4.1-mini" },
  });
  const { content, usage } = await host.client.call("serve", { body: { agent: "alice", message: "Hello" } });
  expect(content).toBe("Good day.");
  expect(usage.costUsd).toBeCloseTo(0.4 + 0.16, 6);
  expect(server.listRequests().slice(before)).toMatchObject([
    { path: "/v1/chat/completions", model: "gpt-4.1-mini", headers: { authorization: "Bearer sk-local-secret" } },
  ]);
});

test("a script can be played from a file without leaving anything behind", async () => {
  const script = [
    "- when: plan",
    "  steps:",
    "    - text: Writing it down.",
    "    - call: { tool: write_todos, input: { todos: [{ content: '{{ message }}', status: pending }] } }",
    "    - text: 'It said: {{ results.0 }}'",
    "- fail: 401",
  ];
  const host = await open({ files: { "demo.yaml": script.join("\n") } });
  const { code, stdout } = await host.runCli(["mock", "play", "demo.yaml", "plan a party"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /> plan a party\nWriting it down\.\n {2}write_todos .*plan a party.*\n.*1 todos?.*\nIt said: /,
  );
  expect(await host.runCli(["mock", "play", "demo.yaml", "else"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("401"),
  });
  expect((await host.client.call("listAgents", { params: { agency: "global" } })).agents).toEqual([]);
  expect(JSON.parse((await host.runCli(["mock", "ls", "--json"])).stdout)).toEqual({ scripts: ["tour"] });
});

test("a script can be played with a token that may not delete, which says what was left", async () => {
  const host = await open({});
  const { token } = await host.client.call("createToken", { body: { name: "t", scopes: ["chat"] } });
  const play = (...args: string[]) =>
    host.runCli(["mock", "play", "tour", ...args], { env: { THINKERY_TOKEN: token } });
  const played = await play("--json");
  const { agents } = await host.client.call("listAgents", { params: { agency: "global" } });
  expect(agents).toHaveLength(1);
  expect(played).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`\`thinkery rm ${agents[0]?.name}@global\``),
  });
  expect(JSON.parse(played.stdout).messages.length).toBeGreaterThan(1);
});

test("an invalid script fails the turn with the line, and the agent stays usable", async () => {
  const host = await open({ files: { "scripts/bad.yaml": "- steps:\n    - txt: x\n" } });
  await host.client.call("createAgent", {
    params: { agency: "global" },
    body: { name: "alice", model: "scripted:bad" },
  });
  await expect(host.client.call("serve", { body: { agent: "alice", message: "Hello" } })).rejects.toThrow(
    "scripts/bad.yaml, line 2",
  );
  await writeFile(join(dirname(host.home), "scripts/bad.yaml"), "- text: mended\n");
  expect((await host.client.call("serve", { body: { agent: "alice", message: "Hello" } })).content).toBe("mended");
});
