import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@thinkery/sdk/client";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitForExit, findMain, findHomeProcesses } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send } from "../kit/wire.ts";

async function open(): Promise<HostProcess> {
  const house = await startHostProcess();
  onTestFinished(() => house.stop());
  return house;
}

const readMode = async (path: string) => (await stat(path)).mode & 0o777;
const link = /http:\/\/127\.0\.0\.1:\d+\/#code=(\S+)/;

/** The code of the login link that the host prints once it runs. */
const waitForLoginCode = (house: HostProcess) => waitUntil("the login link", () => link.exec(house.readOutput())?.[1]);

async function expectGone(house: HostProcess): Promise<void> {
  expect(await waitForExit(house.daemon)).toBe(0);
  expect(findHomeProcesses(house.home)).toEqual([]);
  expect(existsSync(join(house.home, "daemon.json"))).toBe(false);
}

test("a running host says in its home where it is, and keeps its secrets private", async () => {
  const house = await open();
  expect(JSON.parse(await readFile(join(house.home, "daemon.json"), "utf8"))).toEqual({
    pid: house.daemon.pid,
    host: "127.0.0.1",
    port: house.port,
    startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    version: expect.stringMatching(/^\d+\.\d+\.\d+\+[0-9a-f]+$/),
  });
  expect(house.token).toMatch(/^[0-9a-f]{64}$/);
  expect(await readMode(house.home)).toBe(0o700);
  expect(await readMode(join(house.home, "token"))).toBe(0o600);
  expect(await readMode(join(house.home, "signing-key"))).toBe(0o600);
});

test("health tells strangers that it lives, and the owner how it is", async () => {
  const house = await open();
  await house.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
  const stranger = await send({ port: house.port, path: "/health" });
  expect(stranger.status).toBe(200);
  expect(JSON.parse(stranger.body)).toEqual({ status: "ok" });

  const health = await waitUntil("both sandboxes", async () => {
    const said = await house.client.call("health");
    return said.sandboxes?.every(({ state }) => state === "ready") && said;
  });
  const file = JSON.parse(await readFile(join(house.home, "daemon.json"), "utf8"));
  expect(health).toMatchObject({
    status: "ok",
    pid: house.daemon.pid,
    version: file.version,
    agencies: 1,
    agents: 1,
    restarts: 0,
  });
  expect(health.uptime).toBeGreaterThanOrEqual(0);
  expect(health.sandboxes?.map(({ name }) => name)).toEqual(["sandbox-0", "sandbox-1"]);
  expect(health.models).toEqual({ configured: [], default: { id: "scripted:tour", why: expect.any(String) } });
});

test("a request can shut the host down, and nothing is left of it", async () => {
  const house = await open();
  const headers = { authorization: `Bearer ${house.token}` };
  expect((await send({ port: house.port, method: "POST", path: "/shutdown" })).status).toBe(401);
  expect((await send({ port: house.port, method: "POST", path: "/shutdown", headers })).status).toBe(202);
  await expectGone(house);
});

test("a start in the foreground says where it is, and Ctrl+C stops it cleanly", async () => {
  const house = await open();
  await waitForLoginCode(house);
  expect(house.readOutput()).toContain(`Thinkery is running at ${house.url}\n`);
  expect(house.readOutput()).not.toContain(house.token);
  expect(house.readOutput().trim().split("\n").length).toBeLessThan(8);
  house.daemon.kill("SIGINT");
  await expectGone(house);
  expect(house.readOutput()).toContain("Thinkery has stopped.");
});

test("an open WebSocket does not keep the host from stopping", async () => {
  const house = await open();
  await house.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
  const socket = new WebSocket(`ws://127.0.0.1:${house.port}/agents/think/global~alice`, {
    headers: { authorization: `Bearer ${house.token}` },
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("message", resolve));
  house.daemon.kill("SIGINT");
  await expectGone(house);
  await closed;
});

test("the login link works once, and what it gives is a cookie that scripts cannot read", async () => {
  const house = await open();
  const login = {
    port: house.port,
    method: "POST",
    path: "/login",
    headers: { "content-type": "application/json", origin: house.url },
    body: JSON.stringify({ code: await waitForLoginCode(house) }),
  };
  const first = await send(login);
  expect(first.status).toBe(200);
  const cookie = first.headers["set-cookie"]?.[0] ?? "";
  expect(cookie).toMatch(/^thinkery-\d+=.*HttpOnly.*SameSite=Strict/i);
  const headers = { cookie: cookie.split(";")[0] ?? "" };
  expect(JSON.parse((await send({ port: house.port, path: "/who", headers })).body)).toMatchObject({ user: "owner" });

  const second = await send(login);
  expect(second.status).toBe(401);
  expect(second.headers["set-cookie"]).toBeUndefined();
});

test("a second start finds the running host, with a new link to it, and starts none", async () => {
  const house = await open();
  const main = findMain(house.home);
  for (const args of [["start"], ["start", "--foreground"]]) {
    const { code, stdout } = await house.runCli(args);
    expect([args, code]).toEqual([args, 0]);
    expect(stdout).toContain(`Thinkery is already running at ${house.url}\n`);
    const [, fresh = ""] = link.exec(stdout) ?? [];
    await createClient({ url: house.url }).call("login", { body: { code: fresh } });
  }
  expect(findMain(house.home)).toEqual(main);
  expect(JSON.parse(await readFile(join(house.home, "daemon.json"), "utf8")).pid).toBe(house.daemon.pid);
});
