import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { isAlive } from "../../../../tests/kit/processes.ts";
import { ensureToken } from "../home/token.ts";
import { claimHome } from "./claim.ts";
import { createControlRoutes, getControlSocket, type HostIntroduction } from "./control.ts";
import { findHost, readDaemonFile, removeDaemonFile, stopHost, writeDaemonFile } from "./discovery.ts";
import { bundleProgram, createTempHome } from "./fixture.ts";
import { takeLock } from "./lock.ts";
import { serveRoutes } from "./serve.ts";

const file = { pid: process.pid, host: "127.0.0.1", port: 5099, startedAt: "then", version: "1" };
const introduction: HostIntroduction = { ...file, ready: true };
const getStatus = () => ({ pid: 1, startedAt: "then", main: { restarts: 0 }, slots: [] });

async function startFakeHost(
  home: Awaited<ReturnType<typeof createTempHome>>,
  token: string,
  response = introduction,
  stop = () => {},
) {
  const server = await serveRoutes(
    getControlSocket(home),
    createControlRoutes(token, { introduce: () => response, status: getStatus, stop }),
  );
  onTestFinished(() => server.close());
  return server;
}

test("daemon.json is written, read back, and removed only by its owner", async () => {
  const home = await createTempHome();
  await writeDaemonFile(home, file);
  expect(JSON.parse(readFileSync(home.daemonFile, "utf8"))).toEqual(file);
  await removeDaemonFile(home, process.pid + 1);
  expect(await readDaemonFile(home)).toEqual(file);
  await removeDaemonFile(home, process.pid);
  expect(existsSync(home.daemonFile)).toBe(false);
});

test("a host that proves its identity is found, whatever daemon.json contains", async () => {
  const home = await createTempHome();
  await startFakeHost(home, await ensureToken(home));
  for (const text of [undefined, "", "{", "null", '{"pid":"x"}', JSON.stringify({ ...file, port: 1 })]) {
    if (text !== undefined) writeFileSync(home.daemonFile, text);
    expect(await findHost(home)).toEqual({ ...file, url: "http://127.0.0.1:5099" });
  }
});

const damage: [string, object][] = [
  ...Object.keys(file).map((key): [string, object] => [`no ${key}`, { [key]: undefined }]),
  ["a pid that is a string", { pid: "12" }],
  ["a pid of 0", { pid: 0 }],
  ["a fractional pid", { pid: 1.5 }],
  ["a version that is a number", { version: 1 }],
];

test.each([...damage, ["a port of 0", { port: 0 }]])("a daemon.json with %s is ignored", async (_, invalid) => {
  const home = await createTempHome();
  writeFileSync(home.daemonFile, JSON.stringify({ ...file, ...invalid }));
  expect(await readDaemonFile(home)).toBeUndefined();
});

test.each([...damage, ["a ready that is a string", { ready: "soon" }]])(
  "a host that introduces itself with %s is not found",
  async (_, invalid) => {
    const home = await createTempHome();
    await startFakeHost(home, await ensureToken(home), { ...introduction, ...invalid });
    expect(await findHost(home)).toBeUndefined();
  },
);

test("a process that does not know the token is not our host", async () => {
  const home = await createTempHome();
  await ensureToken(home);
  await startFakeHost(home, "another token, not this home's");
  expect(await findHost(home)).toBeUndefined();
  expect(await stopHost(home, { timeoutMs: 100 })).toBe("not running");
});

test("a host that is starting or stopping is not found", async () => {
  const home = await createTempHome();
  await startFakeHost(home, await ensureToken(home), { ...introduction, ready: false });
  expect(await findHost(home)).toBeUndefined();
});

test("a stale pid in daemon.json is never signalled", async () => {
  const home = await createTempHome();
  await ensureToken(home);
  const other = spawn("sleep", ["60"]);
  onTestFinished(() => void other.kill("SIGKILL"));
  await once(other, "spawn");
  await writeDaemonFile(home, { ...file, pid: other.pid as number });
  expect(await findHost(home)).toBeUndefined();
  expect(await stopHost(home)).toBe("not running");
  expect(isAlive(other.pid as number)).toBe(true);
  const lock = await claimHome(home);
  expect(isAlive(other.pid as number)).toBe(true);
  await lock.release();
});

test("stopHost waits until the lock is free", async () => {
  const home = await createTempHome();
  const lock = await takeLock(home);
  const order: string[] = [];
  await startFakeHost(home, await ensureToken(home), introduction, () => {
    order.push("requested");
    setTimeout(() => {
      order.push("released");
      void lock?.release();
    }, 100);
  });
  expect(await stopHost(home, { timeoutMs: 10_000 })).toBe("stopped");
  expect(order).toEqual(["requested", "released"]);
});

test("claimHome reports a running host and waits for one that is stopping", async () => {
  const home = await createTempHome();
  const lock = await takeLock(home);
  const token = await ensureToken(home);
  const response = { ...introduction };
  await startFakeHost(home, token, response);
  await expect(claimHome(home)).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("http://127.0.0.1:5099"),
  });

  response.ready = false;
  await expect(claimHome(home, 100)).rejects.toMatchObject({ code: "unavailable" });
  const claimed = claimHome(home, 10_000);
  await lock?.release();
  await (await claimed).release();
});

test("a running host is noticed even if its lock file was removed", async () => {
  const home = await createTempHome();
  await startFakeHost(home, await ensureToken(home));
  await expect(claimHome(home)).rejects.toMatchObject({ code: "conflict" });
  const lock = await takeLock(home);
  expect(lock).toBeDefined();
  await lock?.release();
});

test("a host that proves its identity but does not stop is killed", async () => {
  const home = await createTempHome();
  const source = await bundleProgram(`
    import { createControlRoutes, getControlSocket } from "./control.ts";
    import { takeLock } from "./lock.ts";
    import { serveRoutes } from "./serve.ts";
    const home = ${JSON.stringify(home)};
    const response = { ...${JSON.stringify(introduction)}, pid: process.pid };
    await takeLock(home);
    await serveRoutes(getControlSocket(home), createControlRoutes(${JSON.stringify(await ensureToken(home))}, { introduce: () => response, stop() {} }));
    process.on("SIGTERM", () => {});
    console.log("ready");
  `);
  const child = spawn(process.execPath, [source], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  expect(await stopHost(home, { timeoutMs: 100 })).toBe("stopped");
  expect(await exited).toEqual([null, "SIGKILL"]);
});
