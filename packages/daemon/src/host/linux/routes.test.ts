import http from "node:http";
import { join } from "node:path";
import { linuxLimitsSchema } from "@thinkery/sdk/internal";
import { expect, onTestFinished, test, vi } from "vitest";
import { openScriptFolders } from "../../scripts/folders.ts";
import { createTempFolder } from "../fixture.ts";
import { serveRoutes } from "../serve.ts";
import { createHostRoutes } from "../services.ts";
import { LinuxSandbox } from "./linux.ts";
import type { Exit, LinuxProvider, CommandOrder } from "./provider.ts";
import { createLinuxRoutes } from "./routes.ts";

/** A provider whose commands do what the test says. */
class FakeProvider implements LinuxProvider {
  readonly name = "stage";
  readonly orders: CommandOrder[] = [];
  readonly forgotten: string[] = [];
  killed = 0;
  exit: (exit: Exit) => void = () => {};
  fail: (error: Error) => void = () => {};

  async findProblem(): Promise<undefined> {}

  async start(order: CommandOrder) {
    this.orders.push(order);
    const exited = new Promise<Exit>((resolve, reject) => {
      this.exit = resolve;
      this.fail = reject;
    });
    const kill = () => {
      this.killed++;
      this.exit({ code: null });
    };
    return { exited, kill };
  }

  openPlace(): Promise<never> {
    return Promise.reject(new Error("no files"));
  }

  async hasPlace(): Promise<boolean> {
    return false;
  }

  async forget(agent: string): Promise<void> {
    this.forgotten.push(agent);
  }

  write(text: string): void {
    this.orders.at(-1)?.onOutput(Buffer.from(text));
  }
}

const agent = "global~alice";

