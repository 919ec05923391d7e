import { readdirSync, statSync } from "node:fs";
import { request, type OutgoingHttpHeaders } from "node:http";
import { join } from "node:path";
import { setImmediate as waitForTick } from "node:timers/promises";
import { fail } from "@thinkery/sdk";
import type { HostStatus } from "@thinkery/sdk/internal";
import { expect, onTestFinished, test } from "vitest";
import { openScriptFolders } from "../scripts/folders.ts";
import { createControlRoutes, createProof } from "./control.ts";
import { createTempFolder } from "./fixture.ts";
import { serveRoutes, type Route } from "./serve.ts";
import { createHostRoutes } from "./services.ts";

const umask = process.umask();
const token = "t".repeat(64);
const status: HostStatus = { pid: 7, startedAt: "then", main: { restarts: 0 }, slots: [] };
const introduction = { pid: 7, host: "127.0.0.1", port: 5099, startedAt: "then", version: "1", ready: true };

async function serveForTest(routes: Route[]) {
  const socketPath = join(createTempFolder(), "x.sock");
  const server = await serveRoutes(socketPath, routes);
  onTestFinished(() => server.close());
  const send = (method: string, path: string, headers: OutgoingHttpHeaders = {}, body?: string) =>
    new Promise<{ status: number; body: any }>((resolve, reject) => {
      const clientRequest = request({ socketPath, method, path, headers, agent: false }, (response) => {
        let text = "";
        response.on("data", (chunk) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
      });
      clientRequest.on("error", reject);
      clientRequest.end(body);
    });
  return { socketPath, send };
}

function serveControl() {
  let stops = 0;
  const routes = createControlRoutes(token, {
    introduce: () => introduction,
    status: () => status,
    stop: () => void stops++,
  });
  return { routes, stops: () => stops };
}

test("only the owner can open the socket", async () => {
  const { socketPath } = await serveForTest(serveControl().routes);
  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
});

test("nobody else can open the socket at any time, from its first moment", async () => {
  const folder = createTempFolder();
  const modes = new Set<string>();
  for (let count = 0; count < 100; count++) {
    const socketPath = join(folder, `${count}.sock`);
    const serving = serveRoutes(socketPath, []);
    onTestFinished(async () => (await serving).close());
    for (let mode = ""; mode !== "600"; await waitForTick()) {
      mode = ((statSync(socketPath, { throwIfNoEntry: false })?.mode ?? 0) & 0o777).toString(8);
      modes.add(mode);
    }
  }
  // Zero while there is none.
  expect([...modes].filter((mode) => !["0", "700", "600"].includes(mode))).toEqual([]);
  // Other files of the process get their usual mode.
  expect(process.umask()).toBe(umask);
});

test("a leftover socket file is replaced, and ours is removed on close", async () => {
  const path = join(createTempFolder(), "x.sock");
  const first = await serveRoutes(path, []);
  const second = await serveRoutes(path, []);
  await second.close();
  await first.close();
  expect(readdirSync(join(path, ".."))).toEqual([]);
});

test("a host proves that it knows the token without revealing it", async () => {
  const { send } = await serveForTest(serveControl().routes);
  const nonce = "0123456789abcdef".repeat(4);
  const response = await send("GET", `/prove?nonce=${nonce}`);
  expect(response).toEqual({ status: 200, body: { ...introduction, proof: createProof(token, nonce, 7) } });
  expect(response.body.proof).not.toBe(createProof("another token", nonce, 7));
  expect(JSON.stringify(response.body)).not.toContain(token);
});

test("an invalid nonce is refused", async () => {
  const { send } = await serveForTest(serveControl().routes);
  for (const nonce of ["", "abc", "g".repeat(64), "a".repeat(200)]) {
    expect(await send("GET", `/prove?nonce=${nonce}`)).toMatchObject({
      status: 400,
      body: { error: { code: "bad_request" } },
    });
  }
});

test("status and stop need the token", async () => {
  const { routes, stops } = serveControl();
  const { send } = await serveForTest(routes);
  for (const authorization of [undefined, "", "Bearer wrong", token, `Bearer ${token}x`, `Basic ${token}`]) {
    const headers = authorization === undefined ? {} : { authorization };
    expect(await send("GET", "/status", headers)).toMatchObject({ status: 403 });
    expect(await send("POST", "/stop", headers)).toMatchObject({ status: 403 });
  }
  expect(stops()).toBe(0);
  const right = { authorization: `Bearer ${token}` };
  expect(await send("GET", "/status", right)).toEqual({ status: 200, body: status });
  expect(await send("POST", "/stop", right)).toMatchObject({ status: 202 });
  await expect.poll(stops).toBe(1);
});

const renewals: unknown[][] = [];
const renewSlot = async (...args: unknown[]) => {
  renewals.push(args);
  return { generation: 7, ended: "crash" as const };
};

test("main can renew a slot, and invalid parameters are refused", async () => {
  const { send } = await serveForTest(
    createHostRoutes("main's key", { status: () => status, stop() {}, renewSlot }, openScriptFolders([])),
  );
  const renew = (query: string) => send("POST", `/slots/renew?${query}`, { "x-thinkery-host-key": "main's key" });
  renewals.length = 0;
  for (const query of [
    "",
    "index=0",
    "generation=1",
    "index=x&generation=1",
    "index=0&generation=1.5",
    "index=0&generation=-2",
    "index=&generation=1",
  ]) {
    expect([query, (await renew(query)).status]).toEqual([query, 400]);
  }
  expect(renewals).toEqual([]);
  expect(await renew("index=0&generation=-1")).toEqual({ status: 200, body: { generation: 7, ended: "crash" } });
  await renew("index=12&generation=5&lost=1");
  expect(renewals).toEqual([
    [0, -1, false],
    [12, 5, true],
  ]);
});

test("main's services are forbidden without main's key", async () => {
  let stops = 0;
  const { send } = await serveForTest(
    createHostRoutes(
      "main's key",
      { status: () => status, stop: () => void stops++, renewSlot },
      openScriptFolders([]),
    ),
  );
  for (const [method, path] of [
    ["GET", "/status"],
    ["GET", "/scripts"],
    ["GET", "/script?name=x"],
    ["POST", "/shutdown"],
    ["POST", "/slots/renew?index=0&generation=1"],
    ["GET", "/nothing"],
    ["PUT", "/status"],
  ] as const) {
    expect(await send(method, path)).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } });
    expect(await send(method, path, { "x-thinkery-host-key": "main's kez" })).toMatchObject({ status: 403 });
  }
  const key = { "x-thinkery-host-key": "main's key" };
  expect(await send("GET", "/status", key)).toEqual({ status: 200, body: status });
  expect(await send("GET", "/nothing", key)).toMatchObject({ status: 404 });
  expect(await send("POST", "/status", key)).toMatchObject({ status: 405 });
  expect(stops).toBe(0);
  expect(await send("POST", "/shutdown", key)).toMatchObject({ status: 202 });
  await expect.poll(() => stops).toBe(1);
});

