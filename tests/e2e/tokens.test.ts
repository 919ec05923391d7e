import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";

let house: HostProcess;

beforeAll(async () => {
  house = await startHostProcess();
});

afterAll(() => house?.stop());

const createClientWith = (token: string) => createClient({ url: house.url, token });
const issueToken = (body: { name: string; scopes?: Array<"read" | "chat" | "approve" | "admin">; user?: string }) =>
  house.client.call("createToken", { body });

test("a token does what its scopes allow and nothing more", async () => {
  const reader = createClientWith((await issueToken({ name: "reader", scopes: ["read"] })).token);
  const params = { agency: "global" };
  expect((await reader.call("listAgents", { params })).agents).toEqual([]);
  expect(await reader.call("who")).toEqual({ user: "owner", scopes: ["read"] });
  const refused = [
    () => reader.call("createAgent", { params, body: { name: "x" } }),
    () => reader.call("createToken", { body: { name: "more", scopes: ["admin"] } }),
    () => reader.call("listTokens"),
    () => reader.call("createLoginCode"),
    () => reader.call("shutdown"),
    () => reader.call("putBlueprint", { params, body: { name: "x" } }),
  ];
  for (const attempt of refused) await expect(attempt()).rejects.toMatchObject({ code: "forbidden" });

  const talker = createClientWith((await issueToken({ name: "talker", scopes: ["read", "chat"] })).token);
  await talker.call("createAgent", { params, body: { name: "made-by-chat" } });
  await expect(talker.call("putBlueprint", { params, body: { name: "x" } })).rejects.toMatchObject({
    code: "forbidden",
  });
});

test("a revoked token stops working at once", async () => {
  const { token, id } = await issueToken({ name: "short" });
  await createClientWith(token).call("who");
  await house.client.call("revokeToken", { params: { id } });
  await expect(createClientWith(token).call("who")).rejects.toMatchObject({ code: "unauthorized" });
  await expect(house.client.call("revokeToken", { params: { id } })).rejects.toMatchObject({ code: "not_found" });
});

test("the list shows tokens of a user without their secrets", async () => {
  const { token, id } = await issueToken({ name: "carol's", user: "carol" });
  const { tokens } = await house.client.call("listTokens", { query: { user: "carol" } });
  expect(tokens).toMatchObject([{ id, kind: "token", name: "carol's", user: "carol", scopes: ["read"] }]);
  expect(JSON.stringify(tokens)).not.toContain(token);
});

test("no secret lies in the data folder in plain text, but for the two files made for it", async () => {
  const { token } = await issueToken({ name: "secret" });
  const { code } = await house.client.call("createLoginCode");
  const key = (await readFile(join(house.home, "signing-key"), "utf8")).trim();
  for (const name of await readdir(house.home, { recursive: true })) {
    const content = await readFile(join(house.home, name), "latin1").catch(() => "");
    for (const secret of [token, code]) expect([name, content.includes(secret)]).toEqual([name, false]);
    if (name !== "token") expect([name, content.includes(house.token)]).toEqual([name, false]);
    if (name !== "signing-key") expect([name, content.includes(key)]).toEqual([name, false]);
  }
});

test("a login code works once, its cookie works only from our own page, and logging out ends it", async () => {
  const { code } = await house.client.call("createLoginCode");
  const origin = house.url;
  const post = (path: string, headers: Record<string, string>, body?: unknown) =>
    fetch(house.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const login = await post("/login", { origin }, { code });
  expect(login.status).toBe(200);
  const cookie = login.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(new RegExp(`^thinkery-${house.port}=thk_`));
  for (const part of ["HttpOnly", "SameSite=Strict", "Path=/"]) expect(cookie).toContain(part);
  expect((await post("/login", { origin }, { code })).status).toBe(401);

  const pair = cookie.split(";")[0] ?? "";
  const get = (headers: Record<string, string>) => fetch(`${house.url}/who`, { headers: { cookie: pair, ...headers } });
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

test("a code is no token and a token is no code", async () => {
  const { code } = await house.client.call("createLoginCode");
  await expect(createClientWith(code).call("who")).rejects.toMatchObject({ code: "unauthorized" });
  await expect(
    house.client.call("login", { body: { code: (await issueToken({ name: "t" })).token } }),
  ).rejects.toMatchObject({ code: "unauthorized" });
});

test("an expired token is no token", async () => {
  await expect(house.client.call("createToken", { body: { name: "x", expiresInSeconds: 0 } })).rejects.toMatchObject({
    code: "bad_request",
  });
});
