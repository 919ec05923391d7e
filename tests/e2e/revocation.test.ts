import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Sockets and streams end with the credential that opened them, within a second.

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess();
  await host.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
  const params = { agency: "global", agent: "alice" };
  const { taskId } = await host.client.call("createTask", { params, body: { title: "count" } });
  const { facetName } = await host.client.call("spawnSubagent", { params, body: { taskId } });
  // It can be connected to once it has started.
  const state = `${host.url}/agents/alice/sub/${facetName}/state`;
  const headers = { authorization: `Bearer ${host.token}` };
  await waitUntil("the sub-agent to start", async () => (await fetch(state, { headers })).ok);
  socketPaths.push(...["ws", "yjs"].map((name) => `/agents/alice/sub/${facetName}/${name}`));
  socketPaths.push(`/agents/think/global~alice/sub/think/${facetName}`);
  streamPaths.push(`/agents/alice/sub/${facetName}/events`);
});

afterAll(() => host?.stop());

const socketPaths = [
  "/agents/alice/ws",
  "/agency/global/agent/alice/ws?only=events",
  "/agents/alice/yjs",
  "/agents/think/global~alice",
  "/agents/agency/global",
  "/agents/user/owner",
];
const streamPaths = ["/agents/alice/events"];

const issueToken = (expiresInSeconds?: number) =>
  host.client.call("createToken", {
    body: { name: "t", scopes: ["chat"], ...(expiresInSeconds ? { expiresInSeconds } : {}) },
  });

interface OpenSocket {
  socket: WebSocket;
  closed?: { code: number; at: number };
}

const openSocket = (path: string, token: string) => connect(path, { authorization: `Bearer ${token}` });

async function connect(path: string, headers: Record<string, string>): Promise<OpenSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}${path}`, { headers });
  const opened: OpenSocket = { socket };
  socket.on("close", (code) => (opened.closed = { code, at: Date.now() }));
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });
  return opened;
}

async function openStream(path: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
  const response = await fetch(host.url + path, { headers });
  const stream: { endedAt?: number } = {};
  void (async () => {
    try {
      for await (const _ of response.body ?? []) continue;
    } finally {
      stream.endedAt = Date.now();
    }
  })().catch(() => {});
  return stream;
}

async function openAll(token: string) {
  const sockets = await Promise.all(socketPaths.map((path) => openSocket(path, token)));
  return { sockets, streams: await Promise.all(streamPaths.map((path) => openStream(path, token))) };
}

async function expectEndAfter(at: number, { sockets, streams }: Awaited<ReturnType<typeof openAll>>) {
  await waitUntil("the streams to end", () => streams.every(({ endedAt }) => endedAt));
  for (const [index, opened] of sockets.entries()) {
    await waitUntil(`the socket at ${socketPaths[index]} to close`, () => opened.closed);
    expect([socketPaths[index], opened.closed?.code]).toEqual([socketPaths[index], 4401]);
  }
  const ends = [...sockets.map(({ closed }) => closed?.at), ...streams.map(({ endedAt }) => endedAt)];
  const delays = ends.map((end = 0) => end - at);
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  return Math.max(...delays);
}

test("a revoked token's sockets and streams end at once, and others stay open", async () => {
  const [{ token, id }, other] = [await issueToken(), await issueToken()];
  const opened = await openAll(token);
  const kept = await openAll(other.token);
  const byAdmin = await openAll(host.token);
  const at = Date.now();
  await host.client.call("revokeToken", { params: { id } });
  expect(await expectEndAfter(at, opened)).toBeLessThan(3000);
  for (const { sockets, streams } of [kept, byAdmin]) {
    expect(sockets.map(({ closed }) => closed)).toEqual(socketPaths.map(() => undefined));
    expect(streams.map(({ endedAt }) => endedAt)).toEqual(streamPaths.map(() => undefined));
    for (const { socket } of sockets) socket.terminate();
  }
});

test("an expired token's sockets and streams end within a second", async () => {
  const { token, expiresAt } = await issueToken(3);
  const opened = await openAll(token);
  expect(await expectEndAfter(Date.parse(expiresAt ?? ""), opened)).toBeLessThan(3000);
});

test("a page's sockets close when it logs out", async () => {
  const { code } = await host.client.call("createLoginCode");
  const headers = { "content-type": "application/json", origin: host.url };
  const login = await fetch(`${host.url}/login`, { method: "POST", headers, body: JSON.stringify({ code }) });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { pageSecret } = (await login.json()) as { pageSecret: string };
  const page = { cookie, origin: host.url, "x-thinkery-page": pageSecret };
  const opened = await connect("/agents/alice/ws", page);
  await fetch(`${host.url}/logout`, { method: "POST", headers: { ...headers, ...page } });
  expect((await waitUntil("the socket to close", () => opened.closed)).code).toBe(4401);
});

test("a client that ignores the close can send nothing more", async () => {
  const { token, id } = await issueToken();
  const { socket } = await openSocket("/agents/alice/ws", token);
  const raw = (socket as unknown as { _receiver: { removeAllListeners(event: string): void } })._receiver;
  raw.removeAllListeners("conclude");
  await host.client.call("revokeToken", { params: { id } });
  socket.send(JSON.stringify({ type: "chat", id: "late", content: "still here?" }));
  await host.client.agent("alice").send("the next message");
  const { messages } = await host.client.call("listMessages", { params: { agency: "global", agent: "alice" } });
  expect(messages.map(({ content }) => content)).not.toContain("still here?");
  socket.terminate();
});

test("a socket that is still connecting when its token is revoked closes, too", async () => {
  for (let round = 0; round < 10; round++) {
    const { token, id } = await issueToken();
    const opening = openSocket("/agents/alice/ws", token).catch(() => undefined);
    await host.client.call("revokeToken", { params: { id } });
    const opened = await opening;
    if (opened) expect((await waitUntil("the socket to close", () => opened.closed)).code).toBe(4401);
  }
});
