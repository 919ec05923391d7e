import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, createClient } from "@thinkery/sdk/client";
import {
  linuxLimitsSchema,
  sandboxLimitsSchema,
  subagentLimitsSchema,
  turnLimitsSchema,
  workspaceLimitsSchema,
} from "@thinkery/sdk/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openHome } from "../../packages/daemon/src/home/home.ts";
import { type RunningHost, runHost } from "../../packages/daemon/src/host/host.ts";
import { locateParts } from "../../packages/daemon/src/host/parts.ts";
import { formatMainConfig } from "../../packages/daemon/src/host/workerd-config.ts";
import { spend } from "../kit/budget-testbed.ts";
import { createHomePath, removeHome } from "../kit/host-process.ts";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { splitIsolates } from "../kit/split-isolates.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { findFreePort } from "../kit/workerd.ts";

// On Cloudflare the handler, agents, agencies and users live in different isolates, and there may be several of each.
// Here a real host runs like that: nothing may depend on the module state of another isolate.

const providerKey = "plain-key-of-a-provider";

/** How long other isolates may use stale data: docs/01-architecture.md, “State outside of objects”. */
const blueprintMaxAgeMs = 30_000;
const membershipMaxAgeMs = 30_000;
const tokenMaxAgeMs = 10_000;
/** Extra time on a machine that is busy with other tests. */
const slackMs = 10_000;

const scripts = {
  one: [{ steps: [{ text: "I am one." }] }],
  two: [{ steps: [{ text: "I am two." }] }],
  code: [{ steps: [{ call: { tool: "executeCode", input: { code: "{{ message }}" } } }, { text: "Ran." }] }],
  leaker: [
    { steps: [{ call: { tool: "set_title", input: { title: `The key is ${providerKey}.` } } }, { text: "Told." }] },
  ],
};

let home: string;
let host: RunningHost;
let server: ModelServer;
let client: Client;
/** The same host through another isolate of the handler. */
let second: Client;
let secondPort = 0;
/** Agents of another Worker, which shares only the sandbox slots. */
let other: Client;
/** Resolves to true once the agent sees its changed blueprint, or to an error. */
let blueprintUpdate: Promise<unknown>;
/** Resolves to true once another handler refuses a member who was removed, or to an error. */
let memberRemoval: Promise<unknown>;
/** With which code the socket of that member ended. */
let socketEnd: Promise<number>;

beforeAll(async () => {
  server = await openModelServer({ models: ["priced"] });
  server.answer(spend);
  home = await createHomePath();
  const otherObjects = join(home, "other");
  await mkdir(otherObjects, { recursive: true, mode: 0o700 });
  await mkdir(join(home, "scripts"), { mode: 0o700 });
  for (const [name, script] of Object.entries(scripts))
    await writeFile(join(home, "scripts", `${name}.yaml`), JSON.stringify(script));
  secondPort = await findFreePort();
  const otherPort = await findFreePort();
  host = await runHost({
    home: await openHome({ THINKERY_HOME: home }),
    host: "127.0.0.1",
    port: 0,
    isPortFixed: false,
    slots: 1,
    agentSlots: 0,
    allowedHosts: [],
    allowedOrigins: [],
    toolOrigins: [],
    policy: [],
    providers: ["local"],
    models: { providers: { local: { baseUrl: `${server.url}/v1`, apiKeyVariable: "LOCAL_KEY" } }, prices: {} },
    modelVariables: { variables: { LOCAL_KEY: providerKey }, secrets: [providerKey] },
    turn: turnLimitsSchema.parse({ heartbeatSeconds: 1 }),
    subagents: subagentLimitsSchema.parse({}),
    sandbox: sandboxLimitsSchema.parse({}),
    linux: linuxLimitsSchema.parse({}),
    workspace: workspaceLimitsSchema.parse({}),
    scriptFolders: [join(home, "scripts")],
    parts: locateParts(fileURLToPath(new URL("../../packages/daemon/dist", import.meta.url))),
    configure: (config) => splitIsolates(formatMainConfig(config), { secondPort, otherPort, otherObjects }),
  });
  [client, second, other] = [createClientAt(host.port), createClientAt(secondPort), createClientAt(otherPort)];
  // Polled, so that its object is not evicted. The last test awaits it; the others run meanwhile.
  await putBlueprint("one");
  await client.agents().create({ name: "follower", blueprint: "changing" });
  expect(await say(client, "follower", "Who are you?")).toBe("I am one.");
  await putBlueprint("two");
  const isUpdated = async () => (await say(client, "follower", "Who are you?")) === "I am two.";
  blueprintUpdate = waitUntil("the agent to see its changed blueprint", isUpdated, {
    timeoutMs: blueprintMaxAgeMs + slackMs,
    intervalMs: 500,
  }).catch((error: unknown) => error);
  await removeMember();
});

