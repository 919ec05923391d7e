import { type Endpoint, endpoints, hasScope, type Scope } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send } from "../kit/wire.ts";
import { teamBodies, teamParams } from "./team-bodies.ts";

// Every endpoint × every kind of caller. New endpoints are included automatically.

let host: HostProcess;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  host = await startHostProcess();
  await host.client.call("createAgency", { body: { id: "den" } });
  for (const agency of ["global", "den"])
    await host.client.call("createAgent", { params: { agency }, body: { name: "alice" } });
  for (const [user, scope] of [
    ["owner", "read"],
    ["owner", "chat"],
    ["owner", "approve"],
    ["mallory", "read"],
    ["mallory", "chat"],
    ["mallory", "approve"],
    ["mallory", "admin"],
  ] as const) {
    const { token } = await host.client.call("createToken", { body: { name: "t", user, scopes: [scope] } });
    tokens[`${user} ${scope}`] = token;
  }
});

afterAll(() => host?.stop());

const params: Record<string, string> = {
  agency: "den",
  agent: "alice",
  name: "think",
  id: "owner.0123456789ab",
  hash: "0".repeat(64),
  path: "items/3",
  version: "1",
  branch: "try",
  user: "nobody",
  task: "task-1",
  schedule: "schedule-1",
  package: "nobody",
  ...teamParams,
};

/** Valid bodies, so that a rejection is due to the caller. */
const bodies: Record<string, unknown> = {
  ...teamBodies,
  login: { code: "x" },
  createTicket: { path: "/who" },
  createLoginCode: {},
  createToken: { name: "t" },
  addUser: { name: "nobody" },
  updateUser: { limits: {} },
  collectBlobs: { dryRun: true },
  createAgency: {},
  updateAgency: { vars: {} },
  putMember: { scopes: ["read"] },
  putBlueprint: { name: "x" },
  deployPackage: { name: "x", manifest: { type: "agent", runtime: "isolate" }, code: "export default {}" },
  rollbackPackage: {},
  putSettings: { settings: {} },
  createAgent: { name: "x" },
  invoke: { message: "hello" },
  cancelTurn: {},
  resolveToolCall: { callId: "call-1", output: "done" },
  createWebhook: { name: "deploys" },
  answerApproval: { approved: true },
  approve: { approved: true },
  answerQuestion: { value: "yes" },
  putPolicy: { rules: [] },
  createTask: { title: "Fix it" },
  updateTask: { status: "complete" },
  createSchedule: { when: 3600, input: "hello" },
  previewSchedule: { when: 3600 },
  updateSchedule: { paused: true },
  createAgencySchedule: { when: 3600, input: "hello", agent: "alice" },
  updateAgencySchedule: { paused: true },
  spawnSubagent: { taskId: "task-1" },
  putApp: { code: "export default {}" },
  editFiles: { edits: [{ write: "a.txt", content: "x" }] },
  revert: { version: 1 },
  createBranch: { name: "try" },
  mergeBranch: { check: "true" },
  putAgencyBudget: { tokens: 1000 },
  putUserBudget: { tokens: 1000 },
  putPreferences: { theme: "dark" },
  run: { agent: "alice@den", message: "hello" },
  serve: { agent: "alice@den", message: "hello" },
};

function request(
  name: string,
  endpoint: Endpoint,
  token: string | undefined,
  extra: Record<string, string> = {},
  below = "",
) {
  const path = endpoint.path
    .replace("/:agent", `/:agent${below}`)
    .replace(/[:*]([a-z]+)/g, (_, key: string) => params[key] ?? "missing");
  const headers = {
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(endpoint.body ? { "content-type": "application/json" } : {}),
    ...extra,
  };
  const body = endpoint.body ? { body: JSON.stringify(bodies[name]) } : {};
  return send({ port: host.port, method: endpoint.method, path, headers, ...body });
}

/** Headers that only the host itself may send to an object. */
const forgedHeaders: Record<string, string> = { "x-thinkery-user": "owner", "x-thinkery-scopes": "admin,chat" };

const all = Object.entries<Endpoint>(endpoints);
const guarded = all.filter(([, { access }]) => access !== "public");

