import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { startHostProcess, runCli } from "../kit/host-process.ts";
import { type SmallDisk, mountSmallDisk } from "../kit/mount.ts";
import { findHomeProcesses } from "../kit/processes.ts";
import { snapshotFolder } from "../kit/snapshot.ts";

let disk: SmallDisk;
let home: string;

// Mounting needs privileges that are not available everywhere.
beforeEach(async (context) => {
  const mounted = await mountSmallDisk(8 * 1024);
  if (!mounted) return context.skip("this user cannot mount a small disk");
  disk = mounted;
  home = join(disk.path, "home");
  onTestFinished(() => mounted.remove());
});

const getBallastPath = () => join(disk.path, "ballast");

/** Fills the disk to the last byte. */
async function fillDisk(): Promise<void> {
  const file = await open(getBallastPath(), "a");
  try {
    for (;;) await file.write(Buffer.alloc(4096));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
  } finally {
    await file.close();
  }
}

/** The files that must survive: all except those that a start rewrites. */
async function snapshotData(): Promise<Record<string, string>> {
  const all = Object.entries(await snapshotFolder(home));
  return Object.fromEntries(all.filter(([name]) => !/^(logs|run)\//.test(name)));
}

test("starting on a full disk prints one error, and nothing is lost or overwritten", async () => {
  const first = await runCli(["new", "alice"], home);
  expect(first.code).toBe(0);
  await runCli(["stop"], home);
  await fillDisk();
  const before = await snapshotData();
  for (const args of [["start"], ["start", "--foreground"], ["ls"]]) {
    const { code, stdout, stderr } = await runCli(args, home);
    expect([args, code, stdout]).toEqual([args, 3, ""]);
    expect(stderr.replace("No host is running; starting one.\n", "")).toBe(
      `thinkery: The data folder ${home} is on a full disk. Free some space and try again.\n`,
    );
  }
  expect(findHomeProcesses(home)).toEqual([]);
  expect(await snapshotData()).toEqual(before);

  await rm(getBallastPath());
  expect((await runCli(["info", "alice"], home)).code).toBe(0);
  await runCli(["stop"], home);
});

test("when the disk fills up, writes fail, existing data stays readable, and writes succeed again once there is space", async () => {
  const host = await startHostProcess({ home });
  onTestFinished(() => host.stop());
  const params = { agency: "global" };
  const listNames = async () => (await host.client.call("listAgents", { params })).agents.map(({ name }) => name);
  await host.client.call("createAgent", { params, body: { name: "alice" } });

  await fillDisk();
  await expect(host.client.call("createAgent", { params, body: { name: "bob" } })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("disk is full"),
  });
  expect(await listNames()).toEqual(["alice"]);

  await rm(getBallastPath());
  await host.client.call("createAgent", { params, body: { name: "bob" } });
  expect(await listNames()).toEqual(["alice", "bob"]);
  expect((await host.client.call("health")).restarts).toBe(0);
});

test("starting on a read-only disk prints one error", async () => {
  await disk.remountReadOnly();
  for (const args of [["start"], ["start", "--foreground"], ["ls"]]) {
    const { code, stdout, stderr } = await runCli(args, home, { cwd: "/" });
    expect([args, code, stdout]).toEqual([args, 3, ""]);
    expect(stderr).toContain(
      `thinkery: The data folder ${home} is on a read-only file system. Set THINKERY_HOME to a writable folder.\n`,
    );
  }
});
