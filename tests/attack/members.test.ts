import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Endpoint, endpoints, hasScope, intersectScopes, type Scope } from "@thinkery/sdk";
import { type Client, createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { deployAgent } from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send, type WireResponse } from "../kit/wire.ts";

// Every route below an agency × everyone who may be a member of it, or was one. Bob owns the agencies “team”, which he
// shares, and “private”, which he does not. New endpoints are included automatically.

/** What each member may do in “team”, and the scopes of their token. */
const members = {
  reader: { scopes: ["read"], token: ["admin"] },
  chatter: { scopes: ["chat"], token: ["admin"] },
  approver: { scopes: ["approve"], token: ["admin"] },
  partner: { scopes: ["chat", "approve"], token: ["admin"] },
  manager: { scopes: ["admin"], token: ["admin"] },
  // Tokens that may do less than the member.
  visitor: { scopes: ["admin"], token: ["read"] },
  writer: { scopes: ["read", "approve"], token: ["chat"] },
  signer: { scopes: ["chat", "approve"], token: ["approve"] },
  // The host's owner is a member like others.
  owner: { scopes: ["chat"], token: ["admin"] },
} as const satisfies Record<string, { scopes: Scope[]; token: Scope[] }>;

type MemberName = keyof typeof members;
const memberNames = Object.keys(members) as MemberName[];
const outsiders = ["stranger", "former"] as const;

/** Every member may read. */
const getEffective = (name: MemberName) =>
  intersectScopes([...members[name].scopes, "read"], members[name].token) as readonly string[];

const marker = "data-of-bob-only";
const privateMarker = "private-of-bob-only";

let host: HostProcess;
let bob: Client;
const tokens: Record<string, string> = {};
const clients: Record<string, Client> = {};

async function issue(user: string, scopes: readonly Scope[]): Promise<string> {
  return (await host.client.call("createToken", { body: { name: "t", user, scopes: [...scopes] } })).token;
}

async function addUser(user: string, scopes: readonly Scope[] = ["admin"]): Promise<Client> {
  tokens[user] = await issue(user, scopes);
  return (clients[user] = createClient({ url: host.url, token: tokens[user] }));
}

beforeAll(async () => {
  host = await startHostProcess();
  bob = await addUser("bob");
  for (const [agency, text] of [
    ["team", marker],
    ["private", privateMarker],
  ] as const) {
    await bob.call("createAgency", { body: { id: agency, name: text } });
    await bob.call("createAgent", { params: { agency }, body: { name: "alice", system: text } });
    await (await bob.agent(`alice@${agency}`).send(text)).outcome();
    const params = { agency, agent: "alice" };
    await bob.call("editFiles", { params, body: { edits: [{ write: "a.txt", content: text }] } });
  }
  await deployAgent(bob, "coded", "export default defineAgent({ onMessage() {} });", { agency: "team" });
  await bob.call("putUserBudget", { body: { tokens: 123_456_789 } });
  await bob.call("putPreferences", { body: { secret: privateMarker } });
  for (const name of memberNames) {
    await addUser(name, members[name].token);
    const put = await bob.members("team").put(name, [...members[name].scopes]);
    expect(put).toMatchObject({ kind: "user", name });
  }
  for (const name of outsiders) await addUser(name);
  await bob.members("team").put("former", ["admin"]);
  await clients.former?.call("getAgency", { params: { agency: "team@bob" } });
  await bob.members("team").remove("former");
}, 60_000);

afterAll(() => host?.stop());

interface RequestOptions {
  agency?: string;
  agent?: string;
  headers?: Record<string, string>;
  below?: string;
  body?: unknown;
}

/** Requests what does not exist in the agency, so that a request that is let in changes nothing. */
function request(endpoint: Endpoint, user: string, options: RequestOptions = {}): Promise<WireResponse> {
  const { agency = "team@bob", agent = "ghost", headers = {}, below = "", body = {} } = options;
  const params: Record<string, string> = {
    agency,
    agent,
    user: "nobody",
    hash: "0".repeat(64),
    path: "ghost.txt",
    version: "1",
  };
  const path = endpoint.path
    .replace("/:agent", `/:agent${below}`)
    .replace(/[:*]([a-z]+)/g, (_, key: string) => params[key] ?? "ghost");
  const hasBody = endpoint.body !== undefined;
  return send({
    port: host.port,
    method: endpoint.method,
    path,
    headers: {
      authorization: `Bearer ${tokens[user]}`,
      ...(hasBody ? { "content-type": "application/json" } : {}),
      ...headers,
    },
    ...(hasBody ? { body: JSON.stringify(body) } : {}),
  });
}

