import http from "node:http";
import { join } from "node:path";
import { linuxLimitsSchema } from "@thinkery/sdk/internal";
import { expect, onTestFinished, test, vi } from "vitest";
import { openScriptFolders } from "../../scripts/folders.ts";
import { createTempFolder } from "../fixture.ts";
import { serveRoutes } from "../serve.ts";
import { createHostRoutes } from "../services.ts";
import { LinuxSandbox } from "./linux.ts";
import type { Exit, LinuxProvider, CommandSpec } from "./provider.ts";
import { createLinuxRoutes } from "./routes.ts";

/** A provider whose commands are controlled by the test. */
class FakeProvider implements LinuxProvider {
  readonly name = "fake";
  readonly specs: CommandSpec[] = [];
  readonly forgotten: string[] = [];
  killed = 0;
  exit: (exit: Exit) => void = () => {};
  fail: (error: Error) => void = () => {};

  async findIssue(): Promise<undefined> {}

  async start(spec: CommandSpec) {
    this.specs.push(spec);
    const exited = new Promise<Exit>((resolve, reject) => {
      this.exit = resolve;
      this.fail = reject;
    });
    const kill = () => {
      this.killed++;
      this.exit({ code: null });
    };
    return { exited, kill, measureUsage: () => undefined };
  }

  openStorage(): Promise<never> {
    return Promise.reject(new Error("no files"));
  }

  async hasStorage(): Promise<boolean> {
    return false;
  }

  async forget(agent: string): Promise<void> {
    this.forgotten.push(agent);
  }

  write(text: string): void {
    this.specs.at(-1)?.onOutput(Buffer.from(text));
  }
}

const agent = "global~alice";

async function openRoutes() {
  const provider = new FakeProvider();
  const sandbox = new LinuxSandbox({
    provider,
    limits: linuxLimitsSchema.parse({}),
    isDiskFull: async () => false,
  });
  onTestFinished(() => sandbox.close());
  const socketPath = join(createTempFolder(), "host.sock");
  const host = { status: () => ({}) as never, stop() {}, renewSlot: () => Promise.reject(new Error("no slots")) };
  const server = await serveRoutes(
    socketPath,
    createHostRoutes("key", host, openScriptFolders([]), createLinuxRoutes(sandbox)),
  );
  onTestFinished(server.close);

  function request(method: string, path: string, body?: unknown, key = "key") {
    const lines: any[] = [];
    const clientRequest = http.request({ socketPath, method, path, headers: { "x-thinkery-host-key": key } });
    const response = new Promise<{ status: number; lines: any[] }>((resolve, reject) => {
      clientRequest.on("error", reject);
      clientRequest.on("response", (response) => {
        let rest = "";
        response.on("data", (chunk: Buffer) => {
          const all = (rest + chunk).split("\n");
          rest = all.pop() ?? "";
          for (const line of all) lines.push(JSON.parse(line));
        });
        response.on("error", reject);
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, lines: rest ? [...lines, JSON.parse(rest)] : lines }),
        );
      });
    });
    response.catch(() => {});
    clientRequest.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
    return { lines, response, disconnect: () => clientRequest.destroy() };
  }

  const waitForStart = () => vi.waitUntil(() => provider.specs.length > 0, { timeout: 10_000, interval: 5 });
  return { provider, sandbox, request, waitForStart };
}

test("a command's output is streamed line by line while it runs", async () => {
  const { provider, request, waitForStart } = await openRoutes();
  const { lines, response } = request("POST", "/linux/run", { agent, command: "x", timeoutMs: 5000 });
  await waitForStart();
  expect(provider.specs[0]).toMatchObject({ agent, command: "x", limits: { memoryMb: 2048, network: false } });
  provider.write("one\n");
  await vi.waitUntil(() => lines.length === 1, { timeout: 10_000, interval: 5 });
  provider.write("two\n");
  provider.exit({ code: 0 });
  const { status, lines: all } = await response;
  expect(status).toBe(200);
  expect(all[0]).toEqual({ output: "one\n" });
  expect(all.at(-1)).toEqual({ result: { exitCode: 0, output: "one\ntwo\n", ms: expect.any(Number) } });
});

test("a command whose caller disconnected is stopped", async () => {
  const { provider, sandbox, request, waitForStart } = await openRoutes();
  const { disconnect } = request("POST", "/linux/run", { agent, command: "x" });
  await waitForStart();
  disconnect();
  await vi.waitUntil(() => provider.killed === 1, { timeout: 10_000, interval: 5 });
  expect(sandbox.list(agent)).toEqual([]);
});

