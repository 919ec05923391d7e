import http from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type EchoHost, openEchoHost } from "../kit/echo-host.ts";
import type { HostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send } from "../kit/wire.ts";

// A drain is for good, so each test has a house of its own.
let aviary: EchoHost;
let house: HostProcess;

beforeEach(async () => {
  aviary = await openEchoHost();
  house = aviary.house;
});

afterEach(() => aviary?.stop());

/** What the daemon asks before it kills main. */
function drain(): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      { socketPath: join(house.home, "run", "main.sock"), method: "POST", path: "/drain" },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    request.on("error", reject);
    request.end();
  });
}

test("a drain waits for what is under way, not for open sockets, and lets nothing new in", async () => {
  const authorization = `Bearer ${house.token}`;
  const socket = new WebSocket(`ws://127.0.0.1:${house.port}/agents/agency/global`, { headers: { authorization } });
  await new Promise((resolve) => socket.once("message", resolve));

  // A creation whose body is still on its way.
  const body = '{"name":"slow-but-sure"}';
  const creation = http.request({
    host: "127.0.0.1",
    port: house.port,
    method: "POST",
    path: "/agents",
    headers: {
      authorization,
      "content-type": "application/json",
      "content-length": body.length,
      expect: "100-continue",
    },
  });
  const answered = new Promise<number>((resolve, reject) => {
    creation.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    creation.on("error", reject);
  });
  creation.flushHeaders();
  // workerd asks for the body once the Worker reads it: from then on the request is under way.
  await new Promise((resolve) => creation.once("continue", resolve));

  const drained = drain();
  let late: number;
  do late = (await send({ port: house.port, path: "/agents", headers: { authorization } })).status;
  while (late === 200);
  expect(late).toBe(503);
  expect(await Promise.race([drained, Promise.resolve("still waiting")])).toBe("still waiting");

  creation.end(body);
  expect(await answered).toBe(201);
  expect(await drained).toBe(204);
  expect(socket.readyState).toBe(WebSocket.OPEN);
  socket.terminate();
});

test("a drain waits for no turn, and for no answer that has begun or waits for one", async () => {
  const agent = await aviary.newAgent();
  const leave = new AbortController();
  const { signal } = leave;
  const events = await aviary.open(`${agent.at}/events`, { signal });
  const run = await aviary.open("/run", { body: { agent: agent.name, message: "slow" }, signal });
  expect([events.status, run.status]).toEqual([200, 200]);
  let served = false;
  const serving = aviary.ask("/serve", { body: { agent: agent.name, message: "slow" }, signal }).then(
    () => (served = true),
    () => {},
  );
  await waitUntil(
    "the second turn to be admitted",
    async () => (await agent.log()).filter(({ type }) => type === "request.accepted").length === 2,
  );

  expect(await drain()).toBe(204);
  expect(served).toBe(false);
  leave.abort();
  await serving;
});