const inAgency = Object.entries<Endpoint>(endpoints).filter(
  ([, { path, access }]) => path.includes(":agency") && access !== "public",
);
const plain = inAgency.filter(([, { status }]) => status !== 101);
const sockets = inAgency.filter(([, { status }]) => status === 101);

const readError = ({ body }: WireResponse) => (JSON.parse(body) as { error: { code: string; message: string } }).error;

/** Whether a response says that there is no such agency, or that the caller may not do this in it. */
function isRefused(response: WireResponse): boolean {
  if (response.status === 401 || response.status === 403) return true;
  return response.status === 404 && readError(response).message.startsWith("Agency ");
}

function mayCall(name: MemberName, { access, excludesMembers }: Endpoint): boolean {
  return !excludesMembers && hasScope(getEffective(name), access as Scope);
}

/** Endpoints without a handler are the same for everyone. */
const isBound = async (endpoint: Endpoint) => (await request(endpoint, "bob", { agency: "ghost" })).status !== 405;

test("what takes more than being a member is known", () => {
  const excluded = inAgency.filter(([, { excludesMembers }]) => excludesMembers).map(([name]) => name);
  expect(excluded.toSorted()).toEqual(
    [
      "createWebhook",
      "deleteAgency",
      "deleteAgencyBudget",
      "deleteMember",
      "deletePackage",
      "deployPackage",
      "putAgencyBudget",
      "putMember",
      "rollbackPackage",
    ].toSorted(),
  );
});

test.each(plain)("%s is for members with its scope, of whatever is in their token", async (_name, endpoint) => {
  if (!(await isBound(endpoint))) return;
  for (const name of memberNames) {
    const response = await request(endpoint, name);
    if (mayCall(name, endpoint)) {
      expect([name, response.status, isRefused(response)]).toEqual([name, response.status, false]);
      continue;
    }
    expect([name, response.status, readError(response).code]).toEqual([name, 403, "forbidden"]);
    expect(response.body).not.toContain(marker);
    // The sub-agents of an agent, too, and whatever headers a client makes up.
    const forged = { "x-thinkery-user": "bob", "x-thinkery-scopes": "admin", "x-thinkery-membership": "member=admin" };
    expect([name, (await request(endpoint, name, { headers: forged })).status]).toEqual([name, 403]);
    if (endpoint.path.includes("/agent/:agent"))
      expect([name, (await request(endpoint, name, { below: "/sub/ghost" })).status]).toEqual([name, 403]);
  }
});

test.each(plain)("%s tells nobody else whether the agency exists", async (_name, endpoint) => {
  if (!(await isBound(endpoint))) return;
  for (const user of outsiders) {
    const missing = await request(endpoint, user, { agency: "nothing@bob" });
    expect(missing.status).toBe(404);
    for (const agency of ["team@bob", "private@bob", "bob@bob", "global@owner", "team@nobody", "team%40bob"])
      for (const agent of ["ghost", "alice"]) {
        const response = await request(endpoint, user, { agency, agent });
        const toComparable = ({ status, headers, body }: WireResponse, ref: string) => {
          const { date: _, "content-length": __, ...rest } = headers;
          return { status, headers: rest, body: body.replace(ref.replace("%40", "@"), "…") };
        };
        expect(toComparable(response, agency)).toEqual(toComparable(missing, "nothing@bob"));
      }
  }
});

test.each(plain)("%s of another agency of the same owner is not found", async (_name, endpoint) => {
  if (!(await isBound(endpoint))) return;
  const scope = endpoint.access as Scope;
  for (const name of memberNames.filter((name) => hasScope(members[name].token, scope)))
    for (const agency of ["private@bob", "bob@bob", "Team@bob", "team@Bob", "team:x@bob"]) {
      const response = await request(endpoint, name, { agency, agent: "alice" });
      expect([name, agency, response.status]).toEqual([name, agency, 404]);
      expect(readError(response).message).toBe(`Agency “${agency}” not found.`);
    }
  // And without the owner's name, it is one of the caller's own, which does not exist.
  const own = await request(endpoint, "manager", { agency: "team" });
  expect([400, 404]).toContain(own.status);
});

