import { findBubblewrap } from "../host/bubblewrap.ts";
import { findProgram } from "../host/program.ts";
import type { Finding, CheckContext } from "./finding.ts";

type SandboxCheckContext = Pick<CheckContext, "env"> & { platform?: NodeJS.Platform };

/** Bounds the memory and processor time of a sandbox. */
export function checkPrlimit({ env, platform = process.platform }: SandboxCheckContext): Finding {
  const name = "prlimit";
  const loss = "sandboxes have no limits but those of their watchdog";
  if (platform !== "linux") return { name, state: "warn", message: `only exists on Linux; here ${loss}` };
  const found = findProgram(env, name);
  if (found) return { name, state: "ok", message: found };
  const fix = "Install it, on Debian and Ubuntu with `sudo apt-get install util-linux`.";
  return { name, state: "warn", message: `is missing, so ${loss}`, fix };
}

/** Keeps a sandbox away from the rest of the machine. */
export async function checkBubblewrap({ env, platform = process.platform }: SandboxCheckContext): Promise<Finding> {
  const name = "bubblewrap";
  const found = await findBubblewrap(env, platform);
  if ("path" in found) return { name, state: "ok", message: found.path };
  const message = `${found.reason}, so sandboxes have fewer walls and agents cannot run commands`;
  return { name, state: "warn", message, ...(found.fix ? { fix: found.fix } : {}) };
}