/** Removes a member whom both handlers know, and who has a socket open through the other one. */
async function removeMember(): Promise<void> {
  const { token } = await client.call("createToken", { body: { name: "t", user: "ann", scopes: ["chat"] } });
  const ann = { [host.port]: createClientAt(host.port, token), [secondPort]: createClientAt(secondPort, token) };
  const params = { agency: "global@owner" };
  await client.members().put("ann", ["read"]);
  for (const each of Object.values(ann)) await each.call("getAgency", { params });
  const socket = new WebSocket(`ws://127.0.0.1:${secondPort}/agency/global@owner/agent/follower/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  socketEnd = new Promise((resolve) => socket.on("close", resolve));
  await new Promise((resolve) => socket.on("open", resolve));
  await client.members().remove("ann");
  const isRefused = (port: number) =>
    ann[port]?.call("getAgency", { params }).then(
      () => false,
      (error: { code: string }) => error.code === "not_found",
    );
  expect(await isRefused(host.port)).toBe(true);
  memberRemoval = waitUntil("the other handler to refuse the former member", () => isRefused(secondPort), {
    timeoutMs: membershipMaxAgeMs + slackMs,
    intervalMs: 500,
  }).catch((error: unknown) => error);
}

afterAll(async () => {
  await host?.stop();
  await server?.stop();
  await removeHome(home);
});

const createClientAt = (port: number, token = host.token) => createClient({ url: `http://127.0.0.1:${port}`, token });

const global = { agency: "global" };

const putBlueprint = (model: string) =>
  client.call("putBlueprint", { params: global, body: { name: "changing", model: `scripted:${model}` } });

/** Sends a message and returns the final text, or the failure's code. */
async function say(client: Client, agent: string, message: string): Promise<string> {
  const turn = await client.agent(agent).send(message);
  const { status, content, failure } = await turn.outcome();
  return status === "completed" ? content : (failure?.code ?? status);
}

const listEvents = async (client: Client, agent: string) =>
  (await client.call("listEvents", { params: { ...global, agent }, query: { limit: 1000 } })).events;

test("an agent uses a provider's model, and both handlers see its messages", async () => {
  await client.agents().create({ name: "speaker", model: "local:priced" });
  expect(await say(client, "speaker", "say 10")).toBe("Used 10.");
  const { messages } = await second.agent("speaker").messages();
  expect(messages.map(({ role, content }) => [role, content])).toEqual([
    ["user", "say 10"],
    ["assistant", "Used 10."],
  ]);
});

test("a provider's key is redacted in the action log of an agent that never used the provider", async () => {
  await client.agents().create({ name: "leaker", model: "scripted:leaker" });
  expect(await say(client, "leaker", "Tell.")).toBe("Told.");
  const { actions } = await client.call("listActions", { params: { ...global, agent: "leaker" } });
  expect(actions).toHaveLength(1);
  expect(actions[0]?.input).toContain("The key is [redacted].");
  expect(JSON.stringify(actions)).not.toContain(providerKey);
});

test("a deleted agent is gone for every handler at once, including those that used it", async () => {
  await client.agents().create({ name: "leaving", model: "scripted:one" });
  for (const each of [client, second]) expect(await say(each, "leaving", "Hello.")).toBe("I am one.");
  await client.agent("leaving").delete();
  for (const each of [client, second])
    await expect(each.call("listMessages", { params: { ...global, agent: "leaving" } })).rejects.toMatchObject({
      code: "not_found",
    });
  await client.agents().create({ name: "leaving", model: "scripted:two" });
  expect((await second.agent("leaving").messages()).messages).toEqual([]);
  expect(await say(second, "leaving", "Hello.")).toBe("I am two.");
});

test("a revoked token is rejected at once where it was revoked, and elsewhere within ten seconds", async () => {
  const { token, id } = await client.call("createToken", { body: { name: "short" } });
  const [here, there] = [createClientAt(host.port, token), createClientAt(secondPort, token)];
  await Promise.all([here.call("who"), there.call("who")]);
  await client.call("revokeToken", { params: { id } });
  await expect(here.call("who")).rejects.toMatchObject({ code: "unauthorized" });
  const isRejected = () =>
    there.call("who").then(
      () => false,
      (error: { code: string }) => error.code === "unauthorized",
    );
  await waitUntil("the other handler to reject the token", isRejected, {
    timeoutMs: tokenMaxAgeMs + slackMs,
    intervalMs: 200,
  });
});

test("a budget shared by two agents limits their total", async () => {
  const { id: agency } = await client.call("createAgency", { body: { id: "thrifty" } });
  await client.call("putAgencyBudget", { params: { agency }, body: { tokens: 1000 } });
  for (const name of ["one", "two"]) await client.agents(agency).create({ name, model: "local:priced" });
  expect(await say(client, `one@${agency}`, "say 700")).toBe("Used 700.");
  expect(await say(second, `two@${agency}`, "say 700")).toBe("Used 700.");
  for (const name of ["one", "two"]) expect(await say(client, `${name}@${agency}`, "say 1")).toBe("budget");
});

test("agents in two isolates cannot hold the same slot at once", async () => {
  const readHealth = () => client.call("health");
  await waitUntil("the slot", async () => (await readHealth()).sandboxes?.every(({ state }) => state === "ready"));
  for (const [owner, name] of [
    [client, "holder"],
    [other, "waiter"],
  ] as const)
    await owner.agents().create({ name, model: "scripted:code" });
  const holding = await client
    .agent("holder")
    .send("await echo('begun'); await new Promise((resolve) => setTimeout(resolve, 60_000))");
  await waitUntil("the holder's code to run", async () =>
    (await listEvents(client, "holder")).some(({ type }) => type === "capability.answered"),
  );

  const canceled = await other.agent("waiter").send("await echo('never')");
  await waitUntil("the waiter to be queued", async () => (await readHealth()).waitingRuns === 1);
  expect((await readHealth()).sandboxes).toMatchObject([{ agent: "global~holder" }]);
  await canceled.cancel();
  await waitUntil("the queue to be empty", async () => (await readHealth()).waitingRuns === 0);

  const waiting = await other.agent("waiter").send("await echo('begun'); return 'ran'");
  await waitUntil("the waiter to be queued again", async () => (await readHealth()).waitingRuns === 1);
  // Deleting the holder frees its slot.
  await client.agent("holder").delete();
  expect((await waiting.outcome()).status).toBe("completed");
  const events = await listEvents(other, "waiter");
  expect(events.filter(({ type }) => type === "capability.answered")).toHaveLength(1);
  expect(events.some((event) => event.type === "tool.output" && event.data.output === "ran")).toBe(true);
  await holding.cancel().catch(() => {});
});

test("an agent in another isolate sees a changed blueprint within thirty seconds", async () => {
  expect(await blueprintUpdate).toBe(true);
});

test("a removed member loses sockets at once and access where they were removed, elsewhere within thirty seconds", async () => {
  expect(await socketEnd).toBe(4403);
  expect(await memberRemoval).toBe(true);
});
