import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
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
import { nobody, probeIsolation, type SandboxIsolation } from "./isolation.ts";
import type { Limits } from "./limits.ts";
import { findProgram } from "./program.ts";
import { getNobodyRoot } from "./slot-files.ts";
import { type Slots, createSlots } from "./slots.ts";
import { findWorkerdBinary } from "./workerd.ts";

const worker = `
let retained = [];
export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/spin") for (;;);
    if (pathname === "/heap") for (;;) retained.push(new Array(1000).fill(retained.length + 0.5));
    if (pathname === "/buffers") try {
      for (;;) retained.push(new Uint8Array(16 << 20).fill(1));
    } catch (error) {
      retained = [];
      return new Response(String(error));
    }
    if (pathname === "/talk") for (let line = 0; line < 1000; line++) console.log("line " + line + "!".repeat(2000));
    return new Response("alive");
  },
};`;

interface SlotsTestOptions {
  findIsolation?(): Promise<SandboxIsolation>;
  count?: number;
  agentCount?: number;
  source?: string;
  sandbox?: Partial<SandboxLimits>;
  limits?: Partial<Limits>;
}

async function openSlots({
  count = 1,
  agentCount = 0,
  source = worker,
  sandbox = {},
  limits = {},
  findIsolation,
}: SlotsTestOptions = {}) {
  const home = await createTempHome();
  const path = join(createTempFolder(), "it's a worker.js");
  writeFileSync(path, source);
  const log: string[] = [];
  const events: string[] = [];
  const modules = [{ name: "worker.js", path }];
  const onLine = (source: string, line: string) => void log.push(`${source} ${line}`);
  const slots = createSlots({
    home,
    count,
    agentCount,
    modules,
    sandbox: sandboxLimitsSchema.parse(sandbox),
    limits,
    lockFd: undefined,
    onLine,
    onEvent: (text) => void events.push(text),
    ...(findIsolation ? { findIsolation } : {}),
  });
  onTestFinished(() => slots.stop());
  return { home, path, slots, log, events };
}

/** Opens slots and waits until the first is ready. */
async function openReadySlots(options?: SlotsTestOptions) {
  const opened = await openSlots(options);
  opened.slots.start();
  return { ...opened, generation: (await opened.slots.renew(0, -1, false)).generation };
}

function send(slots: Slots, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(
      { socketPath: slots.sockets[0], path, headers: { host: "sandbox" }, agent: false },
      (response) => {
        response.setEncoding("utf8");
        let body = "";
        response.on("data", (text: string) => (body += text));
        response.on("end", () => resolve(body));
        response.on("error", reject);
      },
    );
    clientRequest.on("error", reject);
    clientRequest.end();
  });
}

const getPid = (slots: Slots) => slots.status()[0]?.pid as number;

test("the process of a user agents' slot is started when it is first needed, and kept", async () => {
  const { slots } = await openReadySlots({ agentCount: 2 });
  const listStates = () => slots.status().map(({ state, pid }) => [state, pid !== undefined]);
  expect(listStates()).toEqual([
    ["ready", true],
    ["unused", false],
    ["unused", false],
  ]);
  expect(await slots.renew(2, -1, false)).toEqual({ generation: 1 });
  expect(listStates().slice(1)).toEqual([
    ["unused", false],
    ["ready", true],
  ]);
  expect(await slots.renew(2, -1, false)).toEqual({ generation: 1 });
  process.kill(slots.status()[2]?.pid as number, "SIGKILL");
  expect(await slots.renew(2, 1, true)).toEqual({ generation: 2, ended: "crash" });
});

test("a slot is ready again after every kill of its process, without events", async () => {
  const kills = getRepeatCount("slot kills", { sample: 6, full: 20 });
  const { slots, events, log, generation } = await openReadySlots({ limits: { failures: 2, backoffMs: 60_000 } });
  expect(generation).toBe(1);
  for (let killed = 1; killed <= kills; killed++) {
    const pid = getPid(slots);
    process.kill(pid, "SIGKILL");
    expect(await slots.renew(0, killed, true)).toEqual({ generation: killed + 1, ended: "crash" });
    expect(getPid(slots)).not.toBe(pid);
  }
  expect(await send(slots, "/")).toBe("alive");
  expect(slots.status()).toMatchObject([{ name: "sandbox-0", state: "ready", restarts: kills, generation: kills + 1 }]);
  expect(events).toEqual([]);
  expect(log.filter((line) => line.endsWith("ended: crash"))).toHaveLength(kills);
});

test("code that spins is killed after the stall timeout with the cause, and idle code is left alone", async () => {
  const { slots } = await openReadySlots({ sandbox: { stallTimeoutSeconds: 1 } });
  // Waits longer than the timeout, to see that an idle process is not taken for a stalled one.
  await sleep(1_300);
  expect(slots.status()).toMatchObject([{ state: "ready", generation: 1 }]);
  await expect(send(slots, "/spin")).rejects.toThrow();
  expect(await slots.renew(0, 1, true)).toEqual({ generation: 2, ended: "silence" });
  expect(await send(slots, "/")).toBe("alive");
});

