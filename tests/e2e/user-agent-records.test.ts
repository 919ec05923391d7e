import type { AgentContext } from "@thinkery/sdk/agent";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import {
  ask,
  captureFailure,
  deployAgent,
  describeCode,
  listMessages,
  putSettings,
  readLog,
  sdkImport,
  startAgentHost,
  waitForLog,
} from "../kit/user-agent.ts";

// What people read and set of an agent's code from outside: settings, figures, logs, errors and the export.

const secret = "plain-openai-key-4f9a2b7c1d";

let host: HostProcess;

beforeAll(async () => {
  host = await startAgentHost({ env: { OPENAI_API_KEY: secret } });
});

afterAll(() => host?.stop());

const getSettings = (agent: string) => host.client.call("getSettings", { params: { agency: "global", agent } });

test("settings of the manifest and of the code are one schema, with a warning where both declare one", async () => {
  const { client } = host;
  const { settings, warnings } = await deployAgent(
    client,
    "merged",
    {
      settings: { tone: { type: "select", options: ["dry", { value: "warm", label: "Warm" }], default: "warm" } },
      onMessage: (_, ctx) => ctx.send(JSON.stringify(ctx.settings)),
    },
    { settings: { tone: { type: "text", default: "old" }, size: { type: "number", min: 1, default: 2 } } },
  );
  expect(settings.toSorted()).toEqual(["size", "tone"]);
  expect(warnings).toEqual(["Both package.json and the code declare tone; the code's declaration counts."]);
  expect(await getSettings("merged")).toMatchObject({
    settings: { tone: "warm", size: 2 },
    set: {},
    schema: { tone: { type: "select" }, size: { type: "number", min: 1 } },
  });
  expect(JSON.parse(await ask(client, "merged"))).toEqual({ tone: "warm", size: 2 });
  // A value that a new version does not allow is replaced by its default, until the old one is back.
  await putSettings(client, "merged", { tone: "dry" });
  await deployAgent(client, "merged", {
    settings: { tone: { type: "select", options: ["warm"], default: "warm" } },
    onMessage: (_, ctx) => ctx.send(JSON.stringify(ctx.settings)),
  });
  expect(JSON.parse(await ask(client, "merged"))).toEqual({ tone: "warm" });
  await client.call("rollbackPackage", { params: { agency: "global", package: "merged" }, body: {} });
  expect(JSON.parse(await ask(client, "merged"))).toEqual({ tone: "dry", size: 2 });
});

test("values that a setting does not allow are refused with their path, and nothing is set", async () => {
  const { client } = host;
  await deployAgent(client, "settled", {
    settings: {
      count: { type: "number", min: 1, max: 9, step: 2, default: 1 },
      name: { type: "text", maxLength: 3, default: "abc" },
      on: { type: "toggle", default: true },
      unit: { type: "select", options: ["m", "km"], default: "m" },
    },
    onMessage() {},
  });
  for (const [values, issues] of [
    [{ count: 0 }, { count: "expected at least 1, not 0" }],
    [{ count: 10 }, { count: "expected at most 9, not 10" }],
    [{ count: 2 }, { count: "expected a multiple of 2" }],
    [{ count: "3" }, { count: "expected a number" }],
    [{ name: "abcd" }, { name: "expected at most 3 characters, not 4" }],
    [{ on: 1 }, { on: "expected true or false" }],
    [
      { count: 3, unit: "mm", nmae: "x" },
      { unit: "expected one of m, km", nmae: "unknown setting; there are count, name, on, unit" },
    ],
  ] as const)
    await expect(putSettings(client, "settled", values)).rejects.toMatchObject({
      code: "bad_request",
      message: Object.entries(issues)
        .map(([name, message]) => `${name}: ${message}`)
        .join("; "),
      details: { issues: Object.entries(issues).map(([name, message]) => ({ path: ["settings", name], message })) },
    });
  expect((await getSettings("settled")).set).toEqual({});
  expect(await putSettings(client, "settled", { count: 9, name: "" })).toMatchObject({
    settings: { count: 9, name: "", on: true, unit: "m" },
    set: { count: 9, name: "" },
  });
  expect((await putSettings(client, "settled", { count: null })).settings).toMatchObject({ count: 1, name: "" });
  // An agent without code has none.
  await client.call("createAgent", { params: { agency: "global" }, body: { name: "plain" } });
  expect(await getSettings("plain")).toEqual({ settings: {}, set: {}, schema: {} });
  await expect(putSettings(client, "plain", { count: 1 })).rejects.toThrow("unknown setting; the agent has none");
  await expect(describeCode(client, "plain")).rejects.toThrow("This agent has no code of its own");
});

