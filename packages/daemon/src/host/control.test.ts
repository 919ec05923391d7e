import { readdirSync, statSync } from "node:fs";
import { request, type OutgoingHttpHeaders } from "node:http";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import type { HostStatus } from "@thinkery/sdk/internal";
import { expect, onTestFinished, test } from "vitest";
import { openScriptFolders } from "../scripts/folders.ts";
import { createControlRoutes, createProof } from "./control.ts";
import { createTempFolder } from "./fixture.ts";
import { serveRoutes, type Route } from "./serve.ts";
import { createHostRoutes } from "./services.ts";

const token = "t".repeat(64);
const status: HostStatus = { pid: 7, startedAt: "then", main: { restarts: 0 }, slots: [] };
const introduction = { pid: 7, host: "127.0.0.1", port: 5099, startedAt: "then", version: "1", ready: true };

async function serveForTest(routes: Route[]) {
  const socketPath = join(createTempFolder(), "x.sock");
  const server = await serveRoutes(socketPath, routes);
  onTestFinished(() => server.close());
  const ask = (method: string, path: string, headers: OutgoingHttpHeaders = {}, body?: string) =>
    new Promise<{ status: number; body: any }>((resolve, reject) => {
      const asked = request({ socketPath, method, path, headers, agent: false }, (answer) => {
        let text = "";
        answer.on("data", (chunk) => (text += chunk));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) }));
      });
      asked.on("error", reject);
      asked.end(body);
    });
  return { socketPath, ask };
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

test("a socket file that a dead host left is taken over, and ours is removed at the end", async () => {
  const path = join(createTempFolder(), "x.sock");
  const first = await serveRoutes(path, []);
  const second = await serveRoutes(path, []);
  await second.close();
  await first.close();
  expect(readdirSync(join(path, ".."))).toEqual([]);
});

test("a host proves that it knows the token, without telling it", async () => {
  const { ask } = await serveForTest(serveControl().routes);
  const nonce = "0123456789abcdef".repeat(4);
  const answer = await ask("GET", `/prove?nonce=${nonce}`);
  expect(answer).toEqual({ status: 200, body: { ...introduction, proof: createProof(token, nonce, 7) } });
  expect(answer.body.proof).not.toBe(createProof("another token", nonce, 7));
  expect(JSON.stringify(answer.body)).not.toContain(token);
});

test("a nonce that is none is refused", async () => {
  const { ask } = await serveForTest(serveControl().routes);
  for (const nonce of ["", "abc", "g".repeat(64), "a".repeat(200)]) {
    expect(await ask("GET", `/prove?nonce=${nonce}`)).toMatchObject({
      status: 400,
      body: { error: { code: "bad_request" } },
    });
  }
});

test("status and stop need the token", async () => {
  const { routes, stops } = serveControl();
  const { ask } = await serveForTest(routes);
  for (const authorization of [undefined, "", "Bearer wrong", token, `Bearer ${token}x`, `Basic ${token}`]) {
    const headers = authorization === undefined ? {} : { authorization };
    expect(await ask("GET", "/status", headers)).toMatchObject({ status: 403 });
    expect(await ask("POST", "/stop", headers)).toMatchObject({ status: 403 });
  }
  expect(stops()).toBe(0);
  const right = { authorization: `Bearer ${token}` };
  expect(await ask("GET", "/status", right)).toEqual({ status: 200, body: status });
  expect(await ask("POST", "/stop", right)).toMatchObject({ status: 202 });
  await expect.poll(stops).toBe(1);
});

const renewals: unknown[][] = [];
const renewSlot = async (...asked: unknown[]) => {
  renewals.push(asked);
  return { generation: 7, ended: "crash" as const };
};

test("main may have a slot renewed, and is told what it got wrong", async () => {
  const { ask } = await serveForTest(
    createHostRoutes("main's key", { status: () => status, stop() {}, renewSlot }, openScriptFolders([])),
  );
  const renew = (query: string) => ask("POST", `/slots/renew?${query}`, { "x-thinkery-host-key": "main's key" });
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

test("main's services are closed to everybody without main's key", async () => {
  let stops = 0;
  const { ask } = await serveForTest(
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
    expect(await ask(method, path)).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } });
    expect(await ask(method, path, { "x-thinkery-host-key": "main's kez" })).toMatchObject({ status: 403 });
  }
  const key = { "x-thinkery-host-key": "main's key" };
  expect(await ask("GET", "/status", key)).toEqual({ status: 200, body: status });
  expect(await ask("GET", "/nothing", key)).toMatchObject({ status: 404 });
  expect(await ask("POST", "/status", key)).toMatchObject({ status: 405 });
  expect(stops).toBe(0);
  expect(await ask("POST", "/shutdown", key)).toMatchObject({ status: 202 });
  await expect.poll(() => stops).toBe(1);
});

test("a failure tells what was foreseen and nothing else", async () => {
  const { ask } = await serveForTest([
    {
      method: "GET",
      path: "/foreseen",
      handle: () => {
        throw fail("not_found", "Look elsewhere.");
      },
    },
    {
      method: "GET",
      path: "/unforeseen",
      handle: () => {
        throw new Error("/secret/path");
      },
    },
    { method: "POST", path: "/echo", handle: ({ body }) => ({ body: body.length }) },
  ]);
  expect(await ask("GET", "/foreseen")).toEqual({
    status: 404,
    body: { error: { code: "not_found", message: "Look elsewhere." } },
  });
  const { status, body } = await ask("GET", "/unforeseen");
  expect(status).toBe(500);
  expect(JSON.stringify(body)).not.toMatch(/secret|at /);
  expect(await ask("POST", "/echo", {}, "x".repeat(1000))).toEqual({ status: 200, body: 1000 });
});

test("a body that is too large is refused", async () => {
  const { ask } = await serveForTest([
    { method: "POST", path: "/echo", handle: ({ body }) => ({ body: body.length }) },
  ]);
  const outcome = await ask("POST", "/echo", {}, "x".repeat(3 * 1024 * 1024)).catch(
    (error: NodeJS.ErrnoException) => error.code,
  );
  // The answer may come before all is sent; then the sender sees a closed connection.
  expect(typeof outcome === "string" ? 413 : outcome?.status).toBe(413);
});
