import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface SmallDisk {
  path: string;
  remountReadOnly(): Promise<void>;
  remove(): Promise<void>;
}

/** Mounts an in-memory disk of this size. Returns undefined if this user may not mount. */
export async function mountSmallDisk(kib: number): Promise<SmallDisk | undefined> {
  const path = await mkdtemp(join(tmpdir(), "thinkery-disk-"));
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${kib}k,mode=0700`, "tmpfs", path]);
  } catch {
    await rm(path, { recursive: true });
    return undefined;
  }
  return {
    path,
    remountReadOnly: () => run("mount", ["-o", "remount,ro", path]).then(() => {}),
    async remove() {
      await run("umount", ["-l", path]);
      await rm(path, { recursive: true });
    },
  };
}
