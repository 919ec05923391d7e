import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { isGroupAlive, createTempFolder } from "./fixture.ts";
import type { Limits } from "./limits.ts";
import { pingSandbox } from "./ping.ts";
import { startChild } from "./process.ts";
import { type ChildEnd, supervise, type ChildSpec } from "./supervise.ts";
import { formatSandboxConfig } from "./workerd-config.ts";
import { toServeCommand } from "./workerd.ts";

const quick: Partial<Limits> = { pingMs: 20, silenceMs: 1000, backoffMs: 5, maxBackoffMs: 20, retryMs: 50 };

function superviseForTest(spec: Pick<ChildSpec, "start" | "ping"> & Partial<ChildSpec>, limits: Partial<Limits> = {}) {
  const events: string[] = [];
  const giveUps: string[] = [];
  const onGiveUp = (reason: string) => void giveUps.push(reason);
  const child = supervise(
    { name: "it", onLine: () => {}, onEvent: (text) => events.push(text), onGiveUp, canRetry: false, ...spec },
    { ...quick, ...limits },
  );
  onTestFinished(() => child.stop(0));
  return { child, events, giveUps };
}

function superviseWorker(limits?: Partial<Limits>) {
  const folder = createTempFolder();
  const socket = join(folder, "w.sock");
  const configFile = join(folder, "w.capnp");
  const path = join(folder, "w.js");
  writeFileSync(path, `export default { fetch() { return new Response("alive"); } };`);
  writeFileSync(configFile, formatSandboxConfig({ socket, modules: [{ name: "w.js", path }], memoryMb: 128 }));
  const [command, ...args] = toServeCommand(configFile, { experimental: true });
  return superviseForTest(
    {
      prepare: () => rm(socket, { force: true }),
      start: (onLine) => startChild({ command, args, env: {}, lockFd: undefined, onLine }),
      ping: (signal) => pingSandbox(socket, signal),
    },
    limits,
  );
}

const createShellSpec = (script: string): Pick<ChildSpec, "start" | "ping"> => ({
  start: (onLine) => startChild({ command: "/bin/sh", args: ["-c", script], env: {}, lockFd: undefined, onLine }),
  ping: async () => {},
});

test("a killed child is restarted with a new pid", async () => {
  const { child, events } = superviseWorker();
  expect(child.getStatus().state).toBe("starting");
  await child.start();
  const first = child.getStatus();
  expect(first).toMatchObject({ name: "it", state: "ready", restarts: 0, generation: 1, pid: expect.any(Number) });
  process.kill(first.pid as number, "SIGKILL");
  await vi.waitUntil(() => child.getStatus().restarts === 1 && child.getStatus().state === "ready", {
    timeout: 20_000,
    interval: 5,
  });
  expect(child.getStatus().pid).not.toBe(first.pid);
  expect(events[0]).toContain("was killed by SIGKILL");
});

test("a child that stops responding is killed and restarted", async () => {
  const { child, events } = superviseWorker();
  await child.start();
  const { pid } = child.getStatus();
  process.kill(pid as number, "SIGSTOP");
  await vi.waitUntil(() => child.getStatus().restarts === 1 && child.getStatus().state === "ready", {
    timeout: 20_000,
    interval: 5,
  });
  expect(child.getStatus().pid).not.toBe(pid);
  expect(events).toEqual([expect.stringContaining("did not respond for 1 s")]);
});

test("a child that never becomes ready is killed", async () => {
  const { child, giveUps } = superviseForTest(createShellSpec("sleep 60"), { startMs: 60, failures: 2 });
  await expect(child.start()).rejects.toThrow("did not respond");
  expect(giveUps).toHaveLength(1);
});

