import { open, readdir, rm, statfs, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openHouse, runCli } from "../kit/house.ts";
import { type SmallDisk, smallDisk } from "../kit/mount.ts";
import { processesOf } from "../kit/processes.ts";
import { snapshot } from "../kit/snapshot.ts";

let disk: SmallDisk;
let home: string;

// Mounting needs rights that not every machine gives.
beforeEach(async (context) => {
  const made = await smallDisk(8 * 1024);
  if (!made) return context.skip("this user may not mount a small disk");
  disk = made;
  home = join(disk.path, "home");
  onTestFinished(() => made.remove());
});

const ballast = () => join(disk.path, "ballast");

/** Leaves no room on the disk, not even for a byte. */
async function fill(): Promise<void> {
  const file = await open(ballast(), "a");
  try {
    for (;;) await file.write(Buffer.alloc(4096));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
  } finally {
    await file.close();
  }
}

/** What must survive: everything but what a start writes anew. */
async function kept(): Promise<Record<string, string>> {
  const all = Object.entries(await snapshot(home));
  return Object.fromEntries(all.filter(([name]) => !/^(logs|run)\//.test(name)));
}
