import { statfs } from "node:fs/promises";
import type { LinuxLimits } from "@thinkery/sdk/internal";
import type { Home } from "../../home/home.ts";
import { createBubblewrapProvider } from "./bubblewrap.ts";
import { LinuxSandbox } from "./linux.ts";

interface OpenOptions {
  home: Home;
  limits: LinuxLimits;
  onError(text: string): void;
}

/** Reserved for the host itself, which has to record what its agents do. */
const minFreeBytes = 1024 * 1024 * 1024;
const minFreeFiles = 20_000;

/** Opens the Linux sandbox of this machine. Nothing is detected or created before the first command. */
export function openLinux({ home, limits, onError }: OpenOptions): LinuxSandbox {
  return new LinuxSandbox({
    provider: createBubblewrapProvider({ home, onError }),
    limits,
    isDiskFull: () => isDiskFull(home.path),
  });
}

/** Tells whether nothing should be added to the disk of a folder. Returns false if that cannot be determined. */
async function isDiskFull(folder: string): Promise<boolean> {
  const stats = await statfs(folder).catch(() => undefined);
  if (!stats) return false;
  const { bavail, bsize, files, ffree } = stats;
  // Some file systems do not count files.
  return bavail * bsize < minFreeBytes || (files > 0 && ffree < minFreeFiles);
}
