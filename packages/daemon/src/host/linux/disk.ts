import { statfs } from "node:fs/promises";

/** So much is left for the host itself, which has to write down what its agents do. */
const minFreeBytes = 1024 * 1024 * 1024;
const minFreeFiles = 20_000;

/** Is the disk that a folder is on so full that nothing should be added to it? Where nobody can tell, it is not. */
export async function isDiskFull(folder: string): Promise<boolean> {
  const found = await statfs(folder).catch(() => undefined);
  if (!found) return false;
  const { bavail, bsize, files, ffree } = found;
  // Some file systems do not count files.
  return bavail * bsize < minFreeBytes || (files > 0 && ffree < minFreeFiles);
}
