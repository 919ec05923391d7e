import { type Endpoint, endpoints } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send } from "../kit/wire.ts";

// Every endpoint there is × who asks. An endpoint that is added later is walked too.

let house: HostProcess;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  house = await startHostProcess();
  await house.client.call("createAgency", { body: { id: "den" } });
  for (const agency of ["global", "den"])
    await house.client.call("createAgent", { params: { agency }, body: { name: "alice" } });
  for (const [user, scope] of [
    ["owner", "read"],
    ["owner", "chat"],
    ["owner", "approve"],
    ["mallory", "read"],
    ["mallory", "chat"],
  ] as const) {
    const { token } = await house.client.call("createToken", {
      body: { name: "t", user, scopes: user === "mallory" && scope === "chat" ? ["read", "chat"] : [scope] },
    });
    tokens[`${user} ${scope}`] = token;
  }
});

afterAll(() => house?.stop());

const filled: Record<string, string> = {
  agency: "den",
  agent: "alice",
  name: "think",
  id: "owner.0123456789ab",
  hash: "0".repeat(64),
  path: "items/3",
  version: "1",
  branch: "try",
};

/** Bodies that pass their schemas, so that what is refused is refused for who asks. */
const bodies: Record<string, unknown> = {
  login: { code: "x" },
  createToken: { name: "t" },
  createAgency: {},
  putBlueprint: { name: "x" },
  createAgent: { name: "x" },
  invoke: { message: "hello" },
  cancelTurn: {},
  resolveToolCall: { callId: "call-1", output: "done" },
  putApp: { code: "export default {}" },
  editFiles: { edits: [{ write: "a.txt", content: "x" }] },
  revert: { version: 1 },
  createBranch: { name: "try" },
  mergeBranch: {},
  putAgencyBudget: { tokens: 1000 },
  putUserBudget: { tokens: 1000 },
  putPreferences: { theme: "dark" },
  run: { agent: "alice@den", message: "hello" },
  serve: { agent: "alice@den", message: "hello" },
};

function ask(name: string, endpoint: Endpoint, token: string | undefined, extra: Record<string, string> = {}) {
  const path = endpoint.path.replace(/[:*]([a-z]+)/g, (_, key: string) => filled[key] ?? "missing");
  const headers = {
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(endpoint.body ? { "content-type": "application/json" } : {}),
    ...extra,
  };
  const body = endpoint.body ? { body: JSON.stringify(bodies[name]) } : {};
  return send({ port: house.port, method: endpoint.method, path, headers, ...body });
}

/** What only the host itself may say to an object. */
const forged: Record<string, string> = { "x-thinkery-user": "owner", "x-thinkery-scopes": "admin,chat" };

const all = Object.entries<Endpoint>(endpoints);
const guarded = all.filter(([, { access }]) => access !== "public");

test("there is a body to try for every endpoint that takes one", () => {
  for (const [name, { body }] of all)
    if (body) expect([name, body.safeParse(bodies[name]).success]).toEqual([name, true]);
});

test.each(guarded)("%s is refused without a token, to a wrong one, and from a foreign page", async (name, endpoint) => {
  expect((await ask(name, endpoint, undefined)).status).toBe(401);
  expect((await ask(name, endpoint, "0".repeat(64))).status).toBe(401);
  expect((await ask(name, endpoint, house.token, { origin: "http://evil.example" })).status).toBe(403);
  expect((await ask(name, endpoint, house.token, { host: "evil.example" })).status).toBe(421);
});

test.each(guarded.filter(([, { access }]) => access !== "any"))(
  "%s is refused to a token that lacks its scope",
  async (name, endpoint) => {
    for (const scope of ["read", "chat", "approve"]) {
      if (endpoint.access === scope) continue;
      expect([scope, (await ask(name, endpoint, tokens[`owner ${scope}`])).status]).toEqual([scope, 403]);
    }
  },
);

test.each(guarded.filter(([name, { path }]) => path.includes(":agency") || name === "run" || name === "serve"))(
  "%s of somebody else's is not found",
  async (name, endpoint) => {
    if (endpoint.access === "admin") return;
    const token = tokens[endpoint.access === "read" ? "mallory read" : "mallory chat"];
    // A socket is told by its close code; see below.
    if (endpoint.status === 101) return;
    for (const extra of [{}, { accept: "text/event-stream" }, forged] as Record<string, string>[]) {
      const answer = await ask(name, endpoint, token, extra);
      expect(answer.status).toBe(404);
      expect(answer.headers["content-type"]).toContain("application/json");
    }
  },
);

