import http from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type EchoHost, openEchoHost } from "../kit/echo-host.ts";
import type { HostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send } from "../kit/wire.ts";

// A drain is final, so each test has its own host.
let echoHost: EchoHost;
let host: HostProcess;

beforeEach(async () => {
  echoHost = await openEchoHost();
  host = echoHost.host;
});

afterEach(() => echoHost?.stop());

/** Sends the request that the daemon sends before it kills main. */
function drain(): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      { socketPath: join(host.home, "run", "main.sock"), method: "POST", path: "/drain" },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    request.on("error", reject);
    request.end();
  });
}

test("a drain waits for pending requests but not for open sockets, and rejects new requests", async () => {
  const authorization = `Bearer ${host.token}`;
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}/agents/agency/global`, { headers: { authorization } });
  await new Promise((resolve) => socket.once("message", resolve));

  // A creation whose body is not sent yet.
  const body = '{"name":"slow-but-sure"}';
  const creation = http.request({
    host: "127.0.0.1",
    port: host.port,
    method: "POST",
    path: "/agents",
    headers: {
      authorization,
      "content-type": "application/json",
      "content-length": body.length,
      expect: "100-continue",
    },
  });
  const creationStatus = new Promise<number>((resolve, reject) => {
    creation.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    creation.on("error", reject);
  });
  creation.flushHeaders();
  // workerd asks for the body once the Worker reads it: from then on the request is pending.
  await new Promise((resolve) => creation.once("continue", resolve));

  const drained = drain();
  let lateStatus: number;
  do lateStatus = (await send({ port: host.port, path: "/agents", headers: { authorization } })).status;
  while (lateStatus === 200);
  expect(lateStatus).toBe(503);
  expect(await Promise.race([drained, Promise.resolve("still waiting")])).toBe("still waiting");

  creation.end(body);
  expect(await creationStatus).toBe(201);
  expect(await drained).toBe(204);
  expect(socket.readyState).toBe(WebSocket.OPEN);
  socket.terminate();
});

test("a drain does not wait for turns, nor for responses that stream or wait for one", async () => {
  const agent = await echoHost.newAgent();
  const controller = new AbortController();
  const { signal } = controller;
  const events = await echoHost.open(`${agent.at}/events`, { signal });
  const run = await echoHost.open("/run", { body: { agent: agent.name, message: "slow" }, signal });
  expect([events.status, run.status]).toEqual([200, 200]);
  let served = false;
  const serving = echoHost.ask("/serve", { body: { agent: agent.name, message: "slow" }, signal }).then(
    () => (served = true),
    () => {},
  );
  await waitUntil(
    "the second turn to be admitted",
    async () => (await agent.log()).filter(({ type }) => type === "request.accepted").length === 2,
  );

  expect(await drain()).toBe(204);
  expect(served).toBe(false);
  controller.abort();
  await serving;
});
