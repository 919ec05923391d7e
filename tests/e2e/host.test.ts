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
  const host = await startHostProcess();
  onTestFinished(() => host.stop());
  return host;
}

const readMode = async (path: string) => (await stat(path)).mode & 0o777;
const link = /http:\/\/127\.0\.0\.1:\d+\/#code=(\S+)/;

/** Waits for the code of the login link that the host prints once it runs. */
const waitForLoginCode = (host: HostProcess) => waitUntil("the login link", () => link.exec(host.readOutput())?.[1]);

async function expectStopped(host: HostProcess): Promise<void> {
  expect(await waitForExit(host.daemon)).toBe(0);
  expect(findHomeProcesses(host.home)).toEqual([]);
  expect(existsSync(join(host.home, "daemon.json"))).toBe(false);
}

test("a running host writes a discovery file and keeps its secrets private", async () => {
  const host = await open();
  expect(JSON.parse(await readFile(join(host.home, "daemon.json"), "utf8"))).toEqual({
    pid: host.daemon.pid,
    host: "127.0.0.1",
    port: host.port,
    startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    version: expect.stringMatching(/^\d+\.\d+\.\d+\+[0-9a-f]+$/),
  });
  expect(host.token).toMatch(/^[0-9a-f]{64}$/);
  expect(await readMode(host.home)).toBe(0o700);
  expect(await readMode(join(host.home, "token"))).toBe(0o600);
  expect(await readMode(join(host.home, "signing-key"))).toBe(0o600);
});

test("health returns only the status to strangers, and details to the owner", async () => {
  const host = await open();
  await host.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
  const stranger = await send({ port: host.port, path: "/health" });
  expect(stranger.status).toBe(200);
  expect(JSON.parse(stranger.body)).toEqual({ status: "ok" });

  const health = await waitUntil("both sandboxes", async () => {
    const response = await host.client.call("health");
    return response.sandboxes?.every(({ state }) => state === "ready") && response;
  });
  const file = JSON.parse(await readFile(join(host.home, "daemon.json"), "utf8"));
  expect(health).toMatchObject({
    status: "ok",
    pid: host.daemon.pid,
    version: file.version,
    agencies: 1,
    agents: 1,
    restarts: 0,
  });
  expect(health.uptime).toBeGreaterThanOrEqual(0);
  expect(health.sandboxes?.map(({ name }) => name)).toEqual(["sandbox-0", "sandbox-1"]);
  expect(health.models).toEqual({ configured: [], default: { id: "scripted:tour", why: expect.any(String) } });
});

test("a request can shut the host down, and nothing is left behind", async () => {
  const host = await open();
  const headers = { authorization: `Bearer ${host.token}` };
  expect((await send({ port: host.port, method: "POST", path: "/shutdown" })).status).toBe(401);
  expect((await send({ port: host.port, method: "POST", path: "/shutdown", headers })).status).toBe(202);
  await expectStopped(host);
});

test("a host in the foreground prints its URL, and Ctrl+C stops it cleanly", async () => {
  const host = await open();
  await waitForLoginCode(host);
  expect(host.readOutput()).toContain(`Thinkery is running at ${host.url}\n`);
  expect(host.readOutput()).not.toContain(host.token);
  expect(host.readOutput().trim().split("\n").length).toBeLessThan(8);
  host.daemon.kill("SIGINT");
  await expectStopped(host);
  expect(host.readOutput()).toContain("Thinkery has stopped.");
});

test("an open WebSocket does not keep the host from stopping", async () => {
  const host = await open();
  await host.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}/agents/think/global~alice`, {
    headers: { authorization: `Bearer ${host.token}` },
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("message", resolve));
  host.daemon.kill("SIGINT");
  await expectStopped(host);
  await closed;
});

test("the login link works once and sets a cookie that scripts cannot read", async () => {
  const host = await open();
  const login = {
    port: host.port,
    method: "POST",
    path: "/login",
    headers: { "content-type": "application/json", origin: host.url },
    body: JSON.stringify({ code: await waitForLoginCode(host) }),
  };
  const first = await send(login);
  expect(first.status).toBe(200);
  const cookie = first.headers["set-cookie"]?.[0] ?? "";
  expect(cookie).toMatch(/^thinkery-\d+=.*HttpOnly.*SameSite=Strict/i);
  const { pageSecret } = JSON.parse(first.body) as { pageSecret: string };
  const headers = { cookie: cookie.split(";")[0] ?? "", "x-thinkery-page": pageSecret };
  expect(JSON.parse((await send({ port: host.port, path: "/who", headers })).body)).toMatchObject({ user: "owner" });

  const second = await send(login);
  expect(second.status).toBe(401);
  expect(second.headers["set-cookie"]).toBeUndefined();
});

test("a second start prints a new login link to the running host and starts none", async () => {
  const host = await open();
  const main = findMain(host.home);
  for (const args of [["start"], ["start", "--foreground"]]) {
    const { code, stdout } = await host.runCli(args);
    expect([args, code]).toEqual([args, 0]);
    expect(stdout).toContain(`Thinkery is already running at ${host.url}\n`);
    const [, loginCode = ""] = link.exec(stdout) ?? [];
    await createClient({ url: host.url }).call("login", { body: { code: loginCode } });
  }
  expect(findMain(host.home)).toEqual(main);
  expect(JSON.parse(await readFile(join(host.home, "daemon.json"), "utf8")).pid).toBe(host.daemon.pid);
});
