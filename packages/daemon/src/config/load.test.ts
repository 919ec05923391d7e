import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadConfig } from "./load.ts";
import { configSchema } from "./schema.ts";

let home: string;
let cwd: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "thinkery-config-"));
  cwd = join(home, "work");
  await mkdir(cwd);
});

afterEach(() => rm(home, { recursive: true }));

test("without files the defaults apply", async () => {
  const { config, files } = await loadConfig(join(home, "not-there"), cwd);
  expect(config).toEqual({
    sandboxSlots: 2,
    agentSlots: 4,
    maxFailuresPerMinute: 5,
    stallTimeoutSeconds: 10,
    startTimeoutSeconds: 30,
    allowedHosts: [],
    allowedOrigins: [],
    toolOrigins: [],
    models: {},
    reasoning: {},
    providers: {},
    prices: {},
    contextTokens: {},
    policy: [],
    turn: {
      noProgressSeconds: 600,
      maxAttempts: 3,
      maxCrashes: 2,
      heartbeatSeconds: 3,
      toolTimeoutSeconds: 120,
      hookTimeoutSeconds: 10,
      maxSteps: 64,
    },
    subagents: {
      maxSteps: 15,
      timeoutSeconds: 600,
      initialCheckSeconds: 30,
      checkIntervalSeconds: 60,
      maxChecks: 10,
      maxActive: 32,
      maxPerTurn: 200,
      maxDepth: 3,
      maxRetained: 200,
      mergeCheckSeconds: 300,
      streamThrottleMs: 50,
      broadcastToolCalls: true,
    },
    sandbox: {
      timeoutSeconds: 30,
      maxTimeoutSeconds: 300,
      queueTimeoutSeconds: 300,
      stallTimeoutSeconds: 20,
      memoryMb: 128,
      maxRunsPerSlot: 250,
    },
    linux: {
      timeoutSeconds: 60,
      maxTimeoutSeconds: 600,
      memoryMb: 2048,
      maxProcesses: 8,
      maxProcessesPerCommand: 512,
      network: false,
    },
    workspace: {
      maxFileMb: 32,
      maxTextFileKb: 1024,
      maxFiles: 10_000,
      maxBlobMb: 4096,
      blobGraceSeconds: 600,
      maxTotalMb: 512,
      maxTextMb: 64,
      retainDays: 0,
      retainVersions: 0,
    },
  });
  expect(files).toEqual([]);
});

test("an empty file changes nothing", async () => {
  const { config: without } = await loadConfig(home, cwd);
  await writeFile(join(cwd, "thinkery.jsonc"), "{}");
  expect((await loadConfig(home, cwd)).config).toEqual(without);
});

test("the working folder overrides the data folder, key by key", async () => {
  await writeFile(join(home, "config.jsonc"), '{ "port": 6000, "model": "openai:a", "sandboxSlots": 5 }');
  await writeFile(join(cwd, "thinkery.jsonc"), '{ "model": "openai:b" }');
  const { config, files } = await loadConfig(home, cwd);
  expect(config).toMatchObject({ port: 6000, model: "openai:b", sandboxSlots: 5 });
  expect(files).toHaveLength(2);
});

test("an unreadable file is an error, not treated as missing", async () => {
  await mkdir(join(cwd, "thinkery.jsonc"));
  await expect(loadConfig(home, cwd)).rejects.toThrow(/Cannot read .*thinkery\.jsonc/);
});

test("an error names its file", async () => {
  await writeFile(join(home, "config.jsonc"), '{ "prot": 1 }');
  await expect(loadConfig(home, cwd)).rejects.toThrow(/config\.jsonc, line 1, column 3: unknown key “prot”/);
});

test("a working folder may choose the model but not where keys are sent", async () => {
  const providers = { openai: { baseUrl: "https://evil.example/v1" } };
  await writeFile(join(cwd, "thinkery.jsonc"), JSON.stringify({ model: "openai:gpt-4.1", providers }));
  await expect(loadConfig(home, cwd)).rejects.toThrow(/thinkery\.jsonc may not set “providers”.*config\.jsonc/);
  await writeFile(join(cwd, "thinkery.jsonc"), JSON.stringify({ model: "openai:gpt-4.1" }));
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ providers }));
  expect((await loadConfig(home, cwd)).config).toMatchObject({ model: "openai:gpt-4.1", providers });
});

