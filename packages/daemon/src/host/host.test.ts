import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  linuxLimitsSchema,
  sandboxLimitsSchema,
  subagentLimitsSchema,
  turnLimitsSchema,
  workspaceLimitsSchema,
} from "@thinkery/sdk/internal";
import { expect, onTestFinished, test, vi } from "vitest";
import { isAlive } from "../../../../tests/kit/processes.ts";
import type { Home } from "../home/home.ts";
import { findHost, readDaemonFile, stopHost } from "./discovery.ts";
import { bundleProgram, createTempHome, createTinyParts, findWorkerds } from "./fixture.ts";
import { type HostOptions, runHost } from "./host.ts";
import { takeLock } from "./lock.ts";

const quick = { backoffMs: 5, pingMs: 50 };

function createOptions(home: Home, overrides: Partial<HostOptions> = {}): HostOptions {
  const lists = {
    allowedHosts: ["my.example"],
    allowedOrigins: ["https://my.example"],
    toolOrigins: [],
    providers: ["openai"],
    scriptFolders: [],
  };
  const models = {
    models: { providers: {}, prices: {} },
    modelVariables: { variables: {}, secrets: [] },
    turn: turnLimitsSchema.parse({}),
    policy: [],
    subagents: subagentLimitsSchema.parse({}),
    sandbox: sandboxLimitsSchema.parse({}),
    linux: linuxLimitsSchema.parse({}),
    workspace: workspaceLimitsSchema.parse({}),
  };
  return {
    home,
    host: "127.0.0.1",
    port: 0,
    isPortFixed: false,
    slots: 1,
    agentSlots: 0,
    parts: createTinyParts(),
    limits: quick,
    ...lists,
    ...models,
    ...overrides,
  };
}

async function startTestHost(overrides: Partial<HostOptions> = {}) {
  const home = overrides.home ?? (await createTempHome());
  const host = await runHost(createOptions(home, overrides));
  onTestFinished(() => host.stop());
  const get = async (path: string) => (await fetch(host.url + path)).json() as Promise<any>;
  return { home, host, get };
}

async function takePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as { port: number }).port;
}

const readMode = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("a host responds, passes main its bindings, can be found, and cleans up when it stops", async () => {
  const { home, host, get } = await startTestHost();
  expect(await get("/health")).toEqual({ status: "ok" });
  expect(await get("/bindings")).toEqual({
    VERSION: "0.0.0+test",
    ADMIN_TOKEN_HASH: createHash("sha256").update(host.token).digest("hex"),
    COOKIE_NAME: `thinkery-${host.port}`,
    STARTED_AT: expect.stringMatching(/^\d{4}-.*Z$/),
    ALLOWED_HOSTS: ["127.0.0.1", "localhost", "[::1]", "my.example"],
    ALLOWED_ORIGINS: ["https://my.example"],
    PROVIDERS: ["openai"],
    SIGNING_KEY: readFileSync(home.signingKeyFile, "utf8").trim(),
  });
  const found = await findHost(home);
  expect(found).toMatchObject({ pid: process.pid, url: host.url, version: "0.0.0+test" });
  expect(await readDaemonFile(home)).toMatchObject({ pid: process.pid, port: host.port });
  expect(statSync(join(home.run, "main.capnp")).mode & 0o777).toBe(0o600);
  await vi.waitUntil(async () => (await get("/host/status")).slots[0].state === "ready", {
    timeout: 20_000,
    interval: 10,
  });
  expect(await (await fetch(`${host.url}/sandbox`)).text()).toBe("alive");
  const sockets = readdirSync(home.run).filter((name) => name.endsWith(".sock"));
  expect(Object.fromEntries(sockets.map((name) => [name, readMode(join(home.run, name))]))).toEqual({
    "control.sock": "600",
    "host.sock": "600",
    "main.sock": "600",
    "sandbox-0.sock": "600",
  });
  expect(readMode(home.run)).toBe("700");

  await host.stop();
  expect(await host.stopped).toEqual({ reason: "requested" });
  expect(existsSync(home.daemonFile)).toBe(false);
  expect(existsSync(join(home.run, "control.sock"))).toBe(false);
  await expect(get("/health")).rejects.toThrow();
  const lock = await takeLock(home);
  expect(lock).toBeDefined();
  await lock?.release();
});

test("the log never contains the token", async () => {
  const { home, host } = await startTestHost();
  const log = readFileSync(join(home.logs, "thinkery.log"), "utf8");
  expect(log).toContain(host.url);
  expect(log).not.toContain(host.token);
});