test("code that uses too much memory ends only its own process", async () => {
  const { slots } = await openReadySlots({ count: 2, sandbox: { memoryMb: 64 } });
  const other = await slots.renew(1, -1, false);
  await expect(send(slots, "/heap")).rejects.toThrow();
  expect(await slots.renew(0, 1, true)).toEqual({ generation: 2, ended: "memory" });
  expect(await slots.renew(1, -1, false)).toEqual(other);
});

test("concurrent renewals of a generation end it once, with the cause “asked”", async () => {
  const { slots } = await openReadySlots();
  const pid = getPid(slots);
  const renewals = await Promise.all(Array.from({ length: 5 }, () => slots.renew(0, 1, false)));
  expect(renewals).toEqual(renewals.map(() => ({ generation: 2, ended: "asked" })));
  expect(isAlive(pid)).toBe(false);
  expect(slots.status()).toMatchObject([{ restarts: 0, generation: 2 }]);
});

test("renew leaves a process of another generation alone", async () => {
  const { slots } = await openReadySlots();
  await slots.renew(0, 1, false);
  const pid = getPid(slots);
  expect(await slots.renew(0, 1, false)).toEqual({ generation: 2, ended: "asked" });
  expect(await slots.renew(0, 1, true)).toEqual({ generation: 2, ended: "asked" });
  expect(await slots.renew(0, -1, false)).toEqual({ generation: 2 });
  expect(await slots.renew(0, 7, false)).toEqual({ generation: 2 });
  expect(getPid(slots)).toBe(pid);
});

test("a process that is reported lost but still runs is ended", async () => {
  const { slots } = await openReadySlots();
  const pid = getPid(slots);
  expect(await slots.renew(0, 1, true)).toEqual({ generation: 2, ended: "asked" });
  expect(isAlive(pid)).toBe(false);
});

test("a renewal before the start waits for the first process", async () => {
  const { slots } = await openSlots();
  const waiting = slots.renew(0, -1, false);
  expect(slots.status()).toMatchObject([{ state: "starting", generation: 0 }]);
  slots.start();
  expect(await waiting).toEqual({ generation: 1 });
});