test("the figures of an agent's code count what it has handled and called, and its last error", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "figured",
    {
      batch: true,
      tools: { look: { description: "Looks.", execute: () => 1 } },
      async onMessage({ content }, ctx: AgentContext) {
        if (content === "fail") throw new TypeError("Broken.");
        ctx.setState({ a: 1, b: "ü" });
        await ctx.storage.set("key", [1, 2]);
        await ctx.fs.list();
      },
    },
    { capabilities: ["fs"], displayName: "Figured out" },
  );
  await ask(client, "figured");
  const first = await describeCode(client, "figured");
  expect(first).toMatchObject({
    package: "figured",
    displayName: "Figured out",
    version: 1,
    pinned: false,
    capabilities: ["fs"],
    tools: [{ name: "look", description: "Looks." }],
    handles: { init: false, shutdown: false, event: false },
    batch: true,
    concurrency: 1,
    state: { keys: 2, bytes: 16, maxBytes: 1024 * 1024 },
    storage: { entries: 1, chars: 5 },
    requests: { total: 1, failed: 0, hostCalls: 2, modelCalls: 0 },
    isApart: false,
    process: { agents: expect.any(Number) },
  });
  expect(first).not.toHaveProperty("lastError");
  const { message } = await captureFailure(client, "figured", "fail");
  const second = await describeCode(client, "figured");
  expect(second.requests).toMatchObject({ total: 2, failed: 1, hostCalls: 2 });
  expect(second.requests.ms).toBeGreaterThanOrEqual(second.requests.longestMs);
  expect(second.lastError).toMatchObject({ message, version: 1, runId: expect.any(String) });
});

