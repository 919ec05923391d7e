import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { startHostProcess, runCli } from "../kit/host-process.ts";
import { type SmallDisk, mountSmallDisk } from "../kit/mount.ts";
import { findHomeProcesses } from "../kit/processes.ts";
import { snapshotFolder } from "../kit/snapshot.ts";

let disk: SmallDisk;
let home: string;

// Mounting needs rights that not every machine gives.
beforeEach(async (context) => {
  const made = await mountSmallDisk(8 * 1024);
  if (!made) return context.skip("this user may not mount a small disk");
  disk = made;
  home = join(disk.path, "home");
  onTestFinished(() => made.remove());
});

const getBallastPath = () => join(disk.path, "ballast");

/** Leaves no room on the disk, not even for a byte. */
async function fill(): Promise<void> {
  const file = await open(getBallastPath(), "a");
  try {
    for (;;) await file.write(Buffer.alloc(4096));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
  } finally {
    await file.close();
  }
}

/** What must survive: everything but what a start writes anew. */
async function snapshotKeptFiles(): Promise<Record<string, string>> {
  const all = Object.entries(await snapshotFolder(home));
  return Object.fromEntries(all.filter(([name]) => !/^(logs|run)\//.test(name)));
}

test("a full disk is one sentence at the start, and nothing is lost or overwritten", async () => {
  const first = await runCli(["new", "alice"], home);
  expect(first.code).toBe(0);
  await runCli(["stop"], home);
  await fill();
  const before = await snapshotKeptFiles();
  for (const args of [["start"], ["start", "--foreground"], ["ls"]]) {
    const { code, stdout, stderr } = await runCli(args, home);
    expect([args, code, stdout]).toEqual([args, 3, ""]);
    expect(stderr.replace("No host is running; starting one.\n", "")).toBe(
      `thinkery: The data folder ${home} is on a full disk; free some space and try again.\n`,
    );
  }
  expect(findHomeProcesses(home)).toEqual([]);
  expect(await snapshotKeptFiles()).toEqual(before);

  await rm(getBallastPath());
  expect((await runCli(["info", "alice"], home)).code).toBe(0);
  await runCli(["stop"], home);
});

test("a disk that fills up refuses what is new, keeps what is there, and recovers when there is room", async () => {
  const house = await startHostProcess({ home });
  onTestFinished(() => house.stop());
  const params = { agency: "global" };
  const names = async () => (await house.client.call("listAgents", { params })).agents.map(({ name }) => name);
  await house.client.call("createAgent", { params, body: { name: "alice" } });

  await fill();
  await expect(house.client.call("createAgent", { params, body: { name: "bob" } })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("disk is full"),
  });
  expect(await names()).toEqual(["alice"]);

  await rm(getBallastPath());
  await house.client.call("createAgent", { params, body: { name: "bob" } });
  expect(await names()).toEqual(["alice", "bob"]);
  expect((await house.client.call("health")).restarts).toBe(0);
});

test("a disk that cannot be written is one sentence", async () => {
  await disk.remountReadOnly();
  for (const args of [["start"], ["start", "--foreground"], ["ls"]]) {
    const { code, stdout, stderr } = await runCli(args, home, { cwd: "/" });
    expect([args, code, stdout]).toEqual([args, 3, ""]);
    expect(stderr).toContain(
      `thinkery: The data folder ${home} is on a read-only disk; set THINKERY_HOME to a folder that can be written.\n`,
    );
  }
});