test("an unknown slot and one that cannot start are clear errors", async () => {
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

test("clear ends the processes of used slots, which become ready again", async () => {
  const { slots, events } = await openReadySlots({ count: 3 });
  for (const index of [0, 1]) await slots.renew(index, -1, false);
  await waitUntil("the third slot", () => slots.status()[2]?.state === "ready");
  const pids = slots.status().map(({ pid }) => pid as number);
  await slots.clear();
  // They have closed everything by now, but the kernel may not have removed them yet.
  await waitUntil("the used processes to be gone", () => !pids.slice(0, 2).some(isAlive));
  expect(isAlive(pids[2] as number)).toBe(true);
  expect(await Promise.all([0, 1].map((index) => slots.renew(index, 1, false)))).toEqual(
    [0, 1].map(() => ({ generation: 2, ended: "asked" })),
  );
  expect(events).toEqual([]);
});

test("a sandbox's output cannot fill the log", async () => {
  const { slots, log } = await openReadySlots();
  expect(await send(slots, "/talk")).toBe("alive");
  await slots.stop();
  const lines = log.filter((line) => line.startsWith("sandbox-0 line"));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThanOrEqual(100);
  expect(lines[0]?.length).toBeLessThan(1_100);
});

test.runIf(process.platform === "linux")(
  "the status shows workerd's pid and memory, and the process has a lower priority than main",
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

test("an isolated sandbox sees nothing of this machine and has no privileges", async (context) => {
  const bubblewrap = await getBubblewrap();
  if ("missing" in bubblewrap) return context.skip(bubblewrap.missing);
  const { slots, home, path, log } = await openReadySlots();
  expect(log[0]).toMatch(/^daemon Sandboxes run under .*bubblewrap/);
  expect(slots.status()[0]?.isolation).toContain("bubblewrap");
  const pid = getPid(slots);
  const listInside = (path: string) => readdirSync(join(`/proc/${pid}/root`, path)).toSorted();

  // It sees only its own configuration and its own folder, which is empty because the socket was moved out.
  const isNobody = slots.status()[0]?.isolation?.includes("setpriv");
  const root = isNobody ? getNobodyRoot(home) : home.run;
  expect(listInside(root)).toEqual(["sandbox-0", ...(isNobody ? ["sandbox-0-0.js"] : []), "sandbox-0.capnp"]);
  expect(listInside(join(root, "sandbox-0"))).toEqual([]);
  expect(statSync(slots.sockets[0] as string).isSocket()).toBe(true);
  if (isNobody) expect(existsSync(join(`/proc/${pid}/root`, home.path))).toBe(false);
  else expect([listInside(home.path), listInside(join(path, ".."))]).toEqual([["run"], ["it's a worker.js"]]);
  expect(listInside("/")).not.toContain("etc");
  expect(listInside("/usr").filter((name) => !name.startsWith("lib"))).toEqual(isNobody ? ["bin"] : []);
  if (isNobody) expect(listInside("/usr/bin")).toEqual(["setpriv"]);
  // Only the processes of its namespace: its init process and itself.
  expect(listInside("/proc").filter((name) => /^\d+$/.test(name))).toHaveLength(2);

  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  expect(status).toMatch(/^CapEff:\t0+$/m);
  expect(status).toMatch(/^CapBnd:\t0+$/m);
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  for (const namespace of ["net", "pid", "mnt", "ipc", "uts", ...(isNobody ? [] : ["user"])]) {
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

test("the process of a slot does not outlive a killed host", async () => {
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

test("an isolated sandbox has resource limits", async (context) => {
  if (!findProgram(process.env, "prlimit")) return context.skip("prlimit is not installed");
  const { slots } = await openReadySlots({ sandbox: { memoryMb: 100 } });
  const limits = readFileSync(`/proc/${getPid(slots)}/limits`, "utf8");
  expect(limits).toMatch(new RegExp(`^Max data size +${996 * 1024 ** 2} +${996 * 1024 ** 2} `, "m"));
  expect(limits).toMatch(/^Max cpu time +3600 +3610 /m);
  expect(limits).toMatch(/^Max core file size +0 +0 /m);
  expect(limits).toMatch(/^Max file size +0 +0 /m);
  // The code can catch a failed allocation, and its process survives.
  expect(await send(slots, "/buffers")).toContain("RangeError");
  expect(await slots.renew(0, -1, false)).toEqual({ generation: 1 });
});

const without = { missing: "bubblewrap is not installed." };

test.each([
  ["with", getBubblewrap],
  ["without", async () => without],
])("%s bubblewrap the slots of root run as nobody, who cannot read the data folder", async (_, find) => {
  const bubblewrap = await find();
  const setpriv = findProgram(process.env, "setpriv");
  if (process.getuid?.() !== 0 || !setpriv || ("missing" in bubblewrap && bubblewrap !== without)) return;
  const prlimit = findProgram(process.env, "prlimit");
  const { home, slots, events } = await openReadySlots({
    count: 2,
    findIsolation: () => probeIsolation(findWorkerdBinary(), { prlimit, setpriv, bubblewrap }),
  });
  expect(await send(slots, "/")).toBe("alive");
  expect(slots.status()[0]?.isolation).toEqual([
    ...(prlimit ? ["prlimit"] : []),
    ...("path" in bubblewrap ? ["bubblewrap"] : []),
    "setpriv",
  ]);
  const status = readFileSync(`/proc/${getPid(slots)}/status`, "utf8");
  const ids = Array.from({ length: 4 }, () => nobody).join("\t");
  expect(status).toContain(`Uid:\t${ids}\nGid:\t${ids}\n`);
  expect(status).toMatch(/^Groups:\t *$/m);
  for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"]) expect(status).toMatch(new RegExp(`^${set}:\\t0+$`, "m"));
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  expect(statSync(home.path).mode & 0o777).toBe(0o700);
  // Not ours, which that user may not be able to enter.
  expect(readlinkSync(`/proc/${getPid(slots)}/cwd`)).toBe("/");
  // Neither that user nor the slot's process can replace the socket that main uses.
  const root = getNobodyRoot(home);
  expect(readlinkSync(join(home.run, "sandbox-0.sock"))).toBe(join(root, "sandbox-0.sock"));
  expect([statSync(root).uid, statSync(root).mode & 0o777]).toEqual([0, 0o711]);
  expect(statSync(join(root, "sandbox-0.sock")).mode & 0o777).toBe(0o600);
  expect(await slots.renew(0, 1, false)).toEqual({ generation: 2, ended: "asked" });
  expect(await send(slots, "/")).toBe("alive");
  expect(events).toEqual([]);
  await slots.stop();
  expect(existsSync(root)).toBe(false);
});

test("without bubblewrap and setpriv, root runs no slots", async (context) => {
  if (process.getuid?.() !== 0) return context.skip("This is about root.");
  const { slots } = await openSlots({ findIsolation: async () => ({ missing: [without.missing] }) });
  slots.start();
  await expect(slots.renew(0, -1, false)).rejects.toThrow(/Refusing to run agents' code as root. Install bubblewrap/);
});

test("with bubblewrap the system calls of slots are filtered", async (context) => {
  const bubblewrap = await getBubblewrap();
  if ("missing" in bubblewrap) return context.skip(bubblewrap.missing);
  const { slots } = await openReadySlots();
  expect(slots.status()[0]?.isolation).toContain("bubblewrap");
  expect(readFileSync(`/proc/${getPid(slots)}/status`, "utf8")).toMatch(/^Seccomp:\t2$/m);
  expect(await send(slots, "/")).toBe("alive");
});
