import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Endpoint, endpoints, hasScope, type Scope } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  getEffective,
  type MemberName,
  memberNames,
  members,
  openSharedAgency,
  outsiders,
  plainEndpoints,
  privateMarker,
  type SharedAgency,
  socketEndpoints,
  teamMarker,
  userBudget,
} from "../kit/shared-agency.ts";
import { send, type WireResponse } from "../kit/wire.ts";

// Every route below an agency × everyone who is a member of it, was one, or never was. New endpoints are included
// automatically.

let shared: SharedAgency;

beforeAll(async () => {
  shared = await openSharedAgency();
}, 60_000);

afterAll(() => shared?.stop());

const readError = ({ body }: WireResponse) => (JSON.parse(body) as { error: { code: string; message: string } }).error;

/** Whether a response says that there is no such agency, or that the caller may not do this in it. */
function isRefused(response: WireResponse): boolean {
  if (response.status === 401 || response.status === 403) return true;
  return response.status === 404 && readError(response).message.startsWith("Agency ");
}

function mayCall(name: MemberName, { access, excludesMembers }: Endpoint): boolean {
  return !excludesMembers && hasScope(getEffective(name), access as Scope);
}

test("what takes more than being a member is known", () => {
  const excluded = [...plainEndpoints, ...socketEndpoints]
    .filter(([, { excludesMembers }]) => excludesMembers)
    .map(([name]) => name);
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

test.each(plainEndpoints)(
  "%s is for members with its scope, of whatever is in their token",
  async (_name, endpoint) => {
    for (const name of memberNames) {
      const response = await shared.request(endpoint, name);
      if (mayCall(name, endpoint)) {
        expect([name, response.status, isRefused(response)]).toEqual([name, response.status, false]);
        continue;
      }
      expect([name, response.status, readError(response).code]).toEqual([name, 403, "forbidden"]);
      expect(response.body).not.toContain(teamMarker);
      // The sub-agents of an agent, too, and whatever headers a client makes up.
      const forged = {
        "x-thinkery-user": "bob",
        "x-thinkery-scopes": "admin",
        "x-thinkery-membership": "member=admin",
      };
      expect([name, (await shared.request(endpoint, name, { headers: forged })).status]).toEqual([name, 403]);
      if (endpoint.path.includes("/agent/:agent"))
        expect([name, (await shared.request(endpoint, name, { below: "/sub/ghost" })).status]).toEqual([name, 403]);
    }
  },
);

test.each(plainEndpoints)("%s tells nobody else whether the agency exists", async (_name, endpoint) => {
  for (const user of outsiders) {
    const missing = await shared.request(endpoint, user, { agency: "nothing@bob" });
    expect(missing.status).toBe(404);
    for (const agency of ["team@bob", "private@bob", "bob@bob", "global@owner", "team@nobody", "team%40bob"])
      for (const agent of ["ghost", "alice"]) {
        const response = await shared.request(endpoint, user, { agency, agent });
        const toComparable = ({ status, headers, body }: WireResponse, ref: string) => {
          const { date: _, "content-length": __, ...rest } = headers;
          return { status, headers: rest, body: body.replace(ref.replace("%40", "@"), "…") };
        };
        expect(toComparable(response, agency)).toEqual(toComparable(missing, "nothing@bob"));
      }
  }
});

test.each(plainEndpoints)("%s of another agency of the same owner is not found", async (_name, endpoint) => {
  const scope = endpoint.access as Scope;
  for (const name of memberNames.filter((name) => hasScope(members[name].token, scope)))
    for (const agency of ["private@bob", "bob@bob", "Team@bob", "team@Bob", "team:x@bob"]) {
      const response = await shared.request(endpoint, name, { agency, agent: "alice" });
      expect([name, agency, response.status]).toEqual([name, agency, 404]);
      expect(readError(response).message).toBe(`Agency “${agency}” not found.`);
    }
  // And without the owner's name, it is one of the caller's own, which does not exist.
  const own = await shared.request(endpoint, "manager", { agency: "team" });
  expect([400, 404]).toContain(own.status);
});

test("paths that name an agency in an odd way reach nothing", async () => {
  const headers = { authorization: `Bearer ${shared.tokens.manager}` };
  for (const agency of [
    "team@bob@bob",
    "@bob",
    "team@",
    "team@bob~alice",
    "team@bob%2Fx",
    "team@b%20b",
    "team%0a@bob",
  ]) {
    const { status, body } = await send({ port: shared.host.port, path: `/agency/${agency}/agents`, headers });
    expect([agency, [400, 404].includes(status), body.includes("alice")]).toEqual([agency, true, false]);
  }
  for (const path of ["/agency/team@bob/../private@bob/agents", "/agency/team@bob/%2e%2e/private@bob/agents"]) {
    const { status, body } = await send({ port: shared.host.port, path, headers });
    expect([path, status, body.includes(privateMarker)]).toEqual([path, 404, false]);
  }
});

test("asking about agencies of others creates nothing", async () => {
  const list = async () =>
    (await readdir(join(shared.host.home, "objects"), { recursive: true })).filter((name) => !/-wal|-shm/.test(name));
  const before = await list();
  for (let round = 0; round < 20; round++) {
    const agency = `guess-${round}@${round % 2 === 0 ? "bob" : `user-${round}`}`;
    expect((await shared.request(endpoints.getAgency, "stranger", { agency })).status).toBe(404);
    expect((await shared.request(endpoints.getState, "manager", { agency })).status).toBe(404);
    await send({
      port: shared.host.port,
      method: "POST",
      path: "/serve",
      headers: { authorization: `Bearer ${shared.tokens.stranger}`, "content-type": "application/json" },
      body: JSON.stringify({ agent: `alice@${agency}`, message: "hello" }),
    });
  }
  expect(await list()).toEqual(before);
});

test.each(["run", "serve"] as const)("/%s in an agency of another user takes chat there", async (name) => {
  const post = (user: string, agent: string) =>
    shared.request(endpoints[name], user, { body: { agent, message: "hello" } });
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
  const { id: bobsToken } = await shared.bob.call("createToken", { body: { name: "bob's" } });
  const manager = shared.getClient("manager");
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
  expect(await shared.bob.call("listTokens").then(({ tokens }) => tokens.map(({ id }) => id))).toContain(bobsToken);
});

test("a member learns nothing of the owner’s budget, preferences, tokens and other agencies", async () => {
  const manager = shared.getClient("manager");
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
    expect([index, JSON.stringify(response).includes(String(userBudget))]).toEqual([index, false]);
  }
  // The owner sees both.
  expect(JSON.stringify(await shared.bob.call("getAgencyUsage", { params: { agency: "team" } }))).toContain(
    String(userBudget),
  );
  expect(JSON.stringify(await shared.bob.call("getUser"))).toContain(privateMarker);
});

test("a ticket opens in an agency of another user what its member may read, while they are one", async () => {
  await shared.addUser("guest");
  await shared.bob.members("team").put("guest", ["read"]);
  const createTicket = async (path: string) =>
    (await shared.getClient("guest").call("createTicket", { body: { path } }))?.ticket;
  const open = (path: string, ticket: string | undefined) =>
    send({ port: shared.host.port, path: `${path}?ticket=${ticket}` }).then(({ status }) => status);
  const visible = "/agency/team@bob/agent/alice/files/a.txt";
  const other = "/agency/private@bob/agent/alice/files/a.txt";
  expect(await open(visible, await createTicket(visible))).toBe(200);
  expect(await open(other, await createTicket(other))).toBe(404);
  const kept = await createTicket(visible);
  await shared.bob.members("team").remove("guest");
  expect(await open(visible, kept)).toBe(404);
});

test("requests that race with a removal leave no access behind", async () => {
  await shared.addUser("sprinter");
  for (let round = 0; round < 10; round++) {
    await shared.bob.members("team").put("sprinter", ["chat"]);
    const racing = Array.from({ length: 10 }, () => shared.request(endpoints.getAgency, "sprinter"));
    await shared.bob.members("team").remove("sprinter");
    expect((await shared.request(endpoints.getAgency, "sprinter")).status).toBe(404);
    await Promise.all(racing);
    expect((await shared.request(endpoints.getAgency, "sprinter")).status).toBe(404);
  }
});