test("supervision gives up after too many failures, with the reason and the last output", async () => {
  const { child, events, giveUps } = superviseForTest(createShellSpec("echo out of luck; exit 3"), { failures: 3 });
  await expect(child.start()).rejects.toThrow("exited with code 3; giving up after 3 failures");
  expect(giveUps).toEqual([expect.stringContaining("out of luck")]);
  expect(events).toHaveLength(2);
  expect(child.getStatus()).toEqual({ name: "it", state: "failed", restarts: 2, generation: 3 });
});

test("failures outside the window are not counted", async () => {
  const { child, giveUps } = superviseForTest(createShellSpec("exit 3"), { failures: 2, windowMs: 0 });
  child.start().catch(() => {});
  await vi.waitUntil(() => child.getStatus().restarts > 4, { timeout: 20_000, interval: 5 });
  expect(giveUps).toEqual([]);
});

test("a child with canRetry is started again after a pause", async () => {
  let broken = true;
  const fine = createShellSpec(`echo '"listen"' >&4; sleep 60`);
  const start: ChildSpec["start"] = (onLine) => (broken ? createShellSpec("exit 3") : fine).start(onLine);
  const { child, giveUps } = superviseForTest({ start, ping: fine.ping, canRetry: true }, { failures: 2 });
  await expect(child.start()).rejects.toThrow();
  expect(giveUps).toHaveLength(1);
  broken = false;
  await vi.waitUntil(() => child.getStatus().state === "ready", { timeout: 20_000, interval: 5 });
});

test("a ThinkeryError thrown by start ends all attempts", async () => {
  const start = () => {
    throw fail("unavailable", "The workerd binary is missing.");
  };
  const { child, giveUps } = superviseForTest({ start, ping: async () => {} });
  await expect(child.start()).rejects.toMatchObject({ code: "unavailable", message: "The workerd binary is missing." });
  expect(giveUps).toEqual(["The workerd binary is missing."]);
});

test("stop ends the child, even one that ignores SIGTERM, and does not restart it", async () => {
  const { child } = superviseForTest(createShellSpec(`trap '' TERM; echo '"listen"' >&4; while :; do sleep 1; done`));
  await child.start();
  const { pid } = child.getStatus();
  await child.stop(30);
  expect(isGroupAlive(pid as number)).toBe(false);
  expect(child.getStatus()).toMatchObject({ restarts: 0 });
});

test("a renewed child is drained and restarted at once, without counting a failure", async () => {
  const drained: (number | undefined)[] = [];
  const spec = {
    ...createShellSpec(`echo '{"event":"listen"}' >&4; exec sleep 600`),
    drain: async () => void drained.push(child.getStatus().pid),
  };
  const { child, events, giveUps } = superviseForTest(spec, { failures: 1 });
  await child.start();
  const pids = [child.getStatus().pid];
  for (const times of [1, 2, 3]) {
    await child.renew(1_000);
    await vi.waitUntil(() => child.getStatus().state === "ready" && child.getStatus().pid !== pids.at(-1), {
      timeout: 20_000,
      interval: 5,
    });
    expect(drained).toEqual(pids);
    pids.push(child.getStatus().pid);
    expect([times, child.getStatus().restarts, events, giveUps]).toEqual([times, 0, [], []]);
  }
  expect(new Set(pids).size).toBe(4);
});

test("after a child ended without responding, the diagnosis decides between a replacement and giving up", async () => {
  const verdicts: (Error | "renewed")[] = ["renewed", "renewed", fail("unavailable", "It never will.")];
  const never = () => new Promise<void>(() => {});
  const { child, events, giveUps } = superviseForTest({
    ...createShellSpec("exit 1"),
    ping: never,
    diagnose: () => verdicts.shift(),
  });
  await expect(child.start()).rejects.toThrow("It never will.");
  expect({ events, giveUps, left: verdicts.length, restarts: child.getStatus().restarts }).toEqual({
    events: [],
    giveUps: ["It never will."],
    left: 0,
    restarts: 0,
  });
});

const listening = `echo '{"event":"listen"}' >&4`;

