import http from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { sample } from "../kit/sample.ts";
import { send, upgradeHeaders, type WireResponse } from "../kit/wire.ts";

// Host × Origin × method × content type × token, over HTTP, WebSocket and the Agents SDK's routes. The expected
// status is computed here from the rules of the API, not from the code.

let hostProcess: HostProcess;
let readToken: string;
let foreignToken: string;
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  hostProcess = await startHostProcess();
  await hostProcess.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
  const issue = async (user: string | undefined) =>
    (await hostProcess.client.call("createToken", { body: { name: "t", scopes: ["read"], ...(user ? { user } : {}) } }))
      .token;
  readToken = await issue(undefined);
  foreignToken = await issue("mallory");
});

afterAll(async () => {
  agent.destroy();
  await hostProcess?.stop();
});

const hosts = () => [
  { host: `127.0.0.1:${hostProcess.port}`, good: true },
  { host: `localhost:${hostProcess.port}`, good: true },
  { host: `LocalHost:${hostProcess.port}`, good: true },
  { host: `[::1]:${hostProcess.port}`, good: true },
  { host: "127.0.0.1", good: true },
  { host: "evil.example", good: false },
  { host: `evil.example:${hostProcess.port}`, good: false },
  { host: `127.0.0.1.evil.example:${hostProcess.port}`, good: false },
  { host: `localhost.:${hostProcess.port}`, good: false },
  { host: `evil.example@127.0.0.1:${hostProcess.port}`, good: false },
  { host: `127.0.0.1:${hostProcess.port}, evil.example`, good: false },
  { host: `0.0.0.0:${hostProcess.port}`, good: false },
];

const origins = (host: string) => [
  { origin: undefined, good: true },
  { origin: `http://${host}`, good: true },
  { origin: "http://evil.example", good: false },
  { origin: "null", good: false },
  // workerd passes an empty header on as absent, which is allowed: the token still decides.
  { origin: "", good: true },
  { origin: `http://127.0.0.1:${hostProcess.port + 1}`, good: false },
  { origin: `http://${host}.evil.example`, good: false },
];

type Credential = { headers: Record<string, string>; user?: "owner" | "mallory"; scope?: "admin" | "read" };

const credentials = (): Credential[] => [
  { headers: {} },
  { headers: { authorization: `Bearer ${"0".repeat(64)}` } },
  { headers: { authorization: `Basic ${hostProcess.token}` } },
  { headers: { authorization: `Bearer ${forgeToken(readToken)}` } },
  { headers: { cookie: `thinkery-${hostProcess.port}=nonsense` } },
  { headers: { authorization: `Bearer ${hostProcess.token}` }, user: "owner", scope: "admin" },
  { headers: { "x-secret": hostProcess.token }, user: "owner", scope: "admin" },
  { headers: { authorization: `Bearer ${readToken}` }, user: "owner", scope: "read" },
  { headers: { authorization: `Bearer ${foreignToken}` }, user: "mallory", scope: "read" },
];

// A real token of this host with the last character of its signature changed.
const forgeToken = (token: string) => token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");

const types = [undefined, "application/json", "text/plain", "application/x-www-form-urlencoded"];

interface Cell {
  path: string;
  method: string;
  type?: string | undefined;
  host: { host: string; good: boolean };
  origin: { origin: string | undefined; good: boolean };
  credential: Credential;
}

/** The status that the API specifies. */
function getExpectedStatus({ path, method, type, host, origin, credential }: Cell): number {
  if (!host.good) return 421;
  if (!origin.good) return 403;
  if (path === "/" && method === "GET") return 200;
  if (path === "/health" && method === "GET") return 200;
  if (path === "/login" && method === "POST") return type === "application/json" ? 400 : 415;
  if (!credential.user) return 401;
  if (path === "/agents") {
    // The agents of the caller's own default agency.
    if (method === "GET") return 200;
    if (method === "POST") return credential.scope !== "admin" ? 403 : type === "application/json" ? 400 : 415;
    return 405;
  }
  if (path === "/run") {
    if (method === "POST") return credential.scope !== "admin" ? 403 : type === "application/json" ? 400 : 415;
    return 405;
  }
  if (path === "/agents/alice/events") return method !== "GET" ? 405 : credential.user === "owner" ? 200 : 404;
  if (path === "/shutdown" && method !== "POST") return 405;
  if (path === "/shutdown") return 403;
  if (path === "/health" || path === "/login") return 405;
  if (path === "/tokens" && method === "GET") return credential.scope === "admin" ? 200 : 403;
  return 404;
}