test("paths that name an agency in an odd way reach nothing", async () => {
  const headers = { authorization: `Bearer ${tokens.manager}` };
  for (const agency of [
    "team@bob@bob",
    "@bob",
    "team@",
    "team@bob~alice",
    "team@bob%2Fx",
    "team@b%20b",
    "team%0a@bob",
  ]) {
    const { status, body } = await send({ port: host.port, path: `/agency/${agency}/agents`, headers });
    expect([agency, [400, 404].includes(status), body.includes("alice")]).toEqual([agency, true, false]);
  }
  for (const path of ["/agency/team@bob/../private@bob/agents", "/agency/team@bob/%2e%2e/private@bob/agents"]) {
    const { status, body } = await send({ port: host.port, path, headers });
    expect([path, status, body.includes(privateMarker)]).toEqual([path, 404, false]);
  }
});

test("asking about agencies of others creates nothing", async () => {
  const list = async () =>
    (await readdir(join(host.home, "objects"), { recursive: true })).filter((name) => !/-wal|-shm/.test(name));
  const before = await list();
  for (let round = 0; round < 20; round++) {
    const agency = `guess-${round}@${round % 2 === 0 ? "bob" : `user-${round}`}`;
    expect((await request(endpoints.getAgency, "stranger", { agency })).status).toBe(404);
    expect((await request(endpoints.getState, "manager", { agency })).status).toBe(404);
    await send({
      port: host.port,
      method: "POST",
      path: "/serve",
      headers: { authorization: `Bearer ${tokens.stranger}`, "content-type": "application/json" },
      body: JSON.stringify({ agent: `alice@${agency}`, message: "hello" }),
    });
  }
  expect(await list()).toEqual(before);
});

test.each(["run", "serve"] as const)("/%s in an agency of another user takes chat there", async (name) => {
  const post = (user: string, agent: string) => request(endpoints[name], user, { body: { agent, message: "hello" } });
  for (const member of memberNames) {
    const expected = hasScope(members[member].token, "chat") ? (mayCall(member, endpoints.invoke) ? 200 : 403) : 403;
    const response = await post(member, "alice@team@bob");
    expect([member, response.status]).toEqual([member, expected]);
    if (!hasScope(members[member].token, "chat")) continue;
    const other = await post(member, "alice@private@bob");
    expect([member, other.status, other.body.includes(privateMarker)]).toEqual([member, 404, false]);
  }
  for (const user of outsiders) {
    const responses = await Promise.all(["team@bob", "nothing@bob"].map((agency) => post(user, `alice@${agency}`)));
    expect(responses.map(({ status }) => status)).toEqual([404, 404]);
    expect(responses.map(({ body }) => body.replace(/team|nothing/, "…"))).toEqual([
      responses[0]?.body.replace("team", "…"),
      responses[0]?.body.replace("team", "…"),
    ]);
  }
});