test("API keys reach main but neither its configuration nor the log", async () => {
  const modelVariables = {
    variables: { OPENAI_API_KEY: "sk-very-secret", GROQ_API_KEY: "gsk-secret" },
    secrets: ["sk-very-secret", "gsk-secret"],
  };
  const { home, get } = await startTestHost({
    modelVariables,
    models: { model: "openai:x", providers: {}, prices: {} },
  });
  expect(await get("/models")).toMatchObject({
    MODEL_CONFIG: { model: "openai:x", providers: {}, prices: {} },
    TURN_LIMITS: {
      noProgressSeconds: 600,
      maxAttempts: 3,
      maxCrashes: 2,
      heartbeatSeconds: 3,
      toolTimeoutSeconds: 120,
      maxSteps: 64,
    },
    SANDBOX_LIMITS: { timeoutSeconds: 30, stallTimeoutSeconds: 20, memoryMb: 128, maxRunsPerSlot: 250 },
    LINUX_LIMITS: { timeoutSeconds: 60, maxProcesses: 8, network: false },
    OPENAI_API_KEY: "sk-very-secret",
    GROQ_API_KEY: "gsk-secret",
    LLM_API_KEY: null,
  });
  await get("/say");
  const log = () => readFileSync(join(home.logs, "thinkery.log"), "utf8");
  await vi.waitUntil(() => log().includes("the key is"), { timeout: 20_000, interval: 10 });
  expect(log()).not.toContain("secret");
  expect(readFileSync(join(home.run, "main.capnp"), "utf8")).not.toContain("secret");
});

test("only the MODELS binding reaches this machine", async () => {
  const { host, get } = await startTestHost();
  const { models, others } = await get(`/reach?to=${encodeURIComponent(`${host.url}/health`)}`);
  expect(JSON.parse(models)).toEqual({ status: "ok" });
  expect(others).toBe("refused");
});

test("main can read the machine's scripts and gets an error for an invalid one", async () => {
  const home = await createTempHome();
  const folder = join(home.path, "scripts");
  mkdirSync(folder);
  writeFileSync(join(folder, "good.yaml"), "- text: hello\n");
  writeFileSync(join(folder, "bad.yaml"), "- text: [\n");
  const { get } = await startTestHost({ home, scriptFolders: [folder] });
  expect(await get("/host/scripts")).toEqual({ scripts: ["bad", "good"] });
  expect(await get("/host/script?name=good")).toMatchObject({
    name: "good",
    file: "scripts/good.yaml",
    script: { pace: 0 },
  });
  expect(await get("/host/script?name=bad")).toMatchObject({
    error: { code: "bad_request", message: expect.stringContaining("scripts/bad.yaml, line 2") },
  });
  expect(await get("/host/script?name=nobody")).toMatchObject({ error: { code: "not_found" } });
  expect(await get("/host/script?name=..%2Fgood")).toMatchObject({ error: { code: "bad_request" } });
});

test("each start of main has its own boot id and records how the previous one ended", async () => {
  const home = await createTempHome();
  const { host, get } = await startTestHost({ home });
  const boot = async () => (await get("/models")).BOOT;
  const first = await boot();
  expect(first).toEqual({ id: expect.any(String), after: "stop" });
  killMain(home);
  await vi.waitUntil(
    () =>
      boot().then(
        ({ id }) => id !== first.id,
        () => false,
      ),
    { timeout: 20_000, interval: 10 },
  );
  expect(await boot()).toMatchObject({ after: "crash" });
  await host.stop();
  const again = await startTestHost({ home });
  expect((await again.get("/models")).BOOT).toMatchObject({ after: "stop" });
});

test("a second host in the same home is refused and the first keeps running", async () => {
  const { home, host, get } = await startTestHost();
  await expect(runHost(createOptions(home))).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining(host.url),
  });
  expect(await get("/health")).toEqual({ status: "ok" });
  expect(await findHost(home)).toMatchObject({ url: host.url });
});

test("main can shut down the host, which finishes running work first", async () => {
  const { host, get } = await startTestHost();
  const slow = fetch(`${host.url}/slow`).then((response) => response.text());
  expect(await get("/host/shutdown")).toEqual({ status: "stopping" });
  expect(await slow).toBe("done");
  expect(await host.stopped).toEqual({ reason: "requested" });
});

test("a port in use is an error if it is fixed, otherwise the next free one is used", async () => {
  const port = await takePort();
  const home = await createTempHome();
  await expect(runHost(createOptions(home, { port, isPortFixed: true }))).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining(`Port ${port} is already in use`),
  });
  expect(existsSync(home.daemonFile)).toBe(false);
  const { host } = await startTestHost({ home, port });
  expect(host.port).toBeGreaterThan(port);
  expect(await readDaemonFile(home)).toMatchObject({ port: host.port });
});

test("two homes that start with the same port at the same time both start", async () => {
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address() as { port: number };
  await new Promise((resolve) => free.close(resolve));
  const both = await Promise.all([startTestHost({ port }), startTestHost({ port })]);
  expect(new Set(both.map(({ host }) => host.port)).size).toBe(2);
  for (const { host, get } of both) expect((await get("/bindings")).COOKIE_NAME).toBe(`thinkery-${host.port}`);
});

test("the host does not listen for other machines without an explicitly set token", async () => {
  const home = await createTempHome();
  for (const adminToken of [undefined, "short-but-sixteen-characters"]) {
    const overrides = { host: "0.0.0.0", ...(adminToken ? { adminToken } : {}) };
    await expect(runHost(createOptions(home, overrides))).rejects.toMatchObject({ code: "bad_request" });
  }
  await expect(runHost(createOptions(home, { host: "example.org" }))).rejects.toMatchObject({ code: "bad_request" });
  const { host } = await startTestHost({ home, host: "0.0.0.0", adminToken: "x".repeat(32) });
  expect(host.url).toBe(`http://127.0.0.1:${host.port}`);
  expect(host.token).toBe("x".repeat(32));
});

