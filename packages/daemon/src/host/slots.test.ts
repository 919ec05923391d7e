import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { getPriority } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type SandboxLimits, sandboxLimitsSchema } from "@thinkery/sdk/internal";
import { expect, onTestFinished, test, vi } from "vitest";
import { isAlive } from "../../../../tests/kit/processes.ts";
import { getRepeatCount } from "../../../../tests/kit/sample.ts";
import { waitUntil } from "../../../../tests/kit/wait-until.ts";
import { getBubblewrap } from "./bubblewrap.ts";
import { bundleProgram, createTempFolder, createTempHome } from "./fixture.ts";
import type { Limits } from "./limits.ts";
import { findProgram } from "./program.ts";
import { type Slots, createSlots } from "./slots.ts";

const worker = `
let kept = [];
export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/spin") for (;;);
    if (pathname === "/heap") for (;;) kept.push(new Array(1000).fill(kept.length + 0.5));
    if (pathname === "/buffers") try {
      for (;;) kept.push(new Uint8Array(16 << 20).fill(1));
    } catch (error) {
      kept = [];
      return new Response(String(error));
    }
    if (pathname === "/talk") for (let line = 0; line < 1000; line++) console.log("line " + line + "!".repeat(2000));
    return new Response("alive");
  },
};`;

interface SlotsTestOptions {
  count?: number;
  source?: string;
  sandbox?: Partial<SandboxLimits>;
  limits?: Partial<Limits>;
}

async function openSlots({ count = 1, source = worker, sandbox = {}, limits = {} }: SlotsTestOptions = {}) {
  const home = await createTempHome();
  const path = join(createTempFolder(), "it's a worker.js");
  writeFileSync(path, source);
  const log: string[] = [];
  const events: string[] = [];
  const modules = [{ name: "worker.js", path }];
  const onLine = (from: string, line: string) => void log.push(`${from} ${line}`);
  const all = createSlots({
    home,
    count,
    modules,
    sandbox: sandboxLimitsSchema.parse(sandbox),
    limits,
    lockFd: undefined,
    onLine,
    onEvent: (text) => void events.push(text),
  });
  onTestFinished(() => all.stop());
  return { home, path, slots: all, log, events };
}

/** Slots with one that is ready, and its generation. */
async function openReadySlots(given?: SlotsTestOptions) {
  const opened = await openSlots(given);
  opened.slots.start();
  return { ...opened, generation: (await opened.slots.renew(0, -1, false)).generation };
}

function ask(all: Slots, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { socketPath: all.sockets[0], path, headers: { host: "sandbox" }, agent: false },
      (answer) => {
        answer.setEncoding("utf8");
        let body = "";
        answer.on("data", (text: string) => (body += text));
        answer.on("end", () => resolve(body));
        answer.on("error", reject);
      },
    );
    asked.on("error", reject);
    asked.end();
  });
}

const getPid = (all: Slots) => all.status()[0]?.pid as number;

test("a slot is ready again after every kill of its process, and nobody is notified", async () => {
  const kills = getRepeatCount("slot kills", { sample: 6, full: 20 });
  const { slots, events, log, generation } = await openReadySlots({ limits: { failures: 2, backoffMs: 60_000 } });
  expect(generation).toBe(1);
  for (let killed = 1; killed <= kills; killed++) {
    const pid = getPid(slots);
    process.kill(pid, "SIGKILL");
    expect(await slots.renew(0, killed, true)).toEqual({ generation: killed + 1, ended: "crash" });
    expect(getPid(slots)).not.toBe(pid);
  }
  expect(await ask(slots, "/")).toBe("alive");
  expect(slots.status()).toMatchObject([{ name: "sandbox-0", state: "ready", restarts: kills, generation: kills + 1 }]);
  expect(events).toEqual([]);
  expect(log.filter((line) => line.endsWith("ended: crash"))).toHaveLength(kills);
});

test("code that spins is ended after its time, code that does not is left alone, and the one who ran it hears why", async () => {
  const { slots } = await openReadySlots({ sandbox: { stallTimeoutSeconds: 1 } });
  // Nothing to wait for but the time in which a quiet one might be taken for a dead one.
  await sleep(1_300);
  expect(slots.status()).toMatchObject([{ state: "ready", generation: 1 }]);
  await expect(ask(slots, "/spin")).rejects.toThrow();
  expect(await slots.renew(0, 1, true)).toEqual({ generation: 2, ended: "silence" });
  expect(await ask(slots, "/")).toBe("alive");
});