async function openRoutes() {
  const stage = new FakeProvider();
  const sandbox = new LinuxSandbox({
    provider: stage,
    limits: linuxLimitsSchema.parse({}),
    isDiskFull: async () => false,
  });
  onTestFinished(() => sandbox.close());
  const socketPath = join(createTempFolder(), "host.sock");
  const host = { status: () => ({}) as never, stop() {}, renewSlot: () => Promise.reject(new Error("no slots")) };
  const served = await serveRoutes(
    socketPath,
    createHostRoutes("key", host, openScriptFolders([]), createLinuxRoutes(sandbox)),
  );
  onTestFinished(served.close);

  function request(method: string, path: string, body?: unknown, key = "key") {
    const lines: any[] = [];
    const sent = http.request({ socketPath, method, path, headers: { "x-thinkery-host-key": key } });
    const answer = new Promise<{ status: number; lines: any[] }>((resolve, reject) => {
      sent.on("error", reject);
      sent.on("response", (response) => {
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
    answer.catch(() => {});
    sent.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
    return { lines, answer, leave: () => sent.destroy() };
  }

  const begun = () => vi.waitUntil(() => stage.orders.length > 0, { timeout: 10_000, interval: 5 });
  return { stage, sandbox, request, begun };
}

test("a command is told line by line, while it runs", async () => {
  const { stage, request, begun } = await openRoutes();
  const { lines, answer } = request("POST", "/linux/run", { agent, command: "x", timeoutMs: 5000 });
  await begun();
  expect(stage.orders[0]).toMatchObject({ agent, command: "x", limits: { memoryMb: 2048, network: false } });
  stage.write("one\n");
  await vi.waitUntil(() => lines.length === 1, { timeout: 10_000, interval: 5 });
  stage.write("two\n");
  stage.exit({ code: 0 });
  const { status, lines: all } = await answer;
  expect(status).toBe(200);
  expect(all[0]).toEqual({ output: "one\n" });
  expect(all.at(-1)).toEqual({ result: { exitCode: 0, output: "one\ntwo\n", ms: expect.any(Number) } });
});

test("a command whose caller has hung up is ended", async () => {
  const { stage, sandbox, request, begun } = await openRoutes();
  const { leave } = request("POST", "/linux/run", { agent, command: "x" });
  await begun();
  leave();
  await vi.waitUntil(() => stage.killed === 1, { timeout: 10_000, interval: 5 });
  expect(sandbox.list(agent)).toEqual([]);
});

test("what goes wrong before the first line is an answer; after it, the answer is cut off", async () => {
  const { stage, request, begun } = await openRoutes();
  const early = request("POST", "/linux/run", { agent, command: "x" });
  await begun();
  stage.fail(new Error("secret"));
  expect(await early.answer).toMatchObject({
    status: 500,
    lines: [{ error: { code: "internal", message: expect.not.stringContaining("secret") } }],
  });
  const late = request("POST", "/linux/run", { agent, command: "y" });
  await vi.waitUntil(() => stage.orders.length === 2, { timeout: 10_000, interval: 5 });
  stage.write("words");
  await vi.waitUntil(() => late.lines.length === 1, { timeout: 10_000, interval: 5 });
  stage.fail(new Error("secret"));
  await expect(late.answer).rejects.toThrow();
});

test("processes are started, listed, read on, stopped and forgotten", async () => {
  const { stage, request } = await openRoutes();
  const ask = async (method: string, path: string, body?: unknown) =>
    (await request(method, path, body).answer).lines[0];
  const started = await ask("POST", "/linux/start", { agent, command: "serve" });
  expect(started).toMatchObject({ command: "serve", state: "running", outputBytes: 0 });
  stage.write("hello");
  const { id } = started;
  expect(await ask("GET", `/linux/process?agent=${agent}&id=${id}&after=2`)).toMatchObject({
    output: "llo",
    outputBytes: 5,
  });
  expect(await ask("GET", `/linux/processes?agent=${agent}`)).toMatchObject({ processes: [{ id }] });
  expect(await ask("POST", `/linux/stop?agent=${agent}&id=${id}`)).toMatchObject({
    id,
    state: "exited",
    endedBy: "stop",
  });
  expect(await ask("POST", `/linux/forget?agent=${agent}`)).toEqual({});
  expect(stage.forgotten).toEqual([agent]);
  expect(await ask("GET", `/linux/process?agent=${agent}&id=${id}`)).toMatchObject({ error: { code: "not_found" } });
});

test("an agent is deleted only when nothing of it runs any more, and nothing of it starts meanwhile", async () => {
  const { stage, sandbox, request, begun } = await openRoutes();
  const { answer } = request("POST", "/linux/run", { agent, command: "x" });
  await begun();
  let forget = () => {};
  stage.forget = () => new Promise<void>((resolve) => (forget = resolve));
  const forgetting = sandbox.forget(agent);
  expect((await answer).lines.at(-1)).toMatchObject({ result: { endedBy: "stop" } });
  await expect(sandbox.start({ agent, command: "y" })).rejects.toMatchObject({ code: "conflict" });
  forget();
  await forgetting;
  expect(await sandbox.start({ agent, command: "y" })).toMatchObject({ state: "running" });
});

test.each([
  ["no JSON", "{"],
  ["nothing", ""],
  ["no command", { agent }],
  ["an empty command", { agent, command: "" }],
  ["a NUL", { agent, command: "a\0b" }],
  ["too long a command", { agent, command: "ü".repeat(60_000) }],
  ["no agent", { command: "x" }],
  ["half an agent", { agent: "alice", command: "x" }],
  ["a path as an agent", { agent: "..~alice", command: "x" }],
  ["a reserved name", { agent: "global~think", command: "x" }],
  ["no time", { agent, command: "x", timeoutMs: 0 }],
  ["more than there is", { agent, command: "x", network: true }],
])("%s is refused", async (_, body) => {
  const { stage, request } = await openRoutes();
  for (const path of ["/linux/run", "/linux/start"]) {
    expect(await request("POST", path, body).answer).toMatchObject({
      status: 400,
      lines: [{ error: { code: "bad_request" } }],
    });
  }
  expect(stage.orders).toEqual([]);
});

test.each([
  "GET /linux/processes",
  "GET /linux/processes?agent=x",
  `GET /linux/process?agent=${agent}`,
  `GET /linux/process?agent=${agent}&id=x&after=-1`,
  "POST /linux/forget?agent=../x~y",
])("%s is refused", async (question) => {
  const { stage, request } = await openRoutes();
  const [method = "", path = ""] = question.split(" ");
  expect((await request(method, path).answer).status).toBe(400);
  expect(stage.forgotten).toEqual([]);
});

test("only main may ask", async () => {
  const { stage, request } = await openRoutes();
  expect((await request("POST", "/linux/run", { agent, command: "x" }, "other").answer).status).toBe(403);
  expect((await request("POST", `/linux/forget?agent=${agent}`, undefined, "other").answer).status).toBe(403);
  expect([stage.orders, stage.forgotten]).toEqual([[], []]);
});
