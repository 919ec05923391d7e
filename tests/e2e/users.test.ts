import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Scope } from "@thinkery/sdk";
import { createClient, withRetry } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess();
});

afterAll(() => host?.stop());

const issueToken = async (user: string, ...scopes: Scope[]) =>
  (await host.client.call("createToken", { body: { name: "t", user, scopes } })).token;
const openClient = async (user: string, ...scopes: Scope[]) =>
  createClient({ url: host.url, token: await issueToken(user, ...scopes) });

test("the admin of another user administrates that user only, not the host", async () => {
  const bob = await openClient("bob", "admin");
  const { id: ownersToken } = await host.client.call("createToken", { body: { name: "owner's" } });
  const hostWide = [
    () => bob.call("createToken", { body: { name: "x", user: "owner", scopes: ["admin"] } }),
    () => bob.call("createToken", { body: { name: "x", user: "stranger" } }),
    () => bob.call("createLoginCode", { body: { user: "owner" } }),
    () => bob.call("listTokens", { query: { user: "owner" } }),
    () => bob.call("listTokens", { query: { user: "stranger" } }),
    () => bob.call("shutdown"),
  ];
  for (const call of hostWide) await expect(call()).rejects.toMatchObject({ code: "forbidden" });
  await expect(bob.call("revokeToken", { params: { id: ownersToken } })).rejects.toMatchObject({ code: "not_found" });
  expect((await host.client.call("listTokens")).tokens.map(({ id }) => id)).toContain(ownersToken);

  const own = await bob.call("createToken", { body: { name: "mine", scopes: ["chat"] } });
  expect(own.user).toBe("bob");
  expect((await bob.call("listTokens", { query: { user: "bob" } })).tokens.map(({ id }) => id)).toContain(own.id);
  await bob.call("revokeToken", { params: { id: own.id } });
  const { code } = await bob.call("createLoginCode");
  expect(await bob.call("login", { body: { code } })).toMatchObject({ user: "bob" });
});

test("the owner creates tokens and login codes for others, and revokes them", async () => {
  const { code } = await host.client.call("createLoginCode", { body: { user: "dora" } });
  expect(await host.client.call("login", { body: { code } })).toMatchObject({ user: "dora", agency: "dora" });
  const { id } = await host.client.call("createToken", { body: { name: "t", user: "dora" } });
  await host.client.call("revokeToken", { params: { id } });
});

test("chat includes read, and deleting needs admin", async () => {
  const params = { agency: "global", agent: "kept" };
  const [chatter, admin] = [await openClient("owner", "chat"), await openClient("owner", "admin")];
  await chatter.call("createAgent", { params, body: { name: "kept" } });
  expect((await chatter.call("listAgents", { params })).agents.map(({ name }) => name)).toContain("kept");
  await chatter.call("getState", { params });
  await chatter.call("createAgency", { body: { id: "kept" } });
  await admin.call("putBlueprint", { params: { agency: "kept" }, body: { name: "b" } });
  const deletions = [
    (client: typeof admin) => client.call("deleteBlueprint", { params: { agency: "kept", name: "b" } }),
    (client: typeof admin) => client.call("deleteAgency", { params: { agency: "kept" } }),
    (client: typeof admin) => client.call("deleteAgent", { params }),
  ];
  for (const remove of deletions) {
    await expect(remove(chatter)).rejects.toMatchObject({ code: "forbidden" });
    await remove(admin);
  }
  await chatter.call("createAgent", { params, body: { name: "kept" } });
  await chatter.call("clearMessages", { params });
});

test("/agents and bare targets mean the caller's default agency", async () => {
  const token = await issueToken("carol", "chat");
  const carol = createClient({ url: host.url, token });
  expect(await carol.call("who")).toEqual({ user: "carol", scopes: ["chat"], agency: "carol" });
  expect((await carol.call("listAgencies")).agencies.map(({ id }) => id)).toEqual(["carol"]);
  const request = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(host.url + path, { method, headers, body: body ? JSON.stringify(body) : null });
    return { status: response.status, body: await response.json() };
  };
  expect(await request("POST", "/agents", { name: "zoe" })).toMatchObject({ status: 201, body: { agency: "carol" } });
  expect((await request("GET", "/agents/zoe")).status).toBe(200);
  expect((await request("GET", "/agency/global/agents")).status).toBe(404);
  expect((await request("POST", "/serve", { agent: "zoe", message: "hello" })).status).toBe(200);
  const names: string[] = [];
  for await (const { name } of carol.agents().list()) names.push(name);
  expect(names).toEqual(["zoe"]);
  await carol.agent("zoe").send("hello");

  const env = { THINKERY_TOKEN: token };
  expect((await host.runCli(["new", "yan"], { env })).code).toBe(0);
  const { stdout } = await host.runCli(["ls", "--json"], { env });
  expect(JSON.parse(stdout).agents.map(({ name, agency }: any) => `${name}@${agency}`)).toEqual([
    "yan@carol",
    "zoe@carol",
  ]);
  expect((await host.runCli(["info", "zoe", "--json"], { env })).code).toBe(0);
  expect((await host.client.call("listAgencies")).agencies.map(({ id }) => id)).not.toContain("carol");
});