test("code that takes too much memory takes nothing but its own process with it", async () => {
  const { slots } = await openReadySlots({ count: 2, sandbox: { memoryMb: 64 } });
  const other = await slots.renew(1, -1, false);
  await expect(ask(slots, "/heap")).rejects.toThrow();
  expect(await slots.renew(0, 1, true)).toEqual({ generation: 2, ended: "memory" });
  expect(await slots.renew(1, -1, false)).toEqual(other);
});

test("what is killed on demand was asked to go, however often that is asked", async () => {
  const { slots } = await openReadySlots();
  const pid = getPid(slots);
  const renewals = await Promise.all(Array.from({ length: 5 }, () => slots.renew(0, 1, false)));
  expect(renewals).toEqual(renewals.map(() => ({ generation: 2, ended: "asked" })));
  expect(isAlive(pid)).toBe(false);
  expect(slots.status()).toMatchObject([{ restarts: 0, generation: 2 }]);
});

test("a process is spared when another one than that is meant", async () => {
  const { slots } = await openReadySlots();
  await slots.renew(0, 1, false);
  const pid = getPid(slots);
  expect(await slots.renew(0, 1, false)).toEqual({ generation: 2, ended: "asked" });
  expect(await slots.renew(0, 1, true)).toEqual({ generation: 2, ended: "asked" });
  expect(await slots.renew(0, -1, false)).toEqual({ generation: 2 });
  expect(await slots.renew(0, 7, false)).toEqual({ generation: 2 });
  expect(getPid(slots)).toBe(pid);
});

test("a process that is believed to be lost and is not goes all the same", async () => {
  const { slots } = await openReadySlots();
  const pid = getPid(slots);
  expect(await slots.renew(0, 1, true)).toEqual({ generation: 2, ended: "asked" });
  expect(isAlive(pid)).toBe(false);
});

test("who asks while nothing runs yet waits for the first process", async () => {
  const { slots } = await openSlots();
  const waiting = slots.renew(0, -1, false);
  expect(slots.status()).toMatchObject([{ state: "starting", generation: 0 }]);
  slots.start();
  expect(await waiting).toEqual({ generation: 1 });
});

test("a slot that is not there, and one that cannot start, are errors that say so", async () => {
  const { slots, events } = await openSlots({
    source: "this is no Worker",
    limits: { failures: 2, backoffMs: 5, retryMs: 60_000 },
  });
  slots.start();
  await expect(slots.renew(1, -1, false)).rejects.toMatchObject({ code: "not_found" });
  const failure = {
    code: "unavailable",
    message: expect.stringMatching(/^sandbox-0 exited .*2 failures.*SyntaxError/),
  };
  for (const lost of [false, true]) await expect(slots.renew(0, -1, lost)).rejects.toMatchObject(failure);
  expect(slots.status()).toMatchObject([{ state: "failed" }]);
  expect(events.at(-1)).toContain("2 failures");
});

test("to clear the slots ends all that may run in those that were asked for, and each is ready again soon", async () => {
  const { slots, events } = await openReadySlots({ count: 3 });
  for (const index of [0, 1]) await slots.renew(index, -1, false);
  await waitUntil("the third", () => slots.status()[2]?.state === "ready");
  const pids = slots.status().map(({ pid }) => pid as number);
  await slots.clear();
  // It has let go of everything by now, but the kernel may still be taking it apart.
  await waitUntil("those to be gone", () => !pids.slice(0, 2).some(isAlive));
  expect(isAlive(pids[2] as number)).toBe(true);
  expect(await Promise.all([0, 1].map((index) => slots.renew(index, 1, false)))).toEqual(
    [0, 1].map(() => ({ generation: 2, ended: "asked" })),
  );
  expect(events).toEqual([]);
});

test("what a sandbox says cannot fill the log", async () => {
  const { slots, log } = await openReadySlots();
  expect(await ask(slots, "/talk")).toBe("alive");
  await slots.stop();
  const said = log.filter((line) => line.startsWith("sandbox-0 line"));
  expect(said.length).toBeGreaterThan(0);
  expect(said.length).toBeLessThanOrEqual(100);
  expect(said[0]?.length).toBeLessThan(1_100);
});

