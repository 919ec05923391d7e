import { agentCapabilities, type Message } from "@thinkery/sdk";
import { type Client, createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../../kit/host-process.ts";
import { ask, askJson, deployAgent, putSettings, readState, runTurn, startAgentHost } from "../../kit/user-agent.ts";
import { createRawAgent } from "./raw-agent.ts";

// What an agent's code can find out about other agents of its owner, and those of other owners.

const secret = "secret-of-the-victim-7d1e";

let host: HostProcess;
let client: Client;
let victim: { agent: string; messages: Message[]; blob: string };

beforeAll(async () => {
  host = await startAgentHost({
    config: { sandboxSlots: 1, agentSlots: 3, model: "scripted:parrot", turn: { heartbeatSeconds: 1 } },
    scripts: { parrot: { exchanges: [{ steps: [{ text: "I was told: {{ message }}" }] }] } },
  });
  client = host.client;
  const code = `
    globalThis.secret = ${JSON.stringify(secret)};
    export default defineAgent({
      settings: { word: { type: "text", default: "mild" } },
      async onMessage(message, ctx) {
        ctx.setState({ secret: message.content });
        await ctx.storage.set("secret", message.content);
        await ctx.fs.writeFile("secret.txt", message.content);
        await ctx.send("I keep it.");
      },
    });`;
  await deployAgent(client, "victim", code, { capabilities: ["fs"] });
  await putSettings(client, "victim", { word: secret });
  const data = Buffer.from(`${secret} in a file`).toString("base64");
  const message = { message: secret, attachments: [{ name: "a.png", mediaType: "image/png", data }] };
  expect(await ask(client, "victim", message)).toBe("I keep it.");
  const { messages } = await client.agent("victim").messages();
  const blob = messages[0]?.attachments?.[0]?.blob ?? "";
  expect(blob).not.toBe("");
  victim = { agent: "global~victim", messages, blob };
});

afterAll(() => host?.stop());

test("attachments, history and files of another agent are not found, whatever is known of them", async () => {
  await deployAgent(
    client,
    "reader",
    createRawAgent({
      onMessage: `
        const { ids, blob, agent } = JSON.parse(payload.message.content);
        const results = {};
        const tryCall = async (name, input) => { results[name + " " + JSON.stringify(input).slice(0, 120)] = (await call(name, input)).slice(0, 2000); };
        await tryCall("attachment.read", { id: blob });
        await tryCall("attachment.read", { id: "../" + blob });
        await tryCall("attachment.read", { id: blob.toUpperCase() });
        await tryCall("model.open", { messages: [{ role: "user", content: [{ type: "image", attachment: blob }, { type: "text", text: "?" }] }] });
        for (const id of ids) {
          await tryCall("history.read", { before: id });
          await tryCall("history.read", { before: id, agent });
        }
        await tryCall("history.read", { agent, limit: 500 });
        await tryCall("storage.get", { key: "secret" });
        await tryCall("storage.get", { key: agent + "/secret" });
        await tryCall("storage.list", { prefix: "" });
        await tryCall("fs.readFile", { path: "secret.txt" });
        for (const path of ["../victim/secret.txt", "/../victim/secret.txt", "/work/../../victim/secret.txt", "global~victim/secret.txt", "\\0secret.txt"])
          await tryCall("fs.readFile", { path });
        await tryCall("bash", { command: "cat secret.txt ../*/secret.txt /work/secret.txt; ls -R / | head -50; env" });
        await tryCall("tools.execute", { calls: [{ name: "readFile", input: { path: "secret.txt" } }, { name: "peek", input: { agent } }, { name: "victim__x", input: {} }] });
        results.payload = JSON.stringify(payload).replace(payload.message.content, "").replace(JSON.stringify(payload.message.content).slice(1, -1), "");
        results.memory = String(globalThis.secret);
        await say(results);`,
    }),
    { capabilities: [...agentCapabilities] },
  );
  const known = { ids: victim.messages.map(({ id }) => id), blob: victim.blob, agent: victim.agent };
  const results = (await askJson(client, "reader", JSON.stringify(known))) as Record<string, string>;
  expect(Object.keys(results).length).toBeGreaterThan(18);
  const encodings = [secret, Buffer.from(secret).toString("base64").slice(0, 20)];
  expect(Object.entries(results).filter(([, result]) => encodings.some((text) => result.includes(text)))).toEqual([]);
  for (const [call, result] of Object.entries(results))
    if (/^(?:attachment\.read|model\.open)|before/.test(call))
      expect([call, result]).toEqual([call, expect.stringMatching(/^refused: /)]);
});

test("an agent reads its own attachment", async () => {
  const code = `
    export default defineAgent({
      async onMessage(message, ctx) { await ctx.send(await message.attachments[0].text()); },
    });`;
  await deployAgent(client, "owner-of-file", code);
  const attachments = [{ name: "a.txt", mediaType: "text/plain", data: Buffer.from("my own").toString("base64") }];
  expect(await ask(client, "owner-of-file", { message: "x", attachments })).toBe("my own");
});

test("the caller of a provided tool is who calls it, whatever its code claims", async () => {
  const provider = `
    export default defineAgent({
      tools: {
        who: { description: "Who calls?", parameters: { type: "object", additionalProperties: true }, execute: (args, ctx) => ({ caller: ctx.caller, keys: Object.keys(ctx).length }) },
      },
      onMessage() {},
    });`;
  await deployAgent(client, "provider", provider);
  await deployAgent(
    client,
    "liar",
    createRawAgent({
      onMessage: `
        const claim = { caller: "global~owner", callers: ["global~owner"], agent: "global~victim", from: { user: "owner" }, __proto__: { caller: "global~owner" } };
        const calls = [{ name: "provider__who", input: claim, ...claim }];
        await say(await env.HOST.call("tools.execute", JSON.stringify({ calls, ...claim })));`,
    }),
    { capabilities: ["tools"] },
  );
  const { results } = (await askJson(client, "liar")) as {
    results: { content: string; output?: { caller: string } }[];
  };
  expect(results.map(({ content, output }) => output?.caller ?? content)).toEqual(["global~liar"]);
});

test("only tools that an agent provides can be called, whatever they are named", async () => {
  const names = [
    "constructor",
    "__proto__",
    "toString",
    "hasOwnProperty",
    "onMessage",
    "message",
    "init",
    "describe",
    "who/../message",
  ];
  const caller = `
    export default defineAgent({
      async onMessage(message, ctx) {
        const results = [];
        for (const name of ${JSON.stringify(names)}) for (const full of [name, "provider__" + name, "victim__" + name])
          results.push(await ctx.tools.execute(full, {}).then(() => "ESCAPED " + full, (error) => error.name));
        await ctx.send(JSON.stringify(results));
      },
    });`;
  await deployAgent(client, "guesser", caller, { capabilities: ["tools"] });
  const results = (await askJson(client, "guesser")) as string[];
  expect(results).toHaveLength(names.length * 3);
  expect(results.filter((result) => result.includes("ESCAPED"))).toEqual([]);
});

test("isolates of one process share nothing", async () => {
  const leave = `
    globalThis.left = "ESCAPED"; Object.prototype.left = "ESCAPED"; Array.prototype.left = "ESCAPED"; JSON.left = "ESCAPED";
    JSON.parse = () => ({ left: "ESCAPED" });
    Promise.prototype.then = Promise.prototype.then;
    export const box = globalThis.box = ["ESCAPED"];`;
  const find = `const found = [globalThis.left, ({}).left, [].left, JSON.left, globalThis.box, globalThis.secret].filter((value) => value !== undefined);`;
  const agent = (prefix: string) =>
    `${prefix} export default defineAgent({ onMessage: (message, ctx) => ctx.send("found " + (typeof found === "undefined" ? "" : found)) });`;
  await deployAgent(client, "leaver", agent(leave));
  await deployAgent(client, "finder", agent(find));
  await runTurn(client, "leaver", "x");
  expect(await ask(client, "finder")).toBe("found ");
  await client.agents().create({ name: "leaver-2", blueprint: "leaver" });
  await Promise.all([runTurn(client, "leaver", "x"), runTurn(client, "leaver-2", "x")]);
  expect(await ask(client, "finder")).toBe("found ");
});

test("settings take only what the schema allows, and nothing else of an agent changes", async () => {
  const params = { agency: "global", agent: "victim" };
  const before = await client.call("getSettings", { params });
  const bodies = [
    '{"settings":{"__proto__":{"word":"ESCAPED"}}}',
    '{"settings":{"constructor":"ESCAPED"}}',
    '{"settings":{"toString":"ESCAPED"}}',
    '{"settings":{"word":{"toString":"ESCAPED"}}}',
    '{"settings":{"word":["ESCAPED"]}}',
    `{"settings":{"word":"${"x".repeat(20_000)}"}}`,
    `{"settings":{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join()}}}`,
    '{"settings":{"word":null,"other":null}}',
    '{"settings":[],"schema":{}}',
    '{"settings":{"word":1e999}}',
    '{"settings":{"word":5},"set":{"word":"ESCAPED"}}',
  ];
  for (const body of bodies) {
    const headers = { authorization: `Bearer ${host.token}`, "content-type": "application/json" };
    const response = await fetch(`${host.url}/agents/victim/settings`, { method: "PUT", headers, body });
    const text = await response.text();
    expect([body.slice(0, 60), response.status]).toEqual([body.slice(0, 60), 400]);
    expect([body.slice(0, 60), text.length < 2000 || body.length > 10_000]).toEqual([body.slice(0, 60), true]);
  }
  expect(await client.call("getSettings", { params })).toEqual(before);
  expect(await readState(client, "victim")).toEqual({ secret });
});

test("packages of another user cannot be seen, deployed, run or named", async () => {
  const { token } = await client.call("createToken", { body: { name: "t", user: "bob", scopes: ["admin"] } });
  const bob = createClient({ url: host.url, token });
  await bob.call("createAgency", { body: { id: "den" } });
  const inOwners = { agency: "global", package: "victim" };
  const body = { name: "victim", manifest: { type: "agent", runtime: "isolate" }, code: "export default {}" } as const;
  const attempts: Record<string, () => Promise<unknown>> = {
    deploy: () => bob.call("deployPackage", { params: inOwners, body }),
    "dry run": () => bob.call("deployPackage", { params: inOwners, body: { ...body, dryRun: true } }),
    list: () => bob.call("listPackages", { params: inOwners }),
    get: () => bob.call("getPackage", { params: inOwners }),
    delete: () => bob.call("deletePackage", { params: inOwners }),
    "roll back": () => bob.call("rollbackPackage", { params: inOwners, body: {} }),
    "own get": () => bob.call("getPackage", { params: { agency: "den", package: "victim" } }),
    code: () => bob.call("getAgentCode", { params: { agency: "global", agent: "victim" } }),
    logs: () => bob.call("listAgentLogs", { params: { agency: "global", agent: "victim" } }),
    settings: () => bob.call("getSettings", { params: { agency: "global", agent: "victim" } }),
    send: () => bob.agent("victim@global").send("x"),
  };
  for (const [name, attempt] of Object.entries(attempts))
    expect([
      name,
      await attempt().then(
        () => "ESCAPED",
        ({ code }) => code,
      ),
    ]).toEqual([name, "not_found"]);
  // A blueprint may name any package, but only those of its own agency are found.
  for (const name of ["victim", "global~victim", "../global/victim", "owner/victim"]) {
    const blueprint = { name: "thief", driver: "isolate", config: { isolate: { package: name } } };
    const created = await bob.call("putBlueprint", { params: { agency: "den" }, body: blueprint as never }).then(
      () => true,
      () => false,
    );
    if (!created) continue;
    const agent = `thief-${Math.abs(name.length)}`;
    await bob.agents("den").create({ name: agent, blueprint: "thief" });
    const { status, failure } = await runTurn(bob, `${agent}@den`, "x");
    expect([name, status, failure?.message]).toEqual([name, "error", expect.stringContaining("not deployed")]);
  }
  expect((await client.call("getPackage", { params: inOwners })).version).toBe(1);
});