test("a default agency cannot be deleted", async () => {
  const eve = await openClient("eve", "admin");
  await expect(eve.call("deleteAgency", { params: { agency: "eve" } })).rejects.toMatchObject({ code: "conflict" });
});

test("two users can have agencies with the same id, and neither notices the other's", async () => {
  const [fay, gus] = [await openClient("fay", "admin"), await openClient("gus", "admin")];
  for (const client of [host.client, fay, gus]) {
    expect(await client.call("createAgency", { body: { id: "team" } })).toMatchObject({ id: "team" });
    await expect(client.call("createAgency", { body: { id: "team" } })).rejects.toMatchObject({ code: "conflict" });
  }
  const params = { agency: "team" };
  const created = await fay.call("createAgent", { params, body: { name: "anna" } });
  expect(created).toMatchObject({ agency: "team", owner: "fay" });
  await fay.call("invoke", { params: { ...params, agent: "anna" }, body: { message: "hello" } });
  for (const client of [host.client, gus]) {
    expect((await client.call("listAgents", { params })).agents).toEqual([]);
    await expect(client.call("getState", { params: { ...params, agent: "anna" } })).rejects.toMatchObject({
      code: "not_found",
    });
  }
  expect((await fay.call("getAgencyUsage", { params })).byAgent).toBeDefined();
  await gus.call("deleteAgency", { params });
  expect((await fay.call("listAgents", { params })).agents.map(({ name }) => name)).toEqual(["anna"]);
});

test("the owner adds, lists and removes users", async () => {
  const added = await host.client.call("addUser", { body: { name: "hal", limits: { agents: 1 } } });
  expect(added).toMatchObject({ id: "hal", agencies: 1, agents: 0, limits: { agents: 1 } });
  for (const name of ["hal", "HAL", "owner"])
    await expect(host.client.call("addUser", { body: { name } })).rejects.toMatchObject({ code: "conflict" });
  await expect(host.client.call("createToken", { body: { name: "t", user: "Hal" } })).rejects.toMatchObject({
    code: "conflict",
  });
  const token = await issueToken("hal", "admin");
  const hal = createClient({ url: host.url, token });
  await hal.call("createAgent", { params: { agency: "hal" }, body: { name: "dave" } });
  await hal.call("createAgency", { body: { id: "odyssey" } });
  const listed = await host.runCli(["user", "ls", "--json"]);
  expect(JSON.parse(listed.stdout).users).toContainEqual({ ...added, agencies: 2, agents: 1 });
  const calls = [
    () => hal.call("listUsers"),
    () => hal.call("addUser", { body: { name: "x" } }),
    () => hal.call("updateUser", { params: { user: "hal" }, body: { limits: { agents: null } } }),
    () => hal.call("removeUser", { params: { user: "hal" } }),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "forbidden" });

  expect((await host.runCli(["user", "rm", "hal", "--yes"])).code).toBe(0);
  await expect(hal.call("who")).rejects.toMatchObject({ code: "unauthorized" });
  await expect(host.client.call("removeUser", { params: { user: "hal" } })).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(host.client.call("removeUser", { params: { user: "owner" } })).rejects.toMatchObject({
    code: "conflict",
  });
  expect((await host.runCli(["user", "add", "hal", "--turns", "2", "--cost", "5", "--daily"])).code).toBe(0);
  const again = await openClient("hal", "admin");
  expect((await again.call("listAgencies")).agencies.map(({ id }) => id)).toEqual(["hal"]);
  expect((await again.call("listAgents", { params: { agency: "hal" } })).agents).toEqual([]);
  expect((await again.call("getUser")).limits).toEqual({ concurrentTurns: 2, budget: { costUsd: 5, per: "day" } });
});

