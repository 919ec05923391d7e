import { endpoints, hasScope } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import {
  getEffective,
  memberNames,
  openSharedAgency,
  plainEndpoints,
  type SharedAgency,
  socketEndpoints,
} from "../kit/shared-agency.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Sockets and streams of members: they have the scopes of the membership, and end with it.

let shared: SharedAgency;

beforeAll(async () => {
  shared = await openSharedAgency();
}, 60_000);

afterAll(() => shared?.stop());

interface Opened {
  socket: WebSocket;
  frames: string[];
  code?: number;
  status?: number;
}

async function connect(path: string, user: string): Promise<Opened> {
  const headers = { authorization: `Bearer ${shared.tokens[user]}` };
  const socket = new WebSocket(`ws://127.0.0.1:${shared.host.port}${path}`, { headers });
  const opened: Opened = { socket, frames: [] };
  socket.on("message", (data) => opened.frames.push(String(data)));
  socket.on("close", (code) => (opened.code = code));
  return new Promise((resolve) => {
    socket.on("open", () => resolve(opened));
    socket.on("unexpected-response", (_, { statusCode = 0 }) => {
      opened.status = statusCode;
      resolve(opened);
    });
    socket.on("error", () => {});
  });
}

const listSocketPaths = (agency: string) => [
  ...socketEndpoints.map(([, { path }]) => path.replace(":agency", agency).replace(":agent", "alice")),
  `/agents/think/${agency}~alice`,
  `/agents/agency/${agency}`,
];

test("sockets open for members whose token may read, and for nobody else", async () => {
  const paths = listSocketPaths("team@bob");
  expect(paths.length).toBeGreaterThanOrEqual(5);
  for (const path of paths) {
    for (const name of memberNames) {
      const opened = await connect(path, name);
      const mayRead = hasScope(getEffective(name), "read");
      expect([path, name, opened.status]).toEqual([path, name, mayRead ? undefined : 403]);
      if (mayRead) await waitUntil(`a frame at ${path}`, () => opened.frames.length > 0);
      expect([path, name, opened.code]).toEqual([path, name, undefined]);
      opened.socket.terminate();
    }
    for (const [user, at] of [
      ["stranger", path],
      ["former", path],
      ["stranger", path.replace("team@bob", "nothing@bob")],
      ["manager", path.replace("team@bob", "private@bob")],
    ] as const) {
      const opened = await connect(at, user);
      expect([at, user, await waitUntil("the close", () => opened.code)]).toEqual([at, user, 4403]);
      expect(opened.frames).toEqual([]);
    }
  }
  const user = await connect("/agents/user/bob", "manager");
  expect(await waitUntil("the close", () => user.code)).toBe(4403);
});

test("what a member sends over a socket takes the scope of their membership", async () => {
  for (const [name, type, code] of [
    ["reader", "chat", "forbidden"],
    ["approver", "chat", "forbidden"],
    ["visitor", "chat", "forbidden"],
    ["chatter", "approve", "forbidden"],
    ["approver", "approve", "conflict"],
    ["writer", "approve", "forbidden"],
  ] as const) {
    for (const path of ["/agency/team@bob/agent/alice/ws", "/agents/think/team@bob~alice"]) {
      const { socket, frames } = await connect(path, name);
      socket.send(JSON.stringify(type === "chat" ? { type, id: "m1", content: "no" } : { type, approved: true }));
      const error = await waitUntil("the error", () => frames.find((frame) => JSON.parse(frame).type === "error"));
      expect([name, path, JSON.parse(error).code]).toEqual([name, path, code]);
      socket.terminate();
    }
  }
  // The live document is not changed by those who may only read; tests/attack/yjs sends what would change it.
  const { messages } = await shared.bob.call("listMessages", { params: { agency: "team", agent: "alice" } });
  expect(messages.map(({ content }) => content)).not.toContain("no");
});

/** Opens everything that stays open, as a member. */
async function openAll(user: string, paths: readonly string[]) {
  const opened = await Promise.all(paths.map((path) => connect(path, user)));
  const stream: { isOver?: boolean } = {};
  const response = await fetch(`${shared.host.url}/agency/team@bob/agent/alice/events`, {
    headers: { authorization: `Bearer ${shared.tokens[user]}`, accept: "text/event-stream" },
  });
  expect([user, response.status]).toEqual([user, 200]);
  void (async () => {
    try {
      for await (const _ of response.body ?? []) continue;
    } finally {
      stream.isOver = true;
    }
  })().catch(() => {});
  return { opened, stream };
}

const listCodes = ({ opened }: Awaited<ReturnType<typeof openAll>>) => opened.map(({ code }) => code);

async function expectEnd(paths: readonly string[], all: Awaited<ReturnType<typeof openAll>>): Promise<void> {
  for (const [index, opened] of all.opened.entries())
    expect([paths[index], await waitUntil(`the end of ${paths[index]}`, () => opened.code)]).toEqual([
      paths[index],
      4403,
    ]);
  await waitUntil("the end of the stream", () => all.stream.isOver);
}

test("a removed member loses sockets, streams and access at once, with the admin token, too", async () => {
  const paths = listSocketPaths("team@bob");
  await shared.addUser("leaving");
  shared.tokens.owner = shared.host.token;
  for (const user of ["leaving", "owner"]) {
    await shared.bob.members("team").put(user, ["chat", "approve"]);
    const [leaving, staying] = [await openAll(user, paths), await openAll("chatter", paths)];
    await shared.bob.members("team").remove(user);
    await expectEnd(paths, leaving);
    for (const [name, endpoint] of plainEndpoints)
      expect([name, (await shared.request(endpoint, user)).status]).toEqual([name, 404]);
    expect(listCodes(staying)).toEqual(paths.map(() => undefined));
    expect(staying.stream.isOver).toBeUndefined();
    for (const { socket } of staying.opened) socket.terminate();
  }
});

test("what a membership no longer covers ends, and what it still covers stays", async () => {
  const paths = listSocketPaths("team@bob");
  await shared.addUser("shrinking");
  shared.tokens.watching = await shared.issueToken("shrinking", ["read"]);
  await shared.bob.members("team").put("shrinking", ["chat", "approve"]);
  const [chatting, watching] = [await openAll("shrinking", paths), await openAll("watching", paths)];
  await shared.bob.members("team").put("shrinking", ["read"]);
  await expectEnd(paths, chatting);
  expect((await shared.request(endpoints.invoke, "shrinking")).status).toBe(403);
  expect((await shared.request(endpoints.getAgency, "shrinking")).status).toBe(200);
  expect(listCodes(watching)).toEqual(paths.map(() => undefined));
  const reading = await openAll("shrinking", paths);
  await shared.bob.members("team").put("shrinking", ["admin"]);
  expect((await shared.request(endpoints.putPolicy, "shrinking")).status).toBe(400);
  for (const all of [reading, watching]) {
    expect(listCodes(all)).toEqual(paths.map(() => undefined));
    for (const { socket } of all.opened) socket.terminate();
  }
});

test("a socket that is still connecting when its member is removed closes, too", async () => {
  await shared.addUser("racing");
  for (let round = 0; round < 10; round++) {
    await shared.bob.members("team").put("racing", ["chat"]);
    const opening = connect("/agency/team@bob/agent/alice/ws", "racing");
    await shared.bob.members("team").remove("racing");
    const opened = await opening;
    expect(await waitUntil("the socket to close", () => opened.code)).toBe(4403);
    expect((await shared.request(endpoints.getAgency, "racing")).status).toBe(404);
  }
});