test("a disposable child that was ready may end any number of times, silently", async () => {
  const ends: ChildEnd[] = [];
  const spec = {
    ...createShellSpec(`${listening}; exec sleep 600`),
    isDisposable: true,
    onEnd: (end: ChildEnd) => void ends.push(end),
  };
  const { child, events, giveUps } = superviseForTest(spec, { failures: 2, backoffMs: 60_000 });
  await child.start();
  for (let times = 1; times <= 20; times++) {
    process.kill(child.getStatus().pid as number, "SIGKILL");
    expect(await child.waitUntilReady(times)).toBe(times + 1);
  }
  expect({ events, giveUps, restarts: child.getStatus().restarts }).toEqual({ events: [], giveUps: [], restarts: 20 });
  expect(ends.map(({ generation, exit, killedFor }) => [generation, exit.signal, killedFor])).toEqual(
    Array.from({ length: 20 }, (_, index) => [index + 1, "SIGKILL", undefined]),
  );
});

test("supervision gives up on a disposable child that never becomes ready, and rejects pending waits", async () => {
  const { child, giveUps } = superviseForTest(
    { ...createShellSpec("echo out of luck; exit 3"), isDisposable: true, canRetry: true },
    { failures: 3, retryMs: 60_000 },
  );
  const waiting = child.waitUntilReady(0);
  child.start().catch(() => {});
  await expect(waiting).rejects.toThrow(/3 failures.*out of luck/);
  await expect(child.waitUntilReady(0)).rejects.toThrow(/3 failures/);
  expect(giveUps).toHaveLength(1);
});

test("waiting for the next child does not resolve with the current one or one that is ending", async () => {
  const { child } = superviseForTest({ ...createShellSpec(`${listening}; exec sleep 600`), isDisposable: true });
  const early = child.waitUntilReady(1);
  await child.start();
  expect(await child.waitUntilReady(-1)).toBe(1);
  const waiting = child.waitUntilReady(1);
  const renewed = child.renew(0, 1);
  expect(await child.waitUntilReady(-1)).toBe(2);
  await renewed;
  expect(await Promise.all([early, waiting])).toEqual([2, 2]);
});

test("renew ends only the child of the given generation", async () => {
  const ends: ChildEnd[] = [];
  const { child } = superviseForTest({
    ...createShellSpec(`${listening}; exec sleep 600`),
    onEnd: (end) => void ends.push(end),
  });
  await child.start();
  await Promise.all([child.renew(0, 1), child.renew(0, 1)]);
  await child.waitUntilReady(1);
  const { pid } = child.getStatus();
  for (const other of [-1, 0, 1, 3]) await child.renew(0, other);
  expect(child.getStatus()).toMatchObject({ pid, generation: 2, restarts: 0 });
  expect(ends).toMatchObject([{ generation: 1, killedFor: "renewal" }]);
});

test("waitUntilGone resolves when the child is gone, or at its timeout", async () => {
  const { child } = superviseForTest({ ...createShellSpec(`${listening}; exec sleep 600`), isDisposable: true });
  await child.start();
  await child.waitUntilGone(1, 20);
  expect(child.getStatus().generation).toBe(1);
  const gone = child.waitUntilGone(1, 60_000);
  process.kill(child.getStatus().pid as number, "SIGKILL");
  await gone;
  expect(child.getStatus().pid).toBeUndefined();
  await child.waitUntilGone(1, 60_000);
});

test("stop rejects pending waits, even if nothing was ever started", async () => {
  const started = superviseForTest({ ...createShellSpec("exec sleep 600"), ping: () => new Promise(() => {}) });
  started.child.start().catch(() => {});
  for (const { child } of [started, superviseForTest(createShellSpec("exec sleep 600"))]) {
    const waiting = expect(child.waitUntilReady(-1)).rejects.toThrow("was stopped");
    await child.stop(0);
    await waiting;
  }
});