test.each(all.filter(([, { method, access }]) => method === "GET" && access === "read"))(
  "%s is answered to a token that may read",
  async (name, endpoint) => {
    const due: Record<string, number> = {
      getBlob: 404,
      openSocket: 400,
      getApp: 404,
      fetchApp: 404,
      getProcess: 404,
      readFile: 404,
      getVersion: 404,
      openLive: 400,
    };
    expect((await ask(name, endpoint, tokens["owner read"])).status).toBe(due[name] ?? 200);
  },
);

/** A socket with everything it says. */
async function connect(path: string, token: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${house.port}${path}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  const frames: any[] = [];
  socket.on("message", (data) => frames.push(JSON.parse(String(data))));
  const closed = new Promise<number>((resolve) => socket.on("close", resolve));
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });
  return { socket, frames, closed };
}

const ways = ["/agents/alice/ws", "/agency/global/agent/alice/ws", "/agents/think/global~alice"];
const liveWays = ["/agents/alice/yjs", "/agency/global/agent/alice/yjs?branch=main"];

test.each([...ways, ...liveWays])(
  "a socket at %s closes with 4403 for whoever does not own the agent",
  async (path) => {
    for (const headers of [{}, forged]) {
      const { closed } = await connect(path, tokens["mallory chat"] as string, headers);
      expect(await closed).toBe(4403);
    }
    const missing = await connect(path.replace("alice", "nobody"), house.token);
    expect(await missing.closed).toBe(4403);
  },
);

test.each(ways)(
  "a socket at %s that may only read is answered an error to chat, cancel and approve, whatever headers it sends",
  async (path) => {
    for (const headers of [{}, forged]) {
      const { socket, frames } = await connect(path, tokens["owner read"] as string, headers);
      await waitUntil("the history", () => frames.some(({ type }) => type === "history"));
      socket.send(JSON.stringify({ type: "chat", id: "m1", content: "hello" }));
      await waitUntil("the first refusal", () => frames.some(({ type }) => type === "error"));
      socket.send(JSON.stringify({ type: "cancel" }));
      socket.send(JSON.stringify({ type: "approve", approved: true }));
      await waitUntil("the third refusal", () => frames.filter(({ type }) => type === "error").length >= 3);
      expect(frames.filter(({ type }) => type === "error").map(({ code }) => code)).toEqual([
        "forbidden",
        "forbidden",
        "forbidden",
      ]);
      expect(frames.map(({ type }) => type)).not.toContain("task-queued");
      socket.close();
    }
    const { messages } = await house.client.call("listMessages", { params: { agency: "global", agent: "alice" } });
    expect(messages).toEqual([]);
  },
);

test("to approve over a socket takes the scope approve, and something that waits", async () => {
  for (const [scope, code] of [
    ["chat", "forbidden"],
    ["approve", "conflict"],
  ] as const) {
    const { token } = await house.client.call("createToken", { body: { name: "t", scopes: ["read", scope] } });
    const { socket, frames } = await connect("/agents/alice/ws", token);
    socket.send(
      JSON.stringify({
        type: "approve",
        approvalId: "a1",
        approved: true,
        reason: "It is fine.",
        modifiedToolCalls: [{ toolName: "bash", args: {} }],
      }),
    );
    const { error, ...answer } = await waitUntil("the answer", () => frames.find(({ type }) => type === "error"));
    expect([scope, answer]).toEqual([scope, { type: "error", code }]);
    if (scope === "approve") expect(error).toBe("Nothing waits for an approval.");
    socket.terminate();
  }
});

test("a client cannot pass for the host: its own x-thinkery headers never arrive", async () => {
  const { socket, frames } = await connect("/agents/think/global~alice", house.token, { "x-thinkery-socket": "1" });
  // Had that header come through, the Agents SDK's own frames would be left out.
  await waitUntil("the SDK's greeting", () => frames.some(({ type }) => type === "cf_agent_identity"));
  socket.terminate();
});

test("a socket takes no query it does not know", async () => {
  for (const query of [
    "ws?after=-1",
    "ws?after=x",
    "ws?only=all",
    "ws?batch=yes",
    "ws?token=x",
    "yjs?branch=../x",
    "yjs?branch=",
    "yjs?token=x",
  ]) {
    const headers = {
      authorization: `Bearer ${house.token}`,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhpbmtlcnktaXMtaG9tZQ==",
    };
    const answer = await send({ port: house.port, path: `/agents/alice/${query}`, headers });
    expect([query, answer.status]).toEqual([query, 400]);
  }
});
