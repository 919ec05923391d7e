import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Finding, CheckContext } from "./finding.ts";

const bytesPerMb = 1024 * 1024;
const enoughMb = 1024;
const minFreeMb = 100;

export async function checkDisk({ home }: CheckContext): Promise<Finding> {
  const free = await readFreeMb(home.path);
  const message = free >= 10 * 1024 ? `${Math.floor(free / 1024)} GB free` : `${Math.floor(free)} MB free`;
  if (free >= enoughMb) return { name: "disk", state: "ok", message };
  return {
    name: "disk",
    state: free < minFreeMb ? "fail" : "warn",
    message: `only ${message}`,
    fix: "Free some space, or set THINKERY_HOME to a folder on another disk.",
  };
}

// If the folder does not exist yet, check the disk of its closest existing parent.
async function readFreeMb(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return (bavail * bsize) / bytesPerMb;
  } catch (error) {
    if (dirname(path) === path) throw error;
    return readFreeMb(dirname(path));
  }
}
