import type { Finding, Patient } from "./finding.ts";
import { findProgram } from "./program.ts";

type Sight = Pick<Patient, "env"> & { platform?: NodeJS.Platform };

/** Bounds the memory and processor time of a sandbox. */
export function checkPrlimit(sight: Sight): Finding {
  return checkTool(sight, "prlimit", "prlimit", "sandboxes run without limits of their own", "util-linux");
}

/** Keeps a sandbox away from the rest of the machine. */
export function checkBubblewrap(sight: Sight): Finding {
  return checkTool(sight, "bubblewrap", "bwrap", "commands of agents cannot be shut off from this machine", "bubblewrap");
}

function checkTool(sight: Sight, name: string, program: string, loss: string, pack: string): Finding {
  const { env, platform = process.platform } = sight;
  if (platform !== "linux") return { name, state: "warn", message: `only exists on Linux; here ${loss}` };
  const found = findProgram(env, program);
  if (found) return { name, state: "ok", message: found };
  return {
    name,
    state: "warn",
    message: `is missing, so ${loss}`,
    fix: `Install it, on Debian and Ubuntu with \`sudo apt-get install ${pack}\`.`,
  };
}
