import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { groupLives, tempFolder } from "./fixture.ts";
import type { Limits } from "./limits.ts";
import { pingSandbox } from "./ping.ts";
import { startChild } from "./process.ts";
import { supervise, type Charge } from "./supervise.ts";
import { startWorkerd } from "./workerd.ts";
import { sandboxConfig } from "./workerd-config.ts";

const quick: Partial<Limits> = { pingMs: 20, silenceMs: 400, backoffMs: 5, maxBackoffMs: 20, retryMs: 50 };

function watched(charge: Pick<Charge, "start" | "ping"> & Partial<Charge>, limits: Partial<Limits> = {}) {
  const said: string[] = [];
  const given: string[] = [];
  const onGiveUp = (reason: string) => void given.push(reason);
  const child = supervise(
    { name: "it", onLine: () => {}, onEvent: (text) => said.push(text), onGiveUp, retry: false, ...charge },
    { ...quick, ...limits },
  );
  onTestFinished(() => child.stop(0));
  return { child, said, given };
}

function worker(limits?: Partial<Limits>) {
  const folder = tempFolder();
  const socket = join(folder, "w.sock");
  const configFile = join(folder, "w.capnp");
  const path = join(folder, "w.js");
  writeFileSync(path, `export default { fetch() { return new Response("alive"); } };`);
  writeFileSync(configFile, sandboxConfig({ socket, modules: [{ name: "w.js", path }] }));
  return watched(
    {
      prepare: () => rm(socket, { force: true }),
      start: (onLine) => startWorkerd({ configFile, experimental: true, lockFd: undefined, onLine }),
      ping: (signal) => pingSandbox(socket, signal),
    },
    limits,
  );
}

const shell = (script: string): Pick<Charge, "start" | "ping"> => ({
  start: (onLine) => startChild({ command: "/bin/sh", args: ["-c", script], env: {}, lockFd: undefined, onLine }),
  ping: async () => {},
});

test("a child that is killed comes back with another pid", async () => {
  const { child, said } = worker();
  expect(child.status().state).toBe("starting");
  await child.start();
  const first = child.status();
  expect(first).toMatchObject({ name: "it", state: "ready", restarts: 0, pid: expect.any(Number) });
  process.kill(first.pid as number, "SIGKILL");
  await vi.waitUntil(() => child.status().restarts === 1 && child.status().state === "ready", { timeout: 20_000, interval: 5 });
  expect(child.status().pid).not.toBe(first.pid);
  expect(said[0]).toContain("was ended by SIGKILL");
});

test("a child that stops answering is killed and comes back", async () => {
  const { child, said } = worker();
  await child.start();
  const { pid } = child.status();
  process.kill(pid as number, "SIGSTOP");
  await vi.waitUntil(() => child.status().restarts === 1 && child.status().state === "ready", { timeout: 20_000, interval: 5 });
  expect(child.status().pid).not.toBe(pid);
  expect(said).toEqual([expect.stringContaining("did not answer for 0.4 s")]);
});

test("a child that never becomes ready is killed", async () => {
  const { child, given } = watched(shell("sleep 60"), { startMs: 60, failures: 2 });
  await expect(child.start()).rejects.toThrow("did not answer");
  expect(given).toHaveLength(1);
});

test("after so many failures it gives up, with the reason and the last words", async () => {
  const { child, said, given } = watched(shell("echo out of luck; exit 3"), { failures: 3 });
  await expect(child.start()).rejects.toThrow("exited with code 3, 3 failures");
  expect(given).toEqual([expect.stringContaining("out of luck")]);
  expect(said).toHaveLength(2);
  expect(child.status()).toEqual({ name: "it", state: "failed", restarts: 2 });
});

test("failures outside of the window do not add up", async () => {
  const { child, given } = watched(shell("exit 3"), { failures: 2, windowMs: 0 });
  child.start().catch(() => {});
  await vi.waitUntil(() => child.status().restarts > 4, { timeout: 20_000, interval: 5 });
  expect(given).toEqual([]);
});

test("a child with another chance is tried again after a pause", async () => {
  let broken = true;
  const fine = shell(`echo '"listen"' >&4; sleep 60`);
  const start: Charge["start"] = (onLine) => (broken ? shell("exit 3") : fine).start(onLine);
  const { child, given } = watched({ start, ping: fine.ping, retry: true }, { failures: 2 });
  await expect(child.start()).rejects.toThrow();
  expect(given).toHaveLength(1);
  broken = false;
  await vi.waitUntil(() => child.status().state === "ready", { timeout: 20_000, interval: 5 });
});

test("what no second try can mend ends at once", async () => {
  const start = () => {
    throw fail("unavailable", "The workerd binary is missing.");
  };
  const { child, given } = watched({ start, ping: async () => {} });
  await expect(child.start()).rejects.toMatchObject({ code: "unavailable", message: "The workerd binary is missing." });
  expect(given).toEqual(["The workerd binary is missing."]);
});

test("a stop ends the child, even one that ignores SIGTERM, and nothing comes back", async () => {
  const { child } = watched(shell(`trap '' TERM; echo '"listen"' >&4; while :; do sleep 1; done`));
  await child.start();
  const { pid } = child.status();
  await child.stop(30);
  expect(groupLives(pid as number)).toBe(false);
  expect(child.status()).toMatchObject({ restarts: 0 });
});

test("a child that is renewed is drained and starts again at once, and it is no failure", async () => {
  const drained: (number | undefined)[] = [];
  const charge = { ...shell(`echo '{"event":"listen"}' >&4; exec sleep 600`), drain: async () => void drained.push(child.status().pid) };
  const { child, said, given } = watched(charge, { failures: 1 });
  await child.start();
  const pids = [child.status().pid];
  for (const times of [1, 2, 3]) {
    await child.renew(1_000);
    await vi.waitUntil(() => child.status().state === "ready" && child.status().pid !== pids.at(-1), { timeout: 20_000, interval: 5 });
    expect(drained).toEqual(pids);
    pids.push(child.status().pid);
    expect([times, child.status().restarts, said, given]).toEqual([times, 0, [], []]);
  }
  expect(new Set(pids).size).toBe(4);
});

test("a child that ended without an answer is not tried again when another try is hopeless, and replaced when there is another", async () => {
  const verdicts: (Error | "renewed")[] = ["renewed", "renewed", fail("unavailable", "It never will.")];
  const never = () => new Promise<void>(() => {});
  const { child, said, given } = watched({ ...shell("exit 1"), ping: never, verdict: () => verdicts.shift() });
  await expect(child.start()).rejects.toThrow("It never will.");
  expect({ said, given, left: verdicts.length, restarts: child.status().restarts }).toEqual({ said: [], given: ["It never will."], left: 0, restarts: 0 });
});
