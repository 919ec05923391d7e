import type { LinuxLimits } from "@thinkery/sdk/internal";
import type { Home } from "../../home/home.ts";
import { bubblewrapProvider } from "./bubblewrap.ts";
import { isDiskFull } from "./disk.ts";
import { LinuxSandbox } from "./linux.ts";

interface OpenOptions {
  home: Home;
  limits: LinuxLimits;
  onTrouble(text: string): void;
}

/** The Linux sandbox of this machine. Nothing is looked for or made before the first command. */
export function openLinux({ home, limits, onTrouble }: OpenOptions): LinuxSandbox {
  return new LinuxSandbox({ provider: bubblewrapProvider({ home, onTrouble }), limits, isFull: () => isDiskFull(home.path) });
}
