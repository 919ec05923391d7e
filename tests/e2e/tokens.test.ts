import { readdir, readFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess();
});

afterAll(() => host?.stop());

const createClientWith = (token: string) => createClient({ url: host.url, token });
const issueToken = (body: { name: string; scopes?: Array<"read" | "chat" | "approve" | "admin">; user?: string }) =>
  host.client.call("createToken", { body });

test("a token allows what its scopes say and nothing else", async () => {
  const reader = createClientWith((await issueToken({ name: "reader", scopes: ["read"] })).token);
  const params = { agency: "global" };
  expect((await reader.call("listAgents", { params })).agents).toEqual([]);
  expect(await reader.call("who")).toEqual({ user: "owner", scopes: ["read"], agency: "global" });
  const forbiddenCalls = [
    () => reader.call("createAgent", { params, body: { name: "x" } }),
    () => reader.call("createToken", { body: { name: "more", scopes: ["admin"] } }),
    () => reader.call("listTokens"),
    () => reader.call("createLoginCode"),
    () => reader.call("shutdown"),
    () => reader.call("putBlueprint", { params, body: { name: "x" } }),
  ];
  for (const call of forbiddenCalls) await expect(call()).rejects.toMatchObject({ code: "forbidden" });

  const chatter = createClientWith((await issueToken({ name: "chatter", scopes: ["chat"] })).token);
  await chatter.call("createAgent", { params, body: { name: "created-by-chat" } });
  await expect(chatter.call("putBlueprint", { params, body: { name: "x" } })).rejects.toMatchObject({
    code: "forbidden",
  });
});

test("a revoked token stops working at once", async () => {
  const { token, id } = await issueToken({ name: "short" });
  await createClientWith(token).call("who");
  await host.client.call("revokeToken", { params: { id } });
  await expect(createClientWith(token).call("who")).rejects.toMatchObject({ code: "unauthorized" });
  await expect(host.client.call("revokeToken", { params: { id } })).rejects.toMatchObject({ code: "not_found" });
});

test("the list shows a user's tokens without their secrets", async () => {
  const { token, id } = await issueToken({ name: "carol's", user: "carol" });
  const { tokens } = await host.client.call("listTokens", { query: { user: "carol" } });
  expect(tokens).toMatchObject([{ id, kind: "token", name: "carol's", user: "carol", scopes: ["read"] }]);
  expect(JSON.stringify(tokens)).not.toContain(token);
});

test("the data folder contains no secret in plain text, except for the token and the signing key files", async () => {
  const { token } = await issueToken({ name: "secret" });
  const { code } = await host.client.call("createLoginCode");
  const key = (await readFile(join(host.home, "signing-key"), "utf8")).trim();
  for (const name of await readdir(host.home, { recursive: true })) {
    const content = await readFile(join(host.home, name), "latin1").catch(() => "");
    for (const secret of [token, code]) expect([name, content.includes(secret)]).toEqual([name, false]);
    if (name !== "token") expect([name, content.includes(host.token)]).toEqual([name, false]);
    if (name !== "signing-key") expect([name, content.includes(key)]).toEqual([name, false]);
  }
});

