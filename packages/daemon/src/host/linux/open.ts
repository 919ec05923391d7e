import type { LinuxLimits } from "@thinkery/sdk/internal";
import type { Home } from "../../home/home.ts";
import { createBubblewrapProvider } from "./bubblewrap.ts";
import { isDiskFull } from "./disk.ts";
import { LinuxSandbox } from "./linux.ts";

interface OpenOptions {
  home: Home;
  limits: LinuxLimits;
  onError(text: string): void;
}

/** The Linux sandbox of this machine. Nothing is looked for or made before the first command. */
export function openLinux({ home, limits, onError }: OpenOptions): LinuxSandbox {
  return new LinuxSandbox({
    provider: createBubblewrapProvider({ home, onError }),
    limits,
    isDiskFull: () => isDiskFull(home.path),
  });
}
