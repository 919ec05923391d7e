import http from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentContext, LifecycleContext } from "@thinkery/sdk/agent";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import {
  ask,
  captureFailure,
  deployAgent,
  describeCode,
  putSettings,
  readLog,
  readState,
  runTurn,
  startAgentHost,
  waitForLog,
} from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Versions of an agent's code: what runs when one takes over, and what stays.

let host: HostProcess;
let site: { origin: string; requests: string[]; stop(): void };

beforeAll(async () => {
  const requests: string[] = [];
  const server = http.createServer((request, response) => {
    requests.push(request.url ?? "");
    response.end("Noted.");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  site = { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, stop };
  host = await startAgentHost({ config: { toolOrigins: [site.origin] } });
  const rules = [{ tool: "fetch", match: `${site.origin}/*`, action: "allow" as const }];
  await host.client.call("putPolicy", { params: { agency: "global" }, body: { rules } });
});

afterAll(async () => {
  await host?.stop();
  site?.stop();
});

/** Logs its hooks, and counts everything in its state. */
const hooked = {
  state: { inits: 0, shutdowns: 0, messages: 0 },
  onInit(ctx: LifecycleContext) {
    ctx.log.info("init");
    ctx.setState({ inits: Number(ctx.state.inits) + 1 });
  },
  onShutdown(ctx: LifecycleContext) {
    ctx.log.info("shutdown");
    ctx.setState({ shutdowns: Number(ctx.state.shutdowns) + 1 });
  },
  async onMessage(_: object, ctx: AgentContext) {
    ctx.setState({ messages: Number(ctx.state.messages) + 1 });
    ctx.log.info("message");
    await ctx.send(`${ctx.state.messages}`);
  },
};

/** The same with a comment, which makes it another version. */
const deployHooked = (name: string, comment: string) =>
  deployAgent(host.client, name, {
    ...hooked,
    settings: { comment: { type: "text", default: comment }, kept: { type: "number", default: 1 } },
  });

/** Returns version and text of each line. */
const listLines = async (agent: string) =>
  (await readLog(host.client, agent)).map(({ version, text }) => `${version} ${text}`);

const rollBack = (name: string, version?: number) =>
  host.client.call("rollbackPackage", {
    params: { agency: "global", package: name },
    body: version === undefined ? {} : { version },
  });

test("onInit runs once for a version before its first message, and onShutdown before the next version's", async () => {
  const { client } = host;
  await deployHooked("hooked", "one");
  expect(await readLog(client, "hooked")).toEqual([]);
  // Nothing runs for a version that has never handled a message.
  await deployHooked("hooked", "two");
  await Promise.all([ask(client, "hooked"), ask(client, "hooked"), ask(client, "hooked")]);
  expect(await listLines("hooked")).toEqual(["2 init", "2 message", "2 message", "2 message"]);
  expect(await deployHooked("hooked", "two")).toMatchObject({ version: 2, isNew: false });
  expect(await deployHooked("hooked", "three")).toMatchObject({ version: 3, isNew: true });
  await waitForLog(client, "hooked", 6);
  await ask(client, "hooked");
  expect((await listLines("hooked")).slice(4)).toEqual(["2 shutdown", "3 init", "3 message"]);
  expect(await readState(client, "hooked")).toEqual({ inits: 2, shutdowns: 1, messages: 4 });
});

test("rolling back keeps state and settings; the next deploy has a number of its own", async () => {
  const { client } = host;
  for (const comment of ["one", "two", "three"]) await deployHooked("rolled", comment);
  await ask(client, "rolled");
  await putSettings(client, "rolled", { kept: 7 });
  const rolled = await rollBack("rolled");
  expect(rolled).toMatchObject({ version: 2, settings: { comment: { default: "two" } } });
  expect(rolled.versions.map(({ version, isCurrent }) => [version, isCurrent])).toEqual([
    [3, false],
    [2, true],
    [1, false],
  ]);
  await waitForLog(client, "rolled", 4);
  expect(await ask(client, "rolled")).toBe("2");
  expect(await rollBack("rolled", 1)).toMatchObject({ version: 1 });
  await expect(rollBack("rolled")).rejects.toThrow("“rolled” has no version before 1.");
  await expect(rollBack("rolled", 9)).rejects.toThrow("“rolled” has no version 9. Stored: 3, 2, 1.");
  expect(await ask(client, "rolled")).toBe("3");
  expect(await listLines("rolled")).toEqual([
    "3 init",
    "3 message",
    "3 shutdown",
    "2 init",
    "2 message",
    "2 shutdown",
    "1 init",
    "1 message",
  ]);
  expect(await readState(client, "rolled")).toEqual({ inits: 3, shutdowns: 2, messages: 3 });
  const params = { agency: "global", agent: "rolled" };
  expect(await client.call("getSettings", { params })).toMatchObject({
    settings: { comment: "one", kept: 7 },
    set: { kept: 7 },
  });
  expect(await rollBack("rolled", 3)).toMatchObject({ version: 3 });
  expect(await deployHooked("rolled", "two")).toMatchObject({ version: 4, isNew: true });
});

test("onShutdown runs before an agent is deleted, and can still reach what it was granted", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "leaving",
    {
      settings: { url: { type: "text", default: `${site.origin}/left` } },
      onMessage: (_, ctx) => ctx.send("Here."),
      async onShutdown(ctx) {
        await ctx.fetch(`${ctx.settings.url}?by=${ctx.agent}`);
      },
    },
    { capabilities: ["fetch"] },
  );
  await ask(client, "leaving");
  await client.agent("leaving").delete();
  await waitUntil("the request", () => site.requests.includes("/left?by=global~leaving"));
  expect(site.requests).toEqual(["/left?by=global~leaving"]);
  // Another agent of that name begins anew.
  await client.call("createAgent", { params: { agency: "global" }, body: { name: "leaving", blueprint: "leaving" } });
  expect(await ask(client, "leaving")).toBe("Here.");
  expect(await readLog(client, "leaving")).toEqual([]);
});