test("there is a valid body for every endpoint that takes one", () => {
  for (const [name, { body }] of all)
    if (body) expect([name, body.safeParse(bodies[name]).success]).toEqual([name, true]);
});

test.each(guarded)(
  "%s is rejected without a token, with a wrong one, and from another origin",
  async (name, endpoint) => {
    expect((await request(name, endpoint, undefined)).status).toBe(401);
    expect((await request(name, endpoint, "0".repeat(64))).status).toBe(401);
    expect((await request(name, endpoint, host.token, { origin: "http://evil.example" })).status).toBe(403);
    expect((await request(name, endpoint, host.token, { host: "evil.example" })).status).toBe(421);
  },
);

test.each(guarded.filter(([, { access }]) => access !== "any"))(
  "%s is rejected for a token without its scope",
  async (name, endpoint) => {
    for (const scope of ["read", "chat", "approve"]) {
      if (endpoint.access !== "owner" && hasScope([scope], endpoint.access as Scope)) continue;
      expect([scope, (await request(name, endpoint, tokens[`owner ${scope}`])).status]).toEqual([scope, 403]);
    }
  },
);

test.each(guarded.filter(([name, { path }]) => path.includes(":agency") || name === "run" || name === "serve"))(
  "%s of another user is not found",
  async (name, endpoint) => {
    const token = tokens[`mallory ${endpoint.access}`];
    // Sockets are rejected by close code; see below.
    if (endpoint.status === 101) return;
    for (const extra of [{}, { accept: "text/event-stream" }, forgedHeaders] as Record<string, string>[]) {
      const response = await request(name, endpoint, token, extra);
      expect(response.status).toBe(404);
      expect(response.headers["content-type"]).toContain("application/json");
    }
  },
);

test.each(guarded.filter(([, { path }]) => path.includes("/agent/:agent")))(
  "%s of an unknown sub-agent is not found, and no shortcut to the agent itself",
  async (name, endpoint) => {
    const isSocket = endpoint.status === 101;
    for (const below of [
      "/sub/ghost",
      "/sub/ghost/sub/other",
      "/sub/a%2Fb",
      "/sub/%F0%9F%90%B1",
      "/sub/x".repeat(1000),
    ]) {
      expect((await request(name, endpoint, undefined, {}, below)).status).toBeGreaterThanOrEqual(401);
      for (const token of [tokens[`mallory ${endpoint.access}`], host.token]) {
        const { status } = await request(name, endpoint, token, { "x-thinkery-sub": "" }, below);
        // A socket is first of all not an upgrade here.
        expect([below.slice(0, 20), isSocket && status === 400 ? 404 : status]).toEqual([below.slice(0, 20), 404]);
      }
    }
  },
);

test.each(guarded.filter(([, { access }]) => access === "owner"))(
  "%s is rejected for the admin of another user",
  async (name, endpoint) => {
    expect((await request(name, endpoint, tokens["mallory admin"])).status).toBe(403);
  },
);

test.each(all.filter(([, { method, access }]) => method === "GET" && access === "read"))(
  "%s is allowed for a token that may read",
  async (name, endpoint) => {
    const expectedStatus: Record<string, number> = {
      getBlob: 404,
      openSocket: 400,
      openAgencySocket: 400,
      getApp: 404,
      fetchApp: 404,
      getProcess: 404,
      getSubagent: 404,
      readFile: 404,
      readDocument: 404,
      getDocumentVersion: 404,
      readResource: 404,
      openLiveDocuments: 400,
      getVersion: 404,
      getSchedule: 404,
      listScheduleRuns: 404,
      getAgencySchedule: 404,
      listAgencyScheduleRuns: 404,
      openLive: 400,
      getPackage: 404,
      getAgentCode: 404,
      listAgentLogs: 404,
      getWorkflow: 404,
      getWorkflowRun: 404,
      followWorkflowRun: 404,
    };
    expect((await request(name, endpoint, tokens["owner read"])).status).toBe(expectedStatus[name] ?? 200);
  },
);