test("a member with admin is no admin of the owner, of other members, or of the host", async () => {
  const { id: bobsToken } = await bob.call("createToken", { body: { name: "bob's" } });
  const manager = clients.manager as Client;
  const team = { agency: "team@bob" };
  const ghost = { type: "agent", runtime: "isolate" } as const;
  const refused: Record<string, [code: string, call: () => Promise<unknown>]> = {
    "adds a member": ["forbidden", () => manager.members("team@bob").put("stranger")],
    "gives themselves more": ["forbidden", () => manager.members("team@bob").put("manager", ["admin"])],
    "removes a member": ["forbidden", () => manager.members("team@bob").remove("reader")],
    "removes the owner": ["forbidden", () => manager.members("team@bob").remove("bob")],
    "deletes the agency": ["forbidden", () => manager.call("deleteAgency", { params: team })],
    "deploys code": [
      "forbidden",
      () =>
        manager.call("deployPackage", {
          params: team,
          body: { name: "coded", manifest: ghost, code: "export default {}" },
        }),
    ],
    "rolls back code": [
      "forbidden",
      () => manager.call("rollbackPackage", { params: { ...team, package: "coded" }, body: {} }),
    ],
    "deletes code": ["forbidden", () => manager.call("deletePackage", { params: { ...team, package: "coded" } })],
    "creates a webhook": [
      "forbidden",
      () => manager.call("createWebhook", { params: { ...team, agent: "alice" }, body: { name: "hook" } }),
    ],
    "raises the budget": ["forbidden", () => manager.call("putAgencyBudget", { params: team, body: { tokens: 1e9 } })],
    "removes the budget": ["forbidden", () => manager.call("deleteAgencyBudget", { params: team })],
    "creates a token": ["forbidden", () => manager.call("createToken", { body: { name: "x", user: "bob" } })],
    "creates a login": ["forbidden", () => manager.call("createLoginCode", { body: { user: "bob" } })],
    "lists tokens": ["forbidden", () => manager.call("listTokens", { query: { user: "bob" } })],
    "revokes a token": ["not_found", () => manager.call("revokeToken", { params: { id: bobsToken } })],
    "lists users": ["forbidden", () => manager.call("listUsers")],
    "adds a user": ["forbidden", () => manager.call("addUser", { body: { name: "x" } })],
    "removes a user": ["forbidden", () => manager.call("removeUser", { params: { user: "bob" } })],
    "stops the host": ["forbidden", () => manager.call("shutdown")],
  };
  for (const [what, [code, call]] of Object.entries(refused)) {
    const found = await call().then(
      () => "done",
      (error: { code: string }) => error.code,
    );
    expect([what, found]).toEqual([what, code]);
  }
  expect(await bob.call("listTokens").then(({ tokens }) => tokens.map(({ id }) => id))).toContain(bobsToken);
});

test("a member learns nothing of the owner’s budget, preferences, tokens and other agencies", async () => {
  const manager = clients.manager as Client;
  const responses = [
    await manager.call("getUser"),
    await manager.call("getUserUsage"),
    await manager.call("getPreferences"),
    await manager.call("listAgencies"),
    await manager.call("listUserAgents"),
    await manager.call("listTokens"),
    await manager.call("getAgencyUsage", { params: { agency: "team@bob" } }),
    await manager.call("getAgencyBudget", { params: { agency: "team@bob" } }),
    await manager.call("getUsage", { params: { agency: "team@bob", agent: "alice" } }),
    await manager.call("getAgency", { params: { agency: "team@bob" } }),
    await manager.call("listMembers", { params: { agency: "team@bob" } }),
  ];
  for (const [index, response] of responses.entries()) {
    expect([index, JSON.stringify(response).includes(privateMarker)]).toEqual([index, false]);
    expect([index, JSON.stringify(response).includes("123456789")]).toEqual([index, false]);
  }
  // The owner sees both.
  expect(JSON.stringify(await bob.call("getAgencyUsage", { params: { agency: "team" } }))).toContain("123456789");
  expect(JSON.stringify(await bob.call("getUser"))).toContain(privateMarker);
});

test("a ticket opens in an agency of another user what its member may read, while they are one", async () => {
  await addUser("guest");
  await bob.members("team").put("guest", ["read"]);
  const createTicket = async (path: string) => (await clients.guest?.call("createTicket", { body: { path } }))?.ticket;
  const open = (path: string, ticket: string | undefined) =>
    send({ port: host.port, path: `${path}?ticket=${ticket}` }).then(({ status }) => status);
  const shared = "/agency/team@bob/agent/alice/files/a.txt";
  const other = "/agency/private@bob/agent/alice/files/a.txt";
  expect(await open(shared, await createTicket(shared))).toBe(200);
  expect(await open(other, await createTicket(other))).toBe(404);
  const kept = await createTicket(shared);
  await bob.members("team").remove("guest");
  expect(await open(shared, kept)).toBe(404);
});

interface Opened {
  socket: WebSocket;
  frames: string[];
  code?: number;
  status?: number;
}