test("a user cannot have more agents than allowed, however they are created", async () => {
  await host.client.call("addUser", { body: { name: "ida", limits: { agents: 3 } } });
  const ida = await openClient("ida", "admin");
  await ida.call("createAgency", { body: { id: "more" } });
  const create = (name: string, agency: string) => ida.call("createAgent", { params: { agency }, body: { name } });
  const results = await Promise.allSettled(
    ["a", "b", "c", "d", "e"].map((name, index) => create(name, index % 2 ? "ida" : "more")),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  for (const result of results)
    if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "conflict" });
  await expect(ida.call("serve", { body: { agents: { f: {} }, message: "hello" } })).rejects.toMatchObject({
    code: "conflict",
  });
  const { agents } = await ida.call("listUserAgents");
  await ida.call("deleteAgent", { params: { agency: agents[0]?.agency ?? "", agent: agents[0]?.name ?? "" } });
  await waitUntil("room for one more", () => create("g", "ida").then(() => true));
});

test("a user cannot run more turns at the same time than allowed", async () => {
  await mkdir(join(host.home, "scripts"), { recursive: true });
  await writeFile(join(host.home, "scripts", "slow.yaml"), "exchanges: [{ steps: [{ wait: 60000 }, { text: done }] }]");
  await host.client.call("addUser", { body: { name: "joe", limits: { concurrentTurns: 1 } } });
  const joe = await openClient("joe", "chat");
  const agency = "joe";
  for (const name of ["one", "two"])
    await joe.call("createAgent", { params: { agency }, body: { name, model: "scripted:slow" } });
  const invoke = (agent: string) => joe.call("invoke", { params: { agency, agent }, body: { message: "hello" } });
  await invoke("one");
  await expect(invoke("two")).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("1 turn") });
  await expect(joe.call("serve", { body: { agent: "two", message: "hello" } })).rejects.toMatchObject({
    code: "conflict",
  });
  await invoke("one");
  for (let open = 0; open < 2; open++) await joe.call("cancelTurn", { params: { agency, agent: "one" } });
  await waitUntil("the turn's end to make room", () => invoke("two").then(() => true));
  await joe.call("cancelTurn", { params: { agency, agent: "two" } });
});

test("a message that starts no turn leaves room for others", async () => {
  await host.client.call("addUser", { body: { name: "lea", limits: { concurrentTurns: 1 } } });
  const lea = await openClient("lea", "chat");
  const agency = "lea";
  for (const name of ["one", "two"])
    await lea.call("createAgent", { params: { agency }, body: { name, model: "scripted:tour" } });
  const serve = (agent: string) => lea.call("serve", { body: { agent, message: "hello" } });
  const invoke = (agent: string, idempotencyKey: string) =>
    lea.call("invoke", { params: { agency, agent }, body: { message: "hello", idempotencyKey } });
  const { runId } = await invoke("one", "key");
  await lea.call("cancelTurn", { params: { agency, agent: "one" } });
  // The end of a turn makes room a moment later, but a message that starts none does before its response.
  const waitForRoom = () => waitUntil("room for a turn", () => serve("two").then(() => true));
  await waitForRoom();
  await waitUntil("the duplicate", async () => (await invoke("one", "key")).runId === runId);
  await serve("two");
  await lea.call("stopAgent", { params: { agency, agent: "one" } });
  const isRefused = (sent: Promise<unknown>) =>
    sent.then(
      () => false,
      (error: Error) => /stopped/.test(error.message),
    );
  for (const refuse of [() => invoke("one", "another"), () => serve("one")]) {
    await waitUntil("the refusal", () => isRefused(refuse()));
    await serve("two");
  }
});

test("a user can lower the budget that the owner set, but not raise or remove it", async () => {
  await host.client.call("addUser", { body: { name: "kim", limits: { budget: { tokens: 1000 } } } });
  const kim = await openClient("kim", "admin");
  expect((await kim.call("getUserBudget")).budget).toEqual({ tokens: 1000, per: "ever" });
  await kim.call("putUserBudget", { body: { tokens: 10, steps: 5 } });
  await expect(kim.call("putUserBudget", { body: { tokens: 1001 } })).rejects.toMatchObject({ code: "forbidden" });
  await expect(kim.call("putUserBudget", { body: { tokens: 10, per: "day" } })).rejects.toMatchObject({
    code: "forbidden",
  });
  await kim.call("putUserBudget", { body: { steps: 5 } });
  expect((await kim.call("getUserBudget")).budget).toEqual({ tokens: 1000, steps: 5, per: "ever" });
  await kim.call("deleteUserBudget");
  expect((await kim.call("getUserBudget")).budget).toEqual({ tokens: 1000, per: "ever" });
});

test("a token cannot send more requests than allowed, and others still can", async () => {
  await host.client.call("addUser", { body: { name: "mia", limits: { requestsPerMinute: 60 } } });
  const [one, other] = [await openClient("mia", "read"), await openClient("mia", "read")];
  const results = await Promise.allSettled(Array.from({ length: 80 }, () => one.call("who")));
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) expect(error).toMatchObject({ code: "rate_limited", details: { retryAfter: 1 } });
  expect(await other.call("who")).toMatchObject({ user: "mia" });
  expect(await withRetry((signal) => one.call("who", { signal }))).toMatchObject({ user: "mia" });
});