test("a webhook accepts only signed deliveries, from any caller but no other origin", async () => {
  for (const token of [undefined, "0".repeat(64), host.token, ...Object.values(tokens)]) {
    for (const extra of [{}, forgedHeaders, { "x-thinkery-signature": `t=1,v1=${"0".repeat(64)}` }]) {
      for (const below of ["", "/sub/ghost"]) {
        const response = await request("receiveWebhook", endpoints.receiveWebhook, token, extra, below);
        expect([below, response.status]).toEqual([below, 401]);
      }
    }
  }
  const foreign = { origin: "http://evil.example" };
  expect((await request("receiveWebhook", endpoints.receiveWebhook, undefined, foreign)).status).toBe(403);
  const rebound = { host: "evil.example" };
  expect((await request("receiveWebhook", endpoints.receiveWebhook, undefined, rebound)).status).toBe(421);
});

/** Opens a socket and records its frames. */
async function connect(path: string, token: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}${path}`, {
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

const socketPaths = ["/agents/alice/ws", "/agency/global/agent/alice/ws", "/agents/think/global~alice"];
const livePaths = ["/agents/alice/yjs", "/agency/global/agent/alice/yjs?branch=main"];

test.each([...socketPaths, ...livePaths])(
  "a socket at %s closes with 4403 for a user who does not own the agent",
  async (path) => {
    for (const headers of [{}, forgedHeaders]) {
      const { closed } = await connect(path, tokens["mallory chat"] as string, headers);
      expect(await closed).toBe(4403);
    }
    const missing = await connect(path.replace("alice", "nobody"), host.token);
    expect(await missing.closed).toBe(4403);
  },
);

test.each(socketPaths)(
  "a read-only socket at %s gets an error for chat, cancel and approve, whatever headers it sends",
  async (path) => {
    for (const headers of [{}, forgedHeaders]) {
      const { socket, frames } = await connect(path, tokens["owner read"] as string, headers);
      await waitUntil("the history", () => frames.some(({ type }) => type === "history"));
      socket.send(JSON.stringify({ type: "chat", id: "m1", content: "hello" }));
      await waitUntil("the first error", () => frames.some(({ type }) => type === "error"));
      socket.send(JSON.stringify({ type: "cancel" }));
      socket.send(JSON.stringify({ type: "approve", approved: true }));
      await waitUntil("the third error", () => frames.filter(({ type }) => type === "error").length >= 3);
      expect(frames.filter(({ type }) => type === "error").map(({ code }) => code)).toEqual([
        "forbidden",
        "forbidden",
        "forbidden",
      ]);
      expect(frames.map(({ type }) => type)).not.toContain("task-queued");
      socket.close();
    }
    const { messages } = await host.client.call("listMessages", { params: { agency: "global", agent: "alice" } });
    expect(messages).toEqual([]);
  },
);

test("approving over a socket needs the scope approve and a pending call", async () => {
  for (const [scope, code] of [
    ["chat", "forbidden"],
    ["approve", "not_found"],
  ] as const) {
    const { token } = await host.client.call("createToken", { body: { name: "t", scopes: ["read", scope] } });
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
    const { error, ...frame } = await waitUntil("the error", () => frames.find(({ type }) => type === "error"));
    expect([scope, frame]).toEqual([scope, { type: "error", code }]);
    if (scope === "approve") expect(error).toBe("There is no approval with this id.");
    socket.terminate();
  }
});

test("a client cannot impersonate the host: its own x-thinkery headers are removed", async () => {
  const { socket, frames } = await connect("/agents/think/global~alice", host.token, { "x-thinkery-socket": "1" });
  // With that header, the Agents SDK's own frames would be left out.
  await waitUntil("the SDK's greeting", () => frames.some(({ type }) => type === "cf_agent_identity"));
  socket.terminate();
});

test("a socket rejects unknown or invalid query parameters", async () => {
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
      authorization: `Bearer ${host.token}`,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhpbmtlcnktaXMtaG9tZQ==",
    };
    const response = await send({ port: host.port, path: `/agents/alice/${query}`, headers });
    expect([query, response.status]).toEqual([query, 400]);
  }
});