test("only ThinkeryErrors are reported in detail", async () => {
  const { send } = await serveForTest([
    {
      method: "GET",
      path: "/expected",
      handle: () => {
        throw fail("not_found", "Look elsewhere.");
      },
    },
    {
      method: "GET",
      path: "/unexpected",
      handle: () => {
        throw new Error("/secret/path");
      },
    },
    { method: "POST", path: "/echo", handle: ({ body }) => ({ body: body.length }) },
  ]);
  expect(await send("GET", "/expected")).toEqual({
    status: 404,
    body: { error: { code: "not_found", message: "Look elsewhere." } },
  });
  const { status, body } = await send("GET", "/unexpected");
  expect(status).toBe(500);
  expect(JSON.stringify(body)).not.toMatch(/secret|at /);
  expect(await send("POST", "/echo", {}, "x".repeat(1000))).toEqual({ status: 200, body: 1000 });
});

test("a body that is too large is refused", async () => {
  const { send } = await serveForTest([
    { method: "POST", path: "/echo", handle: ({ body }) => ({ body: body.length }) },
  ]);
  const outcome = await send("POST", "/echo", {}, "x".repeat(3 * 1024 * 1024)).catch(
    (error: NodeJS.ErrnoException) => error.code,
  );
  // The response may arrive before the whole body is sent; then the client sees a closed connection.
  expect(typeof outcome === "string" ? 413 : outcome?.status).toBe(413);
});
