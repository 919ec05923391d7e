import { readdir, readFile } from "node:fs/promises";
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
  expect(await reader.call("who")).toEqual({ user: "owner", scopes: ["read"] });
  const forbiddenCalls = [
    () => reader.call("createAgent", { params, body: { name: "x" } }),
    () => reader.call("createToken", { body: { name: "more", scopes: ["admin"] } }),
    () => reader.call("listTokens"),
    () => reader.call("createLoginCode"),
    () => reader.call("shutdown"),
    () => reader.call("putBlueprint", { params, body: { name: "x" } }),
  ];
  for (const call of forbiddenCalls) await expect(call()).rejects.toMatchObject({ code: "forbidden" });

  const chatter = createClientWith((await issueToken({ name: "chatter", scopes: ["read", "chat"] })).token);
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

  const pair = cookie.split(";")[0] ?? "";
  const get = (headers: Record<string, string>) => fetch(`${host.url}/who`, { headers: { cookie: pair, ...headers } });
  expect((await get({})).status).toBe(200);
  expect((await get({ "sec-fetch-site": "same-origin" })).status).toBe(200);
  expect((await get({ "sec-fetch-site": "same-site" })).status).toBe(403);
  expect((await get({ "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await get({ origin: "http://evil.example" })).status).toBe(403);
  expect((await post("/agencies", { cookie: pair }, {})).status).toBe(403);
  expect((await post("/agencies", { cookie: pair, origin }, {})).status).toBe(201);

  expect((await post("/logout", { cookie: pair, origin })).status).toBe(204);
  expect((await get({})).status).toBe(401);
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