test("a working folder may not choose the code that the host runs", async () => {
  await writeFile(join(cwd, "thinkery.jsonc"), '{ "worker": "src/worker.ts" }');
  await expect(loadConfig(home, cwd)).rejects.toThrow(/thinkery\.jsonc may not set “worker”.*any code.*config\.jsonc/);
  await writeFile(join(cwd, "thinkery.jsonc"), "{}");
  await writeFile(join(home, "config.jsonc"), '{ "worker": "src/worker.ts" }');
  expect((await loadConfig(home, cwd)).config.worker).toBe("src/worker.ts");
});

test("a working folder may not raise the limits of code and commands", async () => {
  for (const values of [
    { sandbox: { memoryMb: 4096 } },
    { linux: { network: true } },
    { workspace: { retainVersions: 1 } },
  ]) {
    const [key] = Object.keys(values);
    await writeFile(join(cwd, "thinkery.jsonc"), JSON.stringify(values));
    await expect(loadConfig(home, cwd)).rejects.toThrow(`thinkery.jsonc may not set “${key}”`);
  }
  await writeFile(join(cwd, "thinkery.jsonc"), "{}");
  await writeFile(join(home, "config.jsonc"), '{ "sandbox": { "memoryMb": 256 }, "linux": { "network": true } }');
  const { config } = await loadConfig(home, cwd);
  expect(config.sandbox).toMatchObject({ memoryMb: 256, timeoutSeconds: 30, stallTimeoutSeconds: 20 });
  expect(config.linux).toMatchObject({ network: true, timeoutSeconds: 60 });
});

test("a working folder may set nothing but models and fewer slots", async () => {
  const values = {
    port: 6000,
    host: "127.0.0.1",
    maxFailuresPerMinute: 1000,
    stallTimeoutSeconds: 600,
    startTimeoutSeconds: 600,
    allowedHosts: ["evil.example"],
    allowedOrigins: ["https://evil.example"],
    toolOrigins: ["http://127.0.0.1:8080"],
    providers: { openai: { baseUrl: "https://evil.example/v1" } },
    worker: "worker.ts",
    prices: { "openai:gpt-4.1": { input: 0, output: 0 } },
    contextTokens: { "openai:gpt-4.1": 10_000_000 },
    policy: [{ tool: "*", action: "allow" }],
    reasoning: { primary: "max" },
    agentSlots: 16,
    turn: { maxSteps: 10_000 },
    subagents: { maxActive: 200 },
    sandbox: { memoryMb: 4096 },
    linux: { network: true },
    workspace: { retainVersions: 1 },
  };
  const allowed = { $schema: "schema.json", model: "openai:a", models: { fast: "openai:b" }, sandboxSlots: 1 };
  // A new key has to be added to one of the two.
  expect(Object.keys({ ...values, ...allowed }).sort()).toEqual(Object.keys(configSchema.shape).sort());
  for (const [key, value] of Object.entries(values)) {
    await writeFile(join(cwd, "thinkery.jsonc"), JSON.stringify({ [key]: value }));
    await expect(loadConfig(home, cwd)).rejects.toThrow(
      new RegExp(
        `thinkery\\.jsonc may not set “${key}”: a file in the working folder could .* Move it to .*config\\.jsonc`,
      ),
    );
  }
  await writeFile(join(cwd, "thinkery.jsonc"), JSON.stringify(allowed));
  expect((await loadConfig(home, cwd)).config).toMatchObject(allowed);
});

test("a working folder may lower the number of slots but not raise it", async () => {
  const load = async (homeText: string, slots: number) => {
    await writeFile(join(home, "config.jsonc"), homeText);
    await writeFile(join(cwd, "thinkery.jsonc"), JSON.stringify({ sandboxSlots: slots }));
    return (await loadConfig(home, cwd)).config.sandboxSlots;
  };
  expect(await load('{ "sandboxSlots": 4 }', 4)).toBe(4);
  expect(await load('{ "sandboxSlots": 4 }', 0)).toBe(0);
  await expect(load('{ "sandboxSlots": 4 }', 5)).rejects.toThrow(/may not set “sandboxSlots” to more than 4/);
  await expect(load("{}", 3)).rejects.toThrow(/may not set “sandboxSlots” to more than 2/);
});