test("an error before the first line is an error response; after it, the response is cut off", async () => {
  const { provider, request, waitForStart } = await openRoutes();
  const early = request("POST", "/linux/run", { agent, command: "x" });
  await waitForStart();
  provider.fail(new Error("secret"));
  expect(await early.response).toMatchObject({
    status: 500,
    lines: [{ error: { code: "internal", message: expect.not.stringContaining("secret") } }],
  });
  const late = request("POST", "/linux/run", { agent, command: "y" });
  await vi.waitUntil(() => provider.specs.length === 2, { timeout: 10_000, interval: 5 });
  provider.write("words");
  await vi.waitUntil(() => late.lines.length === 1, { timeout: 10_000, interval: 5 });
  provider.fail(new Error("secret"));
  await expect(late.response).rejects.toThrow();
});

test("processes are started, listed, read, stopped and forgotten", async () => {
  const { provider, request } = await openRoutes();
  const send = async (method: string, path: string, body?: unknown) =>
    (await request(method, path, body).response).lines[0];
  const started = await send("POST", "/linux/start", { agent, command: "serve" });
  expect(started).toMatchObject({ command: "serve", state: "running", outputBytes: 0 });
  provider.write("hello");
  const { id } = started;
  expect(await send("GET", `/linux/process?agent=${agent}&id=${id}&after=2`)).toMatchObject({
    output: "llo",
    outputBytes: 5,
  });
  expect(await send("GET", `/linux/processes?agent=${agent}`)).toMatchObject({ processes: [{ id }] });
  expect(await send("POST", `/linux/stop?agent=${agent}&id=${id}`)).toMatchObject({
    id,
    state: "exited",
    endedBy: "stop",
  });
  expect(await send("POST", `/linux/forget?agent=${agent}`)).toEqual({});
  expect(provider.forgotten).toEqual([agent]);
  expect(await send("GET", `/linux/process?agent=${agent}&id=${id}`)).toMatchObject({ error: { code: "not_found" } });
});

test("an agent is deleted only after its commands have ended, and none can start meanwhile", async () => {
  const { provider, sandbox, request, waitForStart } = await openRoutes();
  const { response } = request("POST", "/linux/run", { agent, command: "x" });
  await waitForStart();
  let forget = () => {};
  provider.forget = () => new Promise<void>((resolve) => (forget = resolve));
  const forgetting = sandbox.forget(agent);
  expect((await response).lines.at(-1)).toMatchObject({ result: { endedBy: "stop" } });
  await expect(sandbox.start({ agent, command: "y" })).rejects.toMatchObject({ code: "conflict" });
  forget();
  await forgetting;
  expect(await sandbox.start({ agent, command: "y" })).toMatchObject({ state: "running" });
});

test.each([
  ["invalid JSON", "{"],
  ["an empty body", ""],
  ["no command", { agent }],
  ["an empty command", { agent, command: "" }],
  ["a NUL", { agent, command: "a\0b" }],
  ["a command that is too long", { agent, command: "ü".repeat(60_000) }],
  ["no agent", { command: "x" }],
  ["an agent without an agency", { agent: "alice", command: "x" }],
  ["a path as an agent", { agent: "..~alice", command: "x" }],
  ["a reserved name", { agent: "global~think", command: "x" }],
  ["a timeout of 0", { agent, command: "x", timeoutMs: 0 }],
  ["an unknown field", { agent, command: "x", network: true }],
])("%s is refused", async (_, body) => {
  const { provider, request } = await openRoutes();
  for (const path of ["/linux/run", "/linux/start"]) {
    expect(await request("POST", path, body).response).toMatchObject({
      status: 400,
      lines: [{ error: { code: "bad_request" } }],
    });
  }
  expect(provider.specs).toEqual([]);
});

test.each([
  "GET /linux/processes",
  "GET /linux/processes?agent=x",
  `GET /linux/process?agent=${agent}`,
  `GET /linux/process?agent=${agent}&id=x&after=-1`,
  "POST /linux/forget?agent=../x~y",
])("%s is refused", async (line) => {
  const { provider, request } = await openRoutes();
  const [method = "", path = ""] = line.split(" ");
  expect((await request(method, path).response).status).toBe(400);
  expect(provider.forgotten).toEqual([]);
});

test("only main may use the routes", async () => {
  const { provider, request } = await openRoutes();
  expect((await request("POST", "/linux/run", { agent, command: "x" }, "other").response).status).toBe(403);
  expect((await request("POST", `/linux/forget?agent=${agent}`, undefined, "other").response).status).toBe(403);
  expect([provider.specs, provider.forgotten]).toEqual([[], []]);
});