async function connect(path: string, user: string): Promise<Opened> {
  const headers = { authorization: `Bearer ${tokens[user]}` };
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}${path}`, { headers });
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
  ...sockets.map(([, { path }]) => path.replace(":agency", agency).replace(":agent", "alice")),
  `/agents/think/${agency}~alice`,
  `/agents/agency/${agency}`,
];

/** Sockets that have a handler. */
async function listOpenPaths(agency: string): Promise<string[]> {
  const paths: string[] = [];
  for (const path of listSocketPaths(agency)) {
    const { socket, status } = await connect(path.replace(agency, agency.replace("@bob", "")), "bob");
    socket.terminate();
    if (status !== 405) paths.push(path);
  }
  return paths;
}

test("sockets open for members whose token may read, and for nobody else", async () => {
  const paths = await listOpenPaths("team@bob");
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
  const { messages } = await bob.call("listMessages", { params: { agency: "team", agent: "alice" } });
  expect(messages.map(({ content }) => content)).not.toContain("no");
});

/** Opens everything that stays open, as a member. */
async function openAll(user: string, paths: readonly string[]) {
  const opened = await Promise.all(paths.map((path) => connect(path, user)));
  const stream: { isOver?: boolean } = {};
  const response = await fetch(`${host.url}/agency/team@bob/agent/alice/events`, {
    headers: { authorization: `Bearer ${tokens[user]}`, accept: "text/event-stream" },
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
  const paths = await listOpenPaths("team@bob");
  await addUser("leaving");
  tokens.owner = host.token;
  for (const user of ["leaving", "owner"]) {
    await bob.members("team").put(user, ["chat", "approve"]);
    const [leaving, staying] = [await openAll(user, paths), await openAll("chatter", paths)];
    await bob.members("team").remove(user);
    await expectEnd(paths, leaving);
    for (const [name, endpoint] of plain)
      if (await isBound(endpoint)) expect([name, (await request(endpoint, user)).status]).toEqual([name, 404]);
    expect(listCodes(staying)).toEqual(paths.map(() => undefined));
    expect(staying.stream.isOver).toBeUndefined();
    for (const { socket } of staying.opened) socket.terminate();
  }
});

test("what a membership no longer covers ends, and what it still covers stays", async () => {
  const paths = await listOpenPaths("team@bob");
  await addUser("shrinking");
  tokens.watching = await issue("shrinking", ["read"]);
  await bob.members("team").put("shrinking", ["chat", "approve"]);
  const [chatting, watching] = [await openAll("shrinking", paths), await openAll("watching", paths)];
  await bob.members("team").put("shrinking", ["read"]);
  await expectEnd(paths, chatting);
  expect((await request(endpoints.invoke, "shrinking")).status).toBe(403);
  expect((await request(endpoints.getAgency, "shrinking")).status).toBe(200);
  expect(listCodes(watching)).toEqual(paths.map(() => undefined));
  const reading = await openAll("shrinking", paths);
  await bob.members("team").put("shrinking", ["admin"]);
  expect((await request(endpoints.putPolicy, "shrinking")).status).toBe(400);
  for (const all of [reading, watching]) {
    expect(listCodes(all)).toEqual(paths.map(() => undefined));
    for (const { socket } of all.opened) socket.terminate();
  }
});

test("a socket that is still connecting when its member is removed closes, too", async () => {
  await addUser("racing");
  for (let round = 0; round < 10; round++) {
    await bob.members("team").put("racing", ["chat"]);
    const opening = connect("/agency/team@bob/agent/alice/ws", "racing");
    await bob.members("team").remove("racing");
    const opened = await opening;
    expect(await waitUntil("the socket to close", () => opened.code)).toBe(4403);
    expect((await request(endpoints.getAgency, "racing")).status).toBe(404);
  }
});

test("requests that race with a removal leave no access behind", async () => {
  await addUser("sprinter");
  for (let round = 0; round < 10; round++) {
    await bob.members("team").put("sprinter", ["chat"]);
    const racing = Array.from({ length: 10 }, () => request(endpoints.getAgency, "sprinter"));
    await bob.members("team").remove("sprinter");
    expect((await request(endpoints.getAgency, "sprinter")).status).toBe(404);
    await Promise.all(racing);
    expect((await request(endpoints.getAgency, "sprinter")).status).toBe(404);
  }
});
