import { findBubblewrap } from "../host/bubblewrap.ts";
import { canMeasureUsage } from "../host/linux/usage.ts";
import { findProgram } from "../host/program.ts";
import type { Finding, CheckContext } from "./finding.ts";

type SandboxCheckContext = Pick<CheckContext, "env"> & { platform?: NodeJS.Platform };

/** prlimit limits the memory and CPU time of a sandbox. */
export function checkPrlimit({ env, platform = process.platform }: SandboxCheckContext): Finding {
  const name = "prlimit";
  const consequence = "only the watchdog limits sandboxes";
  if (platform !== "linux") return { name, state: "warn", message: `only available on Linux; ${consequence}` };
  const found = findProgram(env, name);
  if (found) return { name, state: "ok", message: found };
  const fix = "Install it; on Debian and Ubuntu: `sudo apt-get install util-linux`.";
  return { name, state: "warn", message: `not found; ${consequence}`, fix };
}

/** bubblewrap isolates a sandbox from the rest of the machine. */
export async function checkBubblewrap({ env, platform = process.platform }: SandboxCheckContext): Promise<Finding> {
  const name = "bubblewrap";
  const found = await findBubblewrap(env, platform);
  if ("path" in found) return { name, state: "ok", message: found.path };
  const message = `${found.reason}; sandboxes are less isolated and agents cannot run commands`;
  return { name, state: "warn", message, ...(found.fix ? { fix: found.fix } : {}) };
}

/** Commands of agents may start many processes, whose memory counts together. */
export function checkCommandLimits({
  platform = process.platform,
}: Pick<SandboxCheckContext, "platform"> = {}): Finding {
  const name = "command limits";
  if (platform !== "linux") return { name, state: "warn", message: "only available on Linux" };
  if (canMeasureUsage())
    return { name, state: "ok", message: "the host watches the memory and processes of each command in /proc" };
  return {
    name,
    state: "warn",
    message:
      "/proc does not list the children of processes; only each process of a command is limited, not all together",
    fix: "Use a kernel with CONFIG_PROC_CHILDREN, and mount /proc.",
  };
}