test("requests that come at the same time are counted once each", async () => {
  await host.client.call("addUser", { body: { name: "nia", limits: { requestsPerMinute: 600 } } });
  const nia = await openClient("nia", "read");
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 60 }, () => nia.call("who")));
});

test("a cookie without the page's secret does not use up what its page may send", async () => {
  await host.client.call("addUser", { body: { name: "ole", limits: { requestsPerMinute: 60 } } });
  const { code } = await host.client.call("createLoginCode", { body: { user: "ole" } });
  const login = await fetch(`${host.url}/login`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: host.url },
    body: JSON.stringify({ code }),
  });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { pageSecret } = (await login.json()) as { pageSecret: string };
  const ask = async (headers: Record<string, string>) => (await fetch(`${host.url}/who`, { headers })).status;
  const asCookie = { cookie, origin: host.url };
  const asToken = { authorization: `Bearer ${cookie.slice(cookie.indexOf("=") + 1)}` };
  for (const headers of [asCookie, asToken])
    expect(new Set(await Promise.all(Array.from({ length: 70 }, () => ask(headers))))).toEqual(new Set([401]));
  expect(await ask({ ...asCookie, "x-thinkery-page": pageSecret })).toBe(200);
});

test("the owner changes the limits of a user, which keep what the user set below them", async () => {
  const agency = "max";
  const limits = { agents: 1, budget: { tokens: 1000, costUsd: 2 } } as const;
  await host.client.call("addUser", { body: { name: "max", limits } });
  const max = await openClient("max", "admin");
  const create = (name: string) => max.call("createAgent", { params: { agency }, body: { name } });
  await create("a");
  await expect(create("b")).rejects.toMatchObject({ code: "conflict" });
  await max.call("putUserBudget", { body: { tokens: 100 } });
  const update = (limits: object) => host.client.call("updateUser", { params: { user: "max" }, body: { limits } });
  expect(await update({ agents: 2 })).toMatchObject({ id: "max", agents: 1, limits: { ...limits, agents: 2 } });
  await create("b");
  const getBudget = async () => (await max.call("getUserBudget")).budget;
  await update({ budget: { tokens: 5000 } });
  expect(await getBudget()).toEqual({ tokens: 100, per: "ever" });
  await update({ budget: { tokens: 50, steps: 7 } });
  expect(await getBudget()).toEqual({ tokens: 50, steps: 7, per: "ever" });
  await update({ budget: { tokens: 80 } });
  expect(await getBudget()).toEqual({ tokens: 80, per: "ever" });
  await update({ budget: null });
  expect(await getBudget()).toBeNull();
  await expect(update({ agents: 0 })).rejects.toMatchObject({ code: "bad_request" });
  for (const [user, code] of [
    ["stranger", "not_found"],
    ["MAX", "not_found"],
    ["owner", "conflict"],
  ])
    await expect(
      host.client.call("updateUser", { params: { user: user as string }, body: { limits: { agents: 1 } } }),
    ).rejects.toMatchObject({ code });

  const edit = (...args: string[]) => host.runCli(["user", "edit", "max", ...args]);
  const edited = await edit("--no-agents", "--turns", "3", "--cost", "5", "--daily", "--json");
  expect(JSON.parse(edited.stdout).limits).toEqual({ concurrentTurns: 3, budget: { costUsd: 5, per: "day" } });
  expect((await edit("--agents", "4")).stdout).toBe("Changed max: agents 4, turns 3, budget $5 per day.\n");
  expect((await edit("--disk-mb", "50", "--requests", "600")).stdout).toBe(
    "Changed max: agents 4, turns 3, disk 50 MB, requests 600 a minute, budget $5 per day.\n",
  );
  const none = ["--no-agents", "--no-turns", "--no-disk-mb", "--no-requests", "--no-budget"];
  expect((await edit(...none)).stdout).toBe("Changed max: no limits.\n");
  for (const args of [[], ["--no-budget", "--cost", "1"], ["--daily"], ["--agents", "0"]])
    expect((await edit(...args)).code).not.toBe(0);
  expect((await host.client.call("listUsers")).users.find(({ name }) => name === "max")?.limits).toEqual({});
});

test("the first tokens of a user can be created at the same time", async () => {
  const create = () => host.client.call("createToken", { body: { name: "t", user: "new-user" } });
  const tokens = await Promise.all(Array.from({ length: 10 }, create));
  expect(new Set(tokens.map(({ token }) => token)).size).toBe(10);
});