test("every cell of the HTTP matrix gets its specified status", async () => {
  const cells: Cell[] = [];
  for (const path of [
    "/",
    "/health",
    "/agents",
    "/login",
    "/tokens",
    "/run",
    "/agents/alice/events",
    "/agents/think/global~alice",
    "/agents/user/owner",
    "/nothing",
  ]) {
    for (const method of path === "/tokens" ? ["GET"] : ["GET", "POST", "DELETE", "OPTIONS"]) {
      for (const type of method === "POST" ? types : [undefined]) {
        for (const host of hosts()) {
          for (const origin of origins(host.host)) {
            for (const credential of credentials()) cells.push({ path, method, type, host, origin, credential });
          }
        }
      }
    }
  }
  // Only an admin may stop the host; a request with an admin's token would end the test.
  for (const host of hosts()) {
    for (const origin of origins(host.host)) {
      for (const credential of credentials().filter(({ scope }) => scope !== "admin")) {
        cells.push({ path: "/shutdown", method: "POST", host, origin, credential });
      }
    }
  }
  expect(cells.length).toBeGreaterThan(40_000);
  const wrong = await findWrongCells(
    sample(cells, { name: "cells of the HTTP matrix", size: 5_000, kindOf: listCombinations }),
    (cell) =>
      send({
        port: hostProcess.port,
        path: cell.path,
        method: cell.method,
        agent,
        headers: buildHeaders(cell),
        ...(cell.method === "POST" ? { body: '{"nonsense": true, "code": "x"}' } : {}),
      }),
  );
  expect(wrong).toEqual([]);
}, 300_000);

test("every cell of the socket matrix gets its specified status", async () => {
  const cells: Cell[] = [];
  for (const path of [
    "/agents/think/global~alice",
    "/agents/agency/global",
    "/agents/user/owner",
    "/agents/think/global~alice/sub/think/x",
    "/agents/think/global~nobody",
    "/agents/alice/ws",
    "/agency/global/agent/nobody/ws?after=3",
  ]) {
    for (const host of hosts()) {
      for (const origin of origins(host.host)) {
        for (const credential of credentials()) cells.push({ path, method: "GET", host, origin, credential });
      }
    }
  }
  expect(cells.length).toBeGreaterThan(5_000);
  const wrong = await findWrongCells(
    sample(cells, { name: "cells of the socket matrix", size: 1_000, kindOf: listCombinations }),
    (cell) => send({ port: hostProcess.port, path: cell.path, headers: { ...buildHeaders(cell), ...upgradeHeaders } }),
    // Another user's object accepts the handshake and then closes with 4403; see endpoints.test.ts.
    (cell) => (!cell.host.good ? 421 : !cell.origin.good ? 403 : cell.credential.user ? 101 : 401),
  );
  expect(wrong).toEqual([]);
}, 300_000);

/**
 * The combinations a sample has to cover: every route with every host, with every origin at a good host, and with every
 * credential at a good host and origin; and all pairs of hosts, origins and credentials.
 */
function listCombinations({ path, method, type, host, origin, credential }: Cell): string[] {
  const route = `${method} ${path} ${type}`;
  const fromOrigin = `from ${String(origin.origin).replace(host.host, "the host itself")}`;
  const asUser = `as ${JSON.stringify(credential.headers)}`;
  return [
    `${route} at ${host.host}`,
    `${host.host} ${fromOrigin}`,
    `${host.host} ${asUser}`,
    ...(host.good ? [`${route} ${fromOrigin}`, `${fromOrigin} ${asUser}`] : []),
    ...(host.good && origin.good ? [`${route} ${asUser}`] : []),
  ];
}

function buildHeaders(cell: Cell): Record<string, string> {
  return {
    host: cell.host.host,
    ...(cell.origin.origin === undefined ? {} : { origin: cell.origin.origin }),
    ...(cell.type ? { "content-type": cell.type } : {}),
    ...cell.credential.headers,
  };
}

async function findWrongCells(
  cells: Cell[],
  request: (cell: Cell) => Promise<WireResponse>,
  expected = getExpectedStatus,
): Promise<unknown[]> {
  const wrong: unknown[] = [];
  const queue = [...cells];
  const worker = async () => {
    for (let cell = queue.pop(); cell; cell = queue.pop()) {
      const response = await request(cell).catch((error: Error) => ({ status: -1, headers: {}, body: error.message }));
      if (response.status !== expected(cell)) {
        wrong.push({ ...cell, expected: expected(cell), got: response.status, body: response.body.slice(0, 200) });
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return wrong.slice(0, 5);
}