test.runIf(process.platform === "linux")(
  "the status tells the process of the code itself and its memory, and that process comes after main",
  async () => {
    const { slots } = await openReadySlots();
    const [slot] = slots.status();
    expect(readFileSync(`/proc/${slot?.pid}/cmdline`, "utf8")).toMatch(/workerd\0serve\0/);
    expect(slot?.memoryBytes).toBeGreaterThan(10 * 1024 ** 2);
    expect(slot?.memoryBytes).toBeLessThan(1024 ** 3);
    expect(getPriority(slot?.pid)).toBeGreaterThan(getPriority());
    expect(readFileSync(`/proc/${slot?.pid}/oom_score_adj`, "utf8").trim()).toBe("1000");
  },
);

test("a sandbox behind walls sees nothing of this machine and has no power over it", async (context) => {
  const found = await getBubblewrap();
  if ("missing" in found) return context.skip(found.missing);
  const { slots, home, path, log } = await openReadySlots();
  expect(log[0]).toMatch(/^daemon Sandboxes run behind .*bubblewrap\./);
  expect(slots.status()[0]?.walls).toContain("bubblewrap");
  const pid = getPid(slots);
  const inside = (place: string) => readdirSync(join(`/proc/${pid}/root`, place)).toSorted();

  // Its home: its own configuration, and its own folder with nothing in it, for the socket was taken out.
  expect(inside(home.path)).toEqual(["run"]);
  expect(inside(home.run)).toEqual(["sandbox-0", "sandbox-0.capnp"]);
  expect(inside(join(home.run, "sandbox-0"))).toEqual([]);
  expect(statSync(slots.sockets[0] as string).isSocket()).toBe(true);
  expect(inside(join(path, ".."))).toEqual(["it's a worker.js"]);
  expect(inside("/")).not.toContain("etc");
  expect(inside("/usr").filter((name) => !name.startsWith("lib"))).toEqual([]);
  // Only what runs behind the same walls: the process itself, and its first one.
  expect(inside("/proc").filter((name) => /^\d+$/.test(name))).toHaveLength(2);

  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  expect(status).toMatch(/^CapEff:\t0+$/m);
  expect(status).toMatch(/^CapBnd:\t0+$/m);
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  for (const namespace of ["net", "pid", "mnt", "ipc", "user", "uts"]) {
    expect(readlinkSync(`/proc/${pid}/ns/${namespace}`)).not.toBe(readlinkSync(`/proc/self/ns/${namespace}`));
  }
  expect(
    readFileSync(`/proc/${pid}/net/dev`, "utf8")
      .match(/^\s*\w+:/gm)
      ?.map((name) => name.trim()),
  ).toEqual(["lo:"]);
  expect(
    readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .filter((variable) => variable && !variable.startsWith("PWD=")),
  ).toEqual([]);
  const mounts = readFileSync(`/proc/${pid}/mounts`, "utf8");
  expect(mounts).toMatch(/^\S+ \/ \S+ ro,/m);
});

test("what runs in a slot does not outlive a host that is killed", async () => {
  const home = await createTempHome();
  const path = join(createTempFolder(), "worker.js");
  writeFileSync(path, worker);
  const file = await bundleProgram(`
    import { createSlots } from "./slots.ts";
    const none = () => {};
    const all = createSlots({ ...${JSON.stringify({ home, count: 1, modules: [{ name: "worker.js", path }], sandbox: sandboxLimitsSchema.parse({}) })}, onLine: none, onEvent: none });
    all.start();
    await all.renew(0, -1, false);
    console.log(all.status()[0].pid);
  `);
  const host = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void host.kill("SIGKILL"));
  const [line] = await once(createInterface(host.stdout), "line");
  const pid = Number(line);
  expect(isAlive(pid)).toBe(true);
  host.kill("SIGKILL");
  await vi.waitUntil(() => !isAlive(pid), { timeout: 20_000, interval: 10 });
});

test("a sandbox behind walls has little of everything", async (context) => {
  if (!findProgram(process.env, "prlimit")) return context.skip("there is no prlimit here");
  const { slots } = await openReadySlots({ sandbox: { memoryMb: 100 } });
  const limits = readFileSync(`/proc/${getPid(slots)}/limits`, "utf8");
  expect(limits).toMatch(new RegExp(`^Max data size +${996 * 1024 ** 2} +${996 * 1024 ** 2} `, "m"));
  expect(limits).toMatch(/^Max cpu time +3600 +3610 /m);
  expect(limits).toMatch(/^Max core file size +0 +0 /m);
  expect(limits).toMatch(/^Max file size +0 +0 /m);
  // What is too much for it can be caught by the code, and its process lives on.
  expect(await ask(slots, "/buffers")).toContain("RangeError");
  expect(await slots.renew(0, -1, false)).toEqual({ generation: 1 });
});