test("a killed main is restarted on the same port and counted", async () => {
  const { get, home } = await startTestHost();
  killMain(home);
  await vi.waitUntil(
    () =>
      get("/host/status").then(
        (status) => status.main.restarts === 1,
        () => false,
      ),
    { timeout: 20_000, interval: 10 },
  );
});

test("main can renew a slot; a restarted main finds new processes in all slots, without messages to the user", async () => {
  const lines: string[] = [];
  const { get, home } = await startTestHost({ slots: 2, onLine: (line) => lines.push(line) });
  const generations = () =>
    Promise.all([0, 1].map(async (index) => (await get(`/host/renew?index=${index}&generation=-1`)).generation));
  expect(await generations()).toEqual([1, 1]);
  expect(await get("/host/renew?index=0&generation=1")).toEqual({ generation: 2, ended: "asked" });
  expect(await get("/host/renew?index=2&generation=1")).toMatchObject({ error: { code: "not_found" } });
  const before = (await get("/host/status")).slots.map(({ pid }: { pid: number }) => pid);
  killMain(home);
  await vi.waitUntil(
    () =>
      get("/host/status").then(
        (status) => status.main.restarts === 1,
        () => false,
      ),
    { timeout: 20_000, interval: 10 },
  );
  // When the new main responds, the processes used by the old one are gone.
  expect(before.filter(isAlive)).toEqual([]);
  expect(await generations()).toEqual([3, 2]);
  expect(lines).toEqual([expect.stringContaining("main was killed by SIGKILL")]);
  const log = readFileSync(join(home.logs, "thinkery.log"), "utf8");
  expect(log).toMatch(/ daemon Sandboxes run (under|without)/);
});

test.runIf(process.platform === "linux")("a slot holds the home's lock, even when isolated", async () => {
  const { get } = await startTestHost();
  await get("/host/renew?index=0&generation=-1");
  const { main, slots } = await get("/host/status");
  const readLock = (pid: number) => readlinkSync(`/proc/${pid}/fd/3`);
  expect(readLock(slots[0].pid)).toMatch(/^socket:/);
  expect(readLock(slots[0].pid)).toBe(readLock(main.pid));
});

test("if main keeps failing, the host stops and reports why", async () => {
  const { home, host } = await startTestHost({ limits: { ...quick, failures: 1 } });
  killMain(home);
  expect(await host.stopped).toEqual({
    reason: "failed",
    message: expect.stringContaining("main was killed by SIGKILL"),
  });
  expect(existsSync(home.daemonFile)).toBe(false);
});

test("if main cannot start, the error shows its last output and the log file", async () => {
  const home = await createTempHome();
  const parts = createTinyParts();
  const broken = { ...parts, main: parts.main.map(({ name }) => ({ name, path: "/nowhere/main.js" })) };
  await expect(
    runHost(createOptions(home, { parts: broken, limits: { ...quick, failures: 2 } })),
  ).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/nowhere.*thinkery\.log/),
  });
  const lock = await takeLock(home);
  expect(lock).toBeDefined();
  await lock?.release();
});

function killMain(home: Home): void {
  const main = findWorkerds(process.pid).find(({ config }) => config === join(home.run, "main.capnp"));
  if (!main) throw new Error("main is not running");
  process.kill(main.pid, "SIGKILL");
}

// Starts a host in a separate process, as the CLI does.
async function startSeparateHost(home: Home): Promise<{ pid: number; exited: Promise<unknown> }> {
  const file = await bundleProgram(`
    import { runHost, stopOnSignals } from "./host.ts";
    const host = await runHost(${JSON.stringify(createOptions(home))});
    stopOnSignals(host);
    console.log("ready");
  `);
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  await once(createInterface(child.stdout), "line");
  return { pid: child.pid as number, exited };
}

test("a killed host leaves no processes, and the next one starts at once", async () => {
  const home = await createTempHome();
  const { pid, exited } = await startSeparateHost(home);
  const workerds = findWorkerds(pid).map((workerd) => workerd.pid);
  expect(workerds.length).toBeGreaterThan(0);
  process.kill(pid, "SIGKILL");
  await exited;
  const { host, get } = await startTestHost({ home });
  expect(await readDaemonFile(home)).toMatchObject({ pid: process.pid, port: host.port });
  expect((await get("/models")).BOOT).toMatchObject({ after: "crash" });
  expect(workerds.filter(isAlive)).toEqual([]);
});

test("a signal or the stop command stops a host cleanly", async () => {
  for (const stop of [(pid: number) => process.kill(pid, "SIGINT"), (_: number, home: Home) => stopHost(home)]) {
    const home = await createTempHome();
    const { pid, exited } = await startSeparateHost(home);
    await stop(pid, home);
    expect(await exited).toEqual([0, null]);
    expect(existsSync(home.daemonFile)).toBe(false);
  }
});
