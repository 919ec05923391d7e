import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitForExit, findMain, findHomeProcesses } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send } from "../kit/wire.ts";

async function open(): Promise<HostProcess> {
  const host = await startHostProcess();
  onTestFinished(() => host.stop());
  return host;
}

/** Waits until a main other than `last` responds, and returns its pid. */
async function waitForNextMain(host: HostProcess, last = 0): Promise<number> {
  return waitUntil("main to respond", async () => {
    const main = findMain(host.home);
    if (!main || main.pid === last) return false;
    return (await send({ port: host.port, path: "/health" })).status === 200 && main.pid;
  });
}

test("a main that keeps failing ends the host with the reason and the path of the log", async () => {
  const host = await open();
  let pid = 0;
  for (let failure = 1; failure <= 5; failure++) {
    expect(host.daemon.exitCode, `after ${failure - 1} failures`).toBe(null);
    pid = await waitForNextMain(host, pid);
    process.kill(pid, "SIGKILL");
  }
  expect(await waitForExit(host.daemon)).toBe(1);
  expect(host.readOutput()).toContain("main was killed by SIGKILL; giving up after 5 failures.");
  const [, log = ""] = /Log: (\S+)\n/.exec(host.readOutput()) ?? [];
  expect(log).toMatch(/thinkery\.log$/);
  expect(existsSync(join(host.home, "logs", "thinkery.log"))).toBe(true);
  expect(findHomeProcesses(host.home)).toEqual([]);
  expect(existsSync(join(host.home, "daemon.json"))).toBe(false);
  expect(host.readOutput()).not.toMatch(/^ +at /m);
});

test("a main that hangs is replaced, and its data is kept", async () => {
  const host = await open();
  await host.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
  const hung = await waitForNextMain(host);
  process.kill(hung, "SIGSTOP");
  await waitForNextMain(host, hung);
  expect((await host.client.call("health")).restarts).toBe(1);
  expect((await host.client.call("getAgent", { params: { agency: "global", agent: "alice" } })).name).toBe("alice");
  expect(findHomeProcesses(host.home).map(({ pid }) => pid)).not.toContain(hung);
  expect(host.readOutput()).toContain("main did not respond for 10 s and was killed; restarting");
});

test("a killed sandbox is restarted, and the host responds throughout", async () => {
  const host = await open();
  const readSlot = async () => (await host.client.call("health")).sandboxes?.[0];
  const first = await waitUntil("the sandbox", async () => {
    const slot = await readSlot();
    return slot?.state === "ready" && slot;
  });
  process.kill(first.pid ?? 0, "SIGKILL");
  // Each read is a request to main: the first that fails ends the test.
  const deadline = Date.now() + 20_000;
  let slot = await readSlot();
  while (!(slot?.restarts === 1 && slot.state === "ready") && Date.now() < deadline) slot = await readSlot();
  expect(slot).toMatchObject({ state: "ready", restarts: 1 });
  expect(slot?.pid).not.toBe(first.pid);
  expect((await host.client.call("health")).restarts).toBe(0);
});
