import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitForExit, findMain, findHomeProcesses } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send } from "../kit/wire.ts";

async function open(): Promise<HostProcess> {
  const house = await startHostProcess();
  onTestFinished(() => house.stop());
  return house;
}

/** A main other than this one that answers. */
async function waitForNextMain(house: HostProcess, last = 0): Promise<number> {
  return waitUntil("main to answer", async () => {
    const main = findMain(house.home);
    if (!main || main.pid === last) return false;
    return (await send({ port: house.port, path: "/health" })).status === 200 && main.pid;
  });
}

test("a main that cannot stay up ends the host with the reason and the log's place", async () => {
  const house = await open();
  let pid = 0;
  for (let failure = 1; failure <= 5; failure++) {
    expect(house.daemon.exitCode, `after ${failure - 1} failures`).toBe(null);
    pid = await waitForNextMain(house, pid);
    process.kill(pid, "SIGKILL");
  }
  expect(await waitForExit(house.daemon)).toBe(1);
  expect(house.readOutput()).toContain("main was ended by SIGKILL, 5 failures in a short time.");
  const [, log = ""] = /The log is (\S+)\.\n/.exec(house.readOutput()) ?? [];
  expect(log).toMatch(/thinkery\.log$/);
  expect(existsSync(join(house.home, "logs", "thinkery.log"))).toBe(true);
  expect(findHomeProcesses(house.home)).toEqual([]);
  expect(existsSync(join(house.home, "daemon.json"))).toBe(false);
  expect(house.readOutput()).not.toMatch(/^ +at /m);
});

test("a main that hangs is replaced, and what it knew is there", async () => {
  const house = await open();
  await house.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
  const hung = await waitForNextMain(house);
  process.kill(hung, "SIGSTOP");
  await waitForNextMain(house, hung);
  expect((await house.client.call("health")).restarts).toBe(1);
  expect((await house.client.call("getAgent", { params: { agency: "global", agent: "alice" } })).name).toBe("alice");
  expect(findHomeProcesses(house.home).map(({ pid }) => pid)).not.toContain(hung);
  expect(house.readOutput()).toContain("main did not answer for 10 s and was killed; starting it again");
});

test("a sandbox that is killed comes back, and the host answers throughout", async () => {
  const house = await open();
  const slot = async () => (await house.client.call("health")).sandboxes?.[0];
  const first = await waitUntil("the sandbox", async () => {
    const found = await slot();
    return found?.state === "ready" && found;
  });
  process.kill(first.pid ?? 0, "SIGKILL");
  // Every look at the slot is a request to main: the first that fails ends the test.
  const deadline = Date.now() + 20_000;
  let found = await slot();
  while (!(found?.restarts === 1 && found.state === "ready") && Date.now() < deadline) found = await slot();
  expect(found).toMatchObject({ state: "ready", restarts: 1 });
  expect(found?.pid).not.toBe(first.pid);
  expect((await house.client.call("health")).restarts).toBe(0);
});