test("a login code works once, its cookie works only same-origin, and logging out revokes it", async () => {
  const { code } = await host.client.call("createLoginCode");
  const { token } = await host.client.call("createToken", { body: { name: "program", scopes: ["admin"] } });
  const origin = host.url;
  const post = (path: string, headers: Record<string, string>, body?: unknown) =>
    fetch(host.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const login = await post("/login", { origin }, { code });
  expect(login.status).toBe(200);
  const cookie = login.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(new RegExp(`^thinkery-${host.port}=thk_`));
  for (const part of ["HttpOnly", "SameSite=Strict", "Path=/"]) expect(cookie).toContain(part);
  expect((await post("/login", { origin }, { code })).status).toBe(401);

  const { pageSecret } = (await login.json()) as { pageSecret: string };
  const pair = cookie.split(";")[0] ?? "";
  const page = { cookie: pair, "x-thinkery-page": pageSecret };
  const get = (headers: Record<string, string>) => fetch(`${host.url}/who`, { headers: { ...page, ...headers } });
  expect((await get({})).status).toBe(200);
  expect((await get({ "sec-fetch-site": "same-origin" })).status).toBe(200);
  expect((await get({ "sec-fetch-site": "same-site" })).status).toBe(403);
  expect((await get({ "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await get({ origin: "http://evil.example" })).status).toBe(403);
  expect((await post("/agencies", page, {})).status).toBe(403);
  expect((await post("/agencies", { ...page, origin }, {})).status).toBe(201);

  // Every server on this machine gets the cookie: it is worthless without the page's secret, and in a header.
  const value = pair.slice(pair.indexOf("=") + 1);
  expect((await get({ "x-thinkery-page": "" })).status).toBe(401);
  expect((await get({ "x-thinkery-page": `${pageSecret}x` })).status).toBe(401);
  const asHeaders: Record<string, string>[] = [{ authorization: `Bearer ${value}` }, { "x-secret": value }];
  for (const headers of asHeaders) expect((await fetch(`${host.url}/who`, { headers })).status).toBe(401);
  for (const secret of [host.token, token]) {
    const stolen = { cookie: `thinkery-${host.port}=${secret}`, "x-thinkery-page": pageSecret };
    expect((await fetch(`${host.url}/who`, { headers: stolen })).status).toBe(401);
  }
  expect((await fetch(`${host.url}/who`, { headers: { "x-thinkery-page": pageSecret } })).status).toBe(401);

  expect((await post("/logout", { ...page, origin })).status).toBe(204);
  expect((await get({})).status).toBe(401);
});

test("a ticket opens one path once, with read access only", async () => {
  const agent = host.client.agents();
  await agent.create({ name: "ticketed" });
  await host.client.agent("ticketed").putFile("a b.txt", "content");
  const path = "/agents/ticketed/files/a%20b.txt?download=1";
  const createTicket = async (target: string) =>
    (await host.client.call("createTicket", { body: { path: target } })).ticket;
  const fetchPath = (target: string, ticket: string, method = "GET") =>
    fetch(`${host.url}${target}${target.includes("?") ? "&" : "?"}ticket=${ticket}`, { method });

  const ticket = await createTicket(path);
  const first = await fetchPath(path, ticket);
  expect([first.status, await first.text()]).toEqual([200, "content"]);
  expect((await fetchPath(path, ticket)).status).toBe(401);

  // A tab that is reloaded gets a page that says what to do; clients of the API get an error as always.
  const reloadTab = (mode: string) =>
    new Promise<{ status: number | undefined; type: string | undefined; body: string }>((resolve, reject) => {
      const headers = { "sec-fetch-mode": mode, accept: "text/html,*/*" };
      get(`${host.url}${path}&ticket=${ticket}`, { headers }, (response) => {
        let body = "";
        response.on("data", (chunk) => (body += chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode, type: response.headers["content-type"], body }),
        );
      }).on("error", reject);
    });
  const tab = await reloadTab("navigate");
  expect([tab.status, tab.type]).toEqual([401, "text/html; charset=utf-8"]);
  expect(tab.body).toContain("open the file or app again there");
  expect(tab.body).not.toContain(ticket);
  expect(await reloadTab("cors")).toMatchObject({
    status: 401,
    body: expect.stringContaining('"code":"unauthorized"'),
  });

  for (const other of ["/who", "/agents/ticketed/files/a%20b.txt", "/agents/ticketed/files/b.txt?download=1"]) {
    const misused = await createTicket(path);
    expect([other, (await fetchPath(other, misused)).status]).toEqual([other, 401]);
    // Trying another path uses it up.
    expect((await fetchPath(path, misused)).status).toBe(401);
  }
  expect((await fetchPath(path, await createTicket(path), "DELETE")).status).toBe(401);
  expect((await fetchPath("/tokens", await createTicket("/tokens"))).status).toBe(403);
  await expect(createTicket("//evil.example/x")).rejects.toMatchObject({ code: "bad_request" });
  const ticketHeader = await createTicket("/who");
  expect((await fetch(`${host.url}/who`, { headers: { authorization: `Bearer ${ticketHeader}` } })).status).toBe(401);
});

test("a login code can be limited to some scopes", async () => {
  const { code } = await host.client.call("createLoginCode", { body: { scopes: ["read"] } });
  const login = await fetch(`${host.url}/login`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: host.url },
    body: JSON.stringify({ code }),
  });
  expect(await login.json()).toMatchObject({ scopes: ["read"] });
});

test("a login code is not accepted as a token, nor a token as a login code", async () => {
  const { code } = await host.client.call("createLoginCode");
  await expect(createClientWith(code).call("who")).rejects.toMatchObject({ code: "unauthorized" });
  await expect(
    host.client.call("login", { body: { code: (await issueToken({ name: "t" })).token } }),
  ).rejects.toMatchObject({ code: "unauthorized" });
});

test("a token cannot be created already expired", async () => {
  await expect(host.client.call("createToken", { body: { name: "x", expiresInSeconds: 0 } })).rejects.toMatchObject({
    code: "bad_request",
  });
});
