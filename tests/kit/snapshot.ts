import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Every entry of a folder with its mode, and every file with its bytes. */
export async function snapshotFolder(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    const path = join(folder, name);
    const about = await lstat(path);
    found[name] = `${about.mode.toString(8)} ${about.isFile() ? (await readFile(path)).toString("base64") : ""}`;
  }
  return found;
}
