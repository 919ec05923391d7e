import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@thinkery/sdk/client";
import { AgentClient } from "agents/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { waitUntil } from "../kit/wait-until.ts";
import { task, teamConfig } from "../kit/worker/team.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// Sub-agents have the endpoints of an agent, below /sub/:child at any depth.

let testbed: Testbed;
let child: string;
let grandchild: string;

beforeAll(async () => {
  testbed = await openTestbed({
    config: teamConfig,
    scripts: {
      default: [{ when: "/^nest$/", steps: [{ call: task("pass it on") }, { text: "{{ results.0 }}" }] }],
      fast: [
        { when: "/^pass it on$/", steps: [{ call: task("hello") }, { text: "{{ results.0 }}" }] },
        { when: "/^linger$/", steps: [{ wait: 60_000 }, { text: "late" }] },
        {
          when: "/^hello$/",
          steps: [{ call: { tool: "writeFile", input: { path: "a.md", content: "x\n" } } }, { text: "written" }],
        },
        { steps: [{ text: "I heard: {{ message }}" }] },
      ],
    },
  });
  const agent = await testbed.newAgent({ name: "alice" });
  await agent.say("nest");
  const [first] = (await testbed.api("/agents/alice/subagents")).body.subagents;
  child = `/agents/alice/sub/${first.facetName}`;
  const [second] = (await testbed.api(`${child}/subagents`)).body.subagents;
  grandchild = `${child}/sub/${second.facetName}`;
});

afterAll(() => testbed?.stop());

test("state, log, messages, actions, usage and export of a sub-agent are its own", async () => {
  for (const [path, parent] of [
    [child, "global~alice"],
    [grandchild, `global~alice/${child.split("/").at(-1)}`],
  ] as const) {
    const { state, run } = (await testbed.api(`${path}/state`)).body;
    expect(state).toMatchObject({ agentType: "think", parent: { threadId: parent, token: expect.any(String) } });
    expect(run.status).toBe("completed");
    expect((await testbed.api(path)).body).toMatchObject({ name: path.split("/").at(-1), parent });
    const log = await testbed.agentAt(path, path).log();
    expect(log.at(-1)?.type).toBe("assignment.reported");
    expect((await testbed.api(`${path}/messages`)).body.messages[0].role).toBe("user");
    expect((await testbed.api(`${path}/usage`)).body.turns.completed).toBe(1);
    expect((await testbed.api(`${path}/export`)).body.format).toBe("thinkery-agent");
    expect((await testbed.api(`${path}/tasks`)).status).toBe(200);
  }
  expect((await testbed.api(`${grandchild}/actions`)).body.actions).toMatchObject([{ tool: "writeFile" }]);
  // What the grandchild did reaches every log above it.
  const { actions } = (await testbed.api("/agents/alice/actions?tool=writeFile")).body;
  expect(actions).toMatchObject([{ agent: expect.stringMatching(/^global~alice\/subagent-[\w-]+\/subagent-/) }]);
  expect((await testbed.api("/agents/alice/export")).body.subagents).toHaveLength(1);
});

test("a sub-agent works on its root agent's files, and has no app", async () => {
  expect((await testbed.api(`${grandchild}/files/a.md`)).body).toBe("x\n");
  expect((await testbed.api(`${child}/versions`)).body.versions).toHaveLength(1);
  const app = await testbed.api(`${child}/app`);
  expect([app.status, app.body.error.message]).toEqual([404, "A sub-agent has no app."]);
});

test("a ticket is for a sub-agent or for its agent, never for both", async () => {
  const { url } = testbed.host();
  const createTicket = async (path: string) => (await testbed.api("/tickets", "POST", { path })).body.ticket as string;
  const open = async (path: string, ticket: string) => (await fetch(`${url}${path}?ticket=${ticket}`)).status;
  const [own, deeper, root] = [`${child}/messages`, `${grandchild}/messages`, "/agents/alice/messages"];
  for (const path of [own, deeper, root]) {
    const ticket = await createTicket(path);
    expect([await open(path, ticket), await open(path, ticket)]).toEqual([200, 401]);
    for (const other of [own, deeper, root].filter((candidate) => candidate !== path))
      expect([path, other, await open(other, await createTicket(path))]).toEqual([path, other, 401]);
  }
});

