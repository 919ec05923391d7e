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

function superviseForTest(
  charge: Pick<ChildSpec, "start" | "ping"> & Partial<ChildSpec>,
  limits: Partial<Limits> = {},
) {
  const said: string[] = [];
  const given: string[] = [];
  const onGiveUp = (reason: string) => void given.push(reason);
  const child = supervise(
    { name: "it", onLine: () => {}, onEvent: (text) => said.push(text), onGiveUp, canRetry: false, ...charge },
    { ...quick, ...limits },
  );
  onTestFinished(() => child.stop(0));
  return { child, said, given };
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

test("a child that is killed comes back with another pid", async () => {
  const { child, said } = superviseWorker();
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
  expect(said[0]).toContain("was ended by SIGKILL");
});

test("a child that stops answering is killed and comes back", async () => {
  const { child, said } = superviseWorker();
  await child.start();
  const { pid } = child.getStatus();
  process.kill(pid as number, "SIGSTOP");
  await vi.waitUntil(() => child.getStatus().restarts === 1 && child.getStatus().state === "ready", {
    timeout: 20_000,
    interval: 5,
  });
  expect(child.getStatus().pid).not.toBe(pid);
  expect(said).toEqual([expect.stringContaining("did not answer for 1 s")]);
});

test("a child that never becomes ready is killed", async () => {
  const { child, given } = superviseForTest(createShellSpec("sleep 60"), { startMs: 60, failures: 2 });
  await expect(child.start()).rejects.toThrow("did not answer");
  expect(given).toHaveLength(1);
});

test("after so many failures it gives up, with the reason and the last words", async () => {
  const { child, said, given } = superviseForTest(createShellSpec("echo out of luck; exit 3"), { failures: 3 });
  await expect(child.start()).rejects.toThrow("exited with code 3, 3 failures");
  expect(given).toEqual([expect.stringContaining("out of luck")]);
  expect(said).toHaveLength(2);
  expect(child.getStatus()).toEqual({ name: "it", state: "failed", restarts: 2, generation: 3 });
});

test("failures outside of the window do not add up", async () => {
  const { child, given } = superviseForTest(createShellSpec("exit 3"), { failures: 2, windowMs: 0 });
  child.start().catch(() => {});
  await vi.waitUntil(() => child.getStatus().restarts > 4, { timeout: 20_000, interval: 5 });
  expect(given).toEqual([]);
});

test("a child with another chance is tried again after a pause", async () => {
  let broken = true;
  const fine = createShellSpec(`echo '"listen"' >&4; sleep 60`);
  const start: ChildSpec["start"] = (onLine) => (broken ? createShellSpec("exit 3") : fine).start(onLine);
  const { child, given } = superviseForTest({ start, ping: fine.ping, canRetry: true }, { failures: 2 });
  await expect(child.start()).rejects.toThrow();
  expect(given).toHaveLength(1);
  broken = false;
  await vi.waitUntil(() => child.getStatus().state === "ready", { timeout: 20_000, interval: 5 });
});

test("what no second try can mend ends at once", async () => {
  const start = () => {
    throw fail("unavailable", "The workerd binary is missing.");
  };
  const { child, given } = superviseForTest({ start, ping: async () => {} });
  await expect(child.start()).rejects.toMatchObject({ code: "unavailable", message: "The workerd binary is missing." });
  expect(given).toEqual(["The workerd binary is missing."]);
});

test("a stop ends the child, even one that ignores SIGTERM, and nothing comes back", async () => {
  const { child } = superviseForTest(createShellSpec(`trap '' TERM; echo '"listen"' >&4; while :; do sleep 1; done`));
  await child.start();
  const { pid } = child.getStatus();
  await child.stop(30);
  expect(isGroupAlive(pid as number)).toBe(false);
  expect(child.getStatus()).toMatchObject({ restarts: 0 });
});

test("a child that is renewed is drained and starts again at once, and it is no failure", async () => {
  const drained: (number | undefined)[] = [];
  const charge = {
    ...createShellSpec(`echo '{"event":"listen"}' >&4; exec sleep 600`),
    drain: async () => void drained.push(child.getStatus().pid),
  };
  const { child, said, given } = superviseForTest(charge, { failures: 1 });
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
    expect([times, child.getStatus().restarts, said, given]).toEqual([times, 0, [], []]);
  }
  expect(new Set(pids).size).toBe(4);
});

test("a child that ended without an answer is not tried again when another try is hopeless, and replaced when there is another", async () => {
  const verdicts: (Error | "renewed")[] = ["renewed", "renewed", fail("unavailable", "It never will.")];
  const never = () => new Promise<void>(() => {});
  const { child, said, given } = superviseForTest({
    ...createShellSpec("exit 1"),
    ping: never,
    diagnose: () => verdicts.shift(),
  });
  await expect(child.start()).rejects.toThrow("It never will.");
  expect({ said, given, left: verdicts.length, restarts: child.getStatus().restarts }).toEqual({
    said: [],
    given: ["It never will."],
    left: 0,
    restarts: 0,
  });
});

const listening = `echo '{"event":"listen"}' >&4`;

test("one that is disposable may end as often as it likes once it was ready, and nobody is told at length", async () => {
  const ends: ChildEnd[] = [];
  const charge = {
    ...createShellSpec(`${listening}; exec sleep 600`),
    isDisposable: true,
    onEnd: (end: ChildEnd) => void ends.push(end),
  };
  const { child, said, given } = superviseForTest(charge, { failures: 2, backoffMs: 60_000 });
  await child.start();
  for (let times = 1; times <= 20; times++) {
    process.kill(child.getStatus().pid as number, "SIGKILL");
    expect(await child.waitUntilReady(times)).toBe(times + 1);
  }
  expect({ said, given, restarts: child.getStatus().restarts }).toEqual({ said: [], given: [], restarts: 20 });
  expect(ends.map(({ generation, exit, killedFor }) => [generation, exit.signal, killedFor])).toEqual(
    Array.from({ length: 20 }, (_, index) => [index + 1, "SIGKILL", undefined]),
  );
});

test("also one that is disposable is given up when it never becomes ready, and those who wait are told", async () => {
  const { child, given } = superviseForTest(
    { ...createShellSpec("echo out of luck; exit 3"), isDisposable: true, canRetry: true },
    { failures: 3, retryMs: 60_000 },
  );
  const waiting = child.waitUntilReady(0);
  child.start().catch(() => {});
  await expect(waiting).rejects.toThrow(/3 failures.*out of luck/);
  await expect(child.waitUntilReady(0)).rejects.toThrow(/3 failures/);
  expect(given).toHaveLength(1);
});

test("who waits for the next one is not put off with the one that is there, or that is on its way out", async () => {
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

test("only the child that is meant is renewed", async () => {
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

test("one may wait for a child to be gone, but not for ever", async () => {
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

test("a stop tells those who wait that there will be none, also where nothing was ever started", async () => {
  const started = superviseForTest({ ...createShellSpec("exec sleep 600"), ping: () => new Promise(() => {}) });
  started.child.start().catch(() => {});
  for (const { child } of [started, superviseForTest(createShellSpec("exec sleep 600"))]) {
    const waiting = expect(child.waitUntilReady(-1)).rejects.toThrow("was stopped");
    await child.stop(0);
    await waiting;
  }
});
