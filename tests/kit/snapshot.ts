import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Maps every entry of a folder to its mode and, for files, its content. */
export async function snapshotFolder(folder: string): Promise<Record<string, string>> {
  const entries: Record<string, string> = {};
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    const path = join(folder, name);
    const stats = await lstat(path);
    entries[name] = `${stats.mode.toString(8)} ${stats.isFile() ? (await readFile(path)).toString("base64") : ""}`;
  }
  return entries;
}