test("the log is read in pages and by level, and only the latest lines are kept", async () => {
  const { client } = host;
  await deployAgent(client, "chatty", {
    onMessage({ content }, ctx) {
      const [from = 0, to = 0] = content.split("-").map(Number);
      for (let index = from; index < to; index++) ctx.log[index % 5 === 0 ? "warn" : "info"](`line ${index}`);
    },
  });
  await ask(client, "chatty", "0-12");
  await waitForLog(client, "chatty", 12);
  const read = async (query: object) => (await readLog(client, "chatty", query)).map(({ text }) => text);
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index}`);
  expect(await read({})).toEqual(lines);
  expect(await read({ limit: 3 })).toEqual(lines.slice(9));
  expect(await read({ level: "warn" })).toEqual(["line 0", "line 5", "line 10"]);
  expect(await read({ level: "warn", limit: 2 })).toEqual(["line 5", "line 10"]);
  const params = { agency: "global", agent: "chatty" };
  const seen: string[] = [];
  for (let after = 0; ;) {
    const { logs, last } = await client.call("listAgentLogs", { params, query: { after, limit: 5 } });
    seen.push(...logs.map(({ text }) => text));
    if (logs.length === 0) break;
    after = last;
  }
  expect(seen).toEqual(lines);
  expect(await read({ after: 3, limit: 2, level: "info" })).toEqual(["line 3", "line 4"]);
  for (const query of [{ limit: 0 }, { limit: 501 }, { after: -1 }, { level: "debug" }])
    await expect(readLog(client, "chatty", query)).rejects.toMatchObject({ code: "bad_request" });
  // More than are taken of one message, and more than are kept.
  await ask(client, "chatty", "12-2100");
  await ask(client, "chatty", "5000-5001");
  const [last, ...rest] = (await read({ limit: 500 })).toReversed();
  expect([last, rest[0]]).toEqual(["line 5000", "More lines of this request are left out."]);
  expect((await read({ after: 0, limit: 1 }))[0]).toBe("line 14");
});

test("errors of TypeScript code are shown where they are in its source", async () => {
  const { client } = host;
  const files: Record<string, string> = {
    "src/agent.ts": [
      'import { defineAgent } from "@thinkery/sdk/agent";',
      'import { compute } from "./lib/compute.ts";',
      "interface Order { amount: number }",
      "",
      "export default defineAgent({",
      "  async onMessage({ content }, ctx) {",
      "    const order: Order = JSON.parse(content);",
      "    if (order.amount < 0) {",
      '      await ctx.log.warn(new Error("logged"));',
      "    }",
      "    await ctx.send(String(compute(order.amount as number)));",
      "  },",
      "});",
    ].join("\n"),
    "src/lib/compute.ts": [
      "// A comment.",
      "export function compute(amount: number): number {",
      "  type Unused = { a: string };",
      '  if (amount < 0) throw new RangeError("Negative.");',
      "  return amount * 2;",
      "}",
    ].join("\n"),
  };
  const { outputFiles } = await build({
    entryPoints: ["src/agent.ts"],
    absWorkingDir: "/project",
    outfile: "/project/agent.bundle.js",
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    sourcemap: "external",
    sourcesContent: false,
    plugins: [
      {
        name: "files",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^@thinkery/ }, () => ({ path: "/thinkery/sdk.js", external: true }));
          onResolve({ filter: /compute/ }, () => ({ path: "/project/src/lib/compute.ts", namespace: "file" }));
          onResolve({ filter: /agent/ }, () => ({ path: "/project/src/agent.ts", namespace: "file" }));
          onLoad({ filter: /^\/project\// }, ({ path }) => ({
            contents: files[path.slice("/project/".length)] ?? "",
            loader: "ts",
          }));
        },
      },
    ],
  });
  const [map, code] = ["map", "js"].map((end) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "");
  await client.call("deployPackage", {
    params: { agency: "global" },
    body: {
      name: "mapped",
      manifest: { type: "agent", runtime: "isolate" },
      code: code ?? "",
      ...(map ? { sourceMap: map } : {}),
    },
  });
  expect(await ask(client, "mapped", '{"amount": 4}')).toBe("8");
  const { message } = await captureFailure(client, "mapped", '{"amount": -1}');
  expect(message.split("\n").map((line) => line.trim())).toEqual([
    "RangeError: Negative.",
    expect.stringMatching(/^at (\w+ \()?src\/lib\/compute\.ts:4:\d+\)?$/),
    expect.stringMatching(/^at ([\w.]+ \()?src\/agent\.ts:11:\d+\)?$/),
  ]);
  const [logged, error] = await waitForLog(client, "mapped", 2);
  expect(logged).toMatch(/^Error: logged\n.*src\/agent\.ts:9:\d+/);
  expect(error).toBe(message);
});

test("secrets of the host are redacted wherever code says, logs, shows or throws them", async () => {
  const { client } = host;
  await deployAgent(client, "leaky", {
    async onMessage({ content }, ctx) {
      const key = content.split("").toReversed().join("");
      ctx.log.info(`logged ${key}`);
      console.log("printed", key);
      await ctx.reply().thinking(`thought ${key}`);
      await ctx.send(`said ${key}`);
      throw new Error(`thrown ${key}`);
    },
  });
  const failure = await captureFailure(client, "leaky", secret.split("").toReversed().join(""));
  expect(failure.message).toContain("thrown [redacted]");
  const lines = await waitForLog(client, "leaky", 3);
  expect(lines.map((line) => line.split("\n")[0]).toSorted()).toEqual([
    "logged [redacted]",
    "printed [redacted]",
    "thrown [redacted]",
  ]);
  expect((await listMessages(client, "leaky"))[1]?.[2]).toBe("said [redacted]");
  const authorization = `Bearer ${host.token}`;
  for (const path of ["export", "code", "logs", "events?limit=1000", "state"]) {
    const response = await fetch(`${host.url}/agency/global/agent/leaky/${path}`, { headers: { authorization } });
    expect([path, (await response.text()).includes(secret)]).toEqual([path, false]);
  }
});

test("an export contains state, settings and stored values", async () => {
  const { client } = host;
  await deployAgent(client, "exported", {
    settings: { kept: { type: "text", default: "x" } },
    async onMessage(_, ctx) {
      ctx.setState({ list: [1, { deep: true }] });
      for (let index = 0; index < 150; index++) await ctx.storage.set(`key ${index}`, { index });
    },
  });
  await ask(client, "exported");
  await putSettings(client, "exported", { kept: "y" });
  const response = await fetch(`${host.url}/agency/global/agent/exported/export`, {
    headers: { authorization: `Bearer ${host.token}` },
  });
  const { code, codeValues } = (await response.json()) as {
    code: object;
    codeValues: { key: string; value: unknown }[];
  };
  expect(code).toEqual({ version: 1, state: { list: [1, { deep: true }] }, settings: { kept: "y" } });
  expect(codeValues).toHaveLength(150);
  expect(codeValues.find(({ key }) => key === "key 149")).toEqual({ key: "key 149", value: { index: 149 } });
});

test("a dry run says what a deploy would grant, and changes nothing", async () => {
  const { client } = host;
  const agent = { onMessage() {} };
  const dry = await deployAgent(client, "planned", agent, { capabilities: ["ai"], dryRun: true });
  expect(dry).toMatchObject({ version: 1, isNew: true, added: ["ai"], agent: { isNew: true }, dryRun: true });
  const params = { agency: "global", package: "planned" };
  await expect(client.call("getPackage", { params })).rejects.toMatchObject({ code: "not_found" });
  await expect(client.agent("planned").describe()).rejects.toMatchObject({ code: "not_found" });
  const { bytes, agent: created } = await deployAgent(client, "planned", agent, { createAgent: false });
  expect(bytes).toBe(`${sdkImport}\nexport default defineAgent({ "onMessage": function () {} });`.length);
  expect(created).toBeUndefined();
  expect(await deployAgent(client, "planned", agent, { capabilities: ["ai"], dryRun: true })).toMatchObject({
    version: 2,
    added: ["ai"],
  });
  expect(await client.call("getPackage", { params })).toMatchObject({ version: 1, capabilities: [], agents: [] });
});