test("events tell what changed, how each turn ended, and that the conversation was cleared", async () => {
  const { client } = host;
  await deployAgent(client, "listener", {
    settings: { level: { type: "number", default: 1 } },
    async onMessage({ content }, ctx) {
      if (content === "fail") throw new Error("Oh.");
      if (content === "wait") {
        ctx.log.info("waiting");
        await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      }
    },
    onEvent(event, ctx) {
      ctx.setState({ [`event${Object.keys(ctx.state).length}`]: event.type });
      ctx.log.warn(JSON.stringify(event), ctx.settings.level);
    },
  });
  const listEvents = async () => (await readLog(client, "listener", { level: "warn" })).map(({ text }) => text);
  const waitForEvent = (text: string, count: number) =>
    waitUntil(text, async () => {
      const events = await listEvents();
      return events.length >= count && events;
    });
  await ask(client, "listener");
  await waitForEvent("the end", 1);
  await putSettings(client, "listener", { level: 3 });
  await waitForEvent("the settings", 2);
  await captureFailure(client, "listener", "fail");
  await waitForEvent("the failure", 3);
  const turn = await client.agent("listener").send("wait");
  await waitUntil("it to wait", async () => (await readLog(client, "listener")).some(({ text }) => text === "waiting"));
  await turn.cancel();
  await waitForEvent("the cancellation", 4);
  await client.call("clearMessages", { params: { agency: "global", agent: "listener" } });
  const events = await waitForEvent("the clearing", 5);
  expect(events.map((text) => text.replace(/\\n.*?"/, '"'))).toEqual([
    '{"type":"turn.ended","outcome":"completed"} 1',
    '{"type":"settings.changed","previous":{"level":1}} 3',
    '{"type":"turn.ended","outcome":"failed","error":"Oh."} 3',
    '{"type":"turn.ended","outcome":"canceled"} 3',
    '{"type":"conversation.cleared"} 3',
  ]);
  expect(Object.values((await readState(client, "listener")) as object)).toEqual([
    "turn.ended",
    "settings.changed",
    "turn.ended",
    "turn.ended",
    "conversation.cleared",
  ]);
});

test("a hook that throws is in the log; only onInit keeps messages from being handled", async () => {
  const { client } = host;
  const deployThrowing = (hook?: "onInit" | "onShutdown" | "onEvent") =>
    deployAgent(
      client,
      "throwing",
      `export default defineAgent({
        onMessage: (_, ctx) => ctx.send("Handled."),
        ${hook ? `${hook}() { throw new RangeError("No ${hook}."); },` : ""}
      });`,
    );
  await deployThrowing("onInit");
  for (let index = 0; index < 2; index++) {
    const failure = await captureFailure(client, "throwing");
    expect(failure).toMatchObject({ code: "code_failed", message: expect.stringMatching(/^RangeError: No onInit\./) });
  }
  expect((await listLines("throwing")).map((line) => line.split("\n")[0])).toEqual(
    Array(2).fill("1 init: RangeError: No onInit."),
  );
  await deployThrowing("onShutdown");
  expect(await ask(client, "throwing")).toBe("Handled.");
  await deployThrowing("onEvent");
  expect(await ask(client, "throwing")).toBe("Handled.");
  const lines = await waitUntil("the event", async () => {
    const found = (await listLines("throwing")).map((line) => line.split("\n")[0]);
    return found.length >= 4 && found.slice(2);
  });
  expect(lines).toEqual(["2 shutdown: RangeError: No onShutdown.", "3 event: RangeError: No onEvent."]);
  expect((await describeCode(client, "throwing")).lastError).toMatchObject({
    message: expect.stringContaining("event: RangeError: No onEvent."),
    version: 3,
  });
  await deployThrowing();
  expect(await ask(client, "throwing")).toBe("Handled.");
});

test("a version that is deployed in the middle of a turn takes over after it", async () => {
  const { client } = host;
  const deploy = (text: string) =>
    deployAgent(
      client,
      "replaced",
      `export default defineAgent({
        async onMessage({ content }, ctx) {
          ctx.log.info("began");
          while (content === "wait" && !(await ctx.fs.exists("go"))) await new Promise((resolve) => setTimeout(resolve, 10));
          ctx.log.info("ends");
          await ctx.send("${text}");
        },
        onInit: (ctx) => ctx.log.info("init"),
        onShutdown: (ctx) => ctx.log.info("shutdown"),
      });`,
      { capabilities: ["fs"] },
    );
  await deploy("old");
  const agent = client.agent("replaced");
  const turn = await agent.send("wait");
  await waitForLog(client, "replaced", 2);
  const queued = await agent.send("next");
  await deploy("new");
  await deploy("newest");
  await agent.putFile("go", "");
  expect((await turn.outcome()).content).toBe("old");
  expect((await queued.outcome()).content).toBe("newest");
  const lines = ["1 init", "1 began", "1 ends", "1 shutdown", "3 init", "3 began", "3 ends"];
  expect(await listLines("replaced")).toEqual(lines);
});

test("a blueprint can keep its agents at one version", async () => {
  const { client } = host;
  const params = { agency: "global" };
  await deployHooked("moving", "one");
  const config = { isolate: { package: "moving", version: 1 } };
  await client.call("putBlueprint", { params, body: { name: "still", driver: "isolate", config } });
  await client.call("createAgent", { params, body: { name: "still", blueprint: "still" } });
  await ask(client, "still");
  await deployHooked("moving", "two");
  expect(await describeCode(client, "still")).toMatchObject({ package: "moving", version: 1, pinned: true });
  expect(await describeCode(client, "moving")).toMatchObject({ version: 2, pinned: false });
  expect(await ask(client, "still")).toBe("2");
  expect(await listLines("still")).toEqual(["1 init", "1 message", "1 message"]);
  const { message } = await client.call("deletePackage", { params: { ...params, package: "moving" } }).then(
    () => ({ message: "deleted" }),
    (error: Error) => error,
  );
  expect(message).toBe("“moving” is used by moving, still. Delete these agents first.");
  expect((await runTurn(client, "moving", "x")).status).toBe("completed");
});