test("a person can talk to a sub-agent, over HTTP, a stream and a socket", async () => {
  const agent = testbed.agentAt(child, "child");
  expect((await agent.say("hi"))?.data).toMatchObject({ result: "I heard: hi" });
  const { host } = testbed;
  const events = await fetch(`${host().url}${child}/events?after=0`, {
    headers: { authorization: `Bearer ${host().token}`, accept: "text/event-stream" },
  });
  const reader = events.body!.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toContain("thread.created");
  await reader.cancel();
  const socket = new WebSocket(
    `${host().url.replace("http", "ws")}${grandchild.replace("/agents/", "/agency/global/agent/")}/ws`,
    {
      headers: { authorization: `Bearer ${host().token}` },
    },
  );
  const frames: any[] = [];
  socket.on("message", (data) => frames.push(...[JSON.parse(String(data))].flat()));
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send(JSON.stringify({ type: "chat", id: "m1", content: "over the socket" }));
  await waitUntil("the response", () => JSON.stringify(frames).includes("I heard: over the socket"));
  socket.close();
});

test("the client reaches a sub-agent by its path, and the SDK's client too", async () => {
  const { url, token, port } = testbed.host();
  const client = createClient({ url, token });
  const name = child.split("/").at(-1)!;
  const handle = client.agent(`alice/${name}`);
  expect(await (await handle.send("and you?")).outcome()).toMatchObject({ content: "I heard: and you?" });
  expect(await client.agent("alice").sub(name).subagents()).toHaveLength(1);
  expect((await client.agent("alice").subagents())[0]).toMatchObject({ facetName: name });
  const states: unknown[] = [];
  const sdk = new AgentClient({
    agent: "think",
    name: "global~alice",
    host: `127.0.0.1:${port}`,
    protocol: "ws",
    path: `sub/think/${name}`,
    query: { token },
    WebSocket: class extends WebSocket {
      constructor(address: string, protocols?: string[]) {
        super(address, protocols, { headers: { authorization: `Bearer ${token}` } });
      }
    },
    onStateUpdate: (state: unknown) => states.push(state),
  } as never);
  await waitUntil("the state of the sub-agent", () => states.length > 0);
  expect(states[0]).toMatchObject({ status: "idle" });
  sdk.close();
});

test("streams of a sub-agent end with the token that opened them, and no stray object appears", async () => {
  const { url } = testbed.host();
  const { body } = await testbed.api("/tokens", "POST", { name: "short", scopes: ["read"] });
  const response = await fetch(`${url}${child}/events`, {
    headers: { authorization: `Bearer ${body.token}`, accept: "text/event-stream" },
  });
  let isEnded = false;
  void (async () => {
    const reader = response.body!.getReader();
    while (!(await reader.read()).done);
    isEnded = true;
  })();
  const listObjects = () =>
    readdirSync(join(testbed.home, "objects", "think")).filter((file) => /^[0-9a-f]{64}\.sqlite$/.test(file)).length;
  const before = listObjects();
  expect((await testbed.api(`/tokens/${body.id}`, "DELETE")).status).toBe(204);
  // At once, not with the next sign of life.
  await waitUntil("the stream to end", () => isEnded, { timeoutMs: 8000 });
  expect(listObjects()).toBe(before);
});

test("deleting agents leaves no facet behind", async () => {
  const agent = await testbed.newAgent({ name: "bob" });
  await agent.say("nest");
  const [{ facetName, taskId }] = (await testbed.api("/agents/bob/subagents")).body.subagents;
  const listFacets = () =>
    readdirSync(join(testbed.home, "objects", "think")).filter((file) => /^[0-9a-f]{64}\.\d+\.sqlite$/.test(file));
  const own = listFacets();
  expect((await testbed.api(`/agents/bob/sub/${facetName}`, "DELETE")).status).toBe(204);
  expect((await testbed.api(`/agents/bob/sub/${facetName}/state`)).status).toBe(404);
  expect((await testbed.api(`/agents/bob/subagents/${taskId}`)).body).toMatchObject({
    status: "complete",
    result: "written",
  });
  expect((await testbed.api(`/agents/bob/sub/${facetName}`, "DELETE")).status).toBe(404);
  await waitUntil("its files to be gone", () => listFacets().length < own.length);
  await agent.say("nest");
  expect((await testbed.api("/agents/bob", "DELETE")).status).toBe(204);
  await waitUntil("all of bob's files to be gone", () => listFacets().length === own.length - 2);
  // What deleted agents have spent still counts.
  const { byAgent } = (await testbed.api("/agency/global/usage")).body;
  expect(byAgent.filter(({ agent: name }: { agent: string }) => name.startsWith("bob/")).length).toBeGreaterThan(0);
});
