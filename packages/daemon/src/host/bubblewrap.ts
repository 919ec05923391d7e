import { firstInputFd } from "./process.ts";
import { findProgram, findFailure } from "./program.ts";
import { createSeccompFilter } from "./seccomp.ts";

/** The bubblewrap program, or why it is not available: `missing` is a full sentence with the reason and the fix. */
export type Bubblewrap = { path: string } | { missing: string; reason: string; fix?: string };

let cachedBubblewrap: Promise<Bubblewrap> | undefined;

/** Caches the program once found. Until then every call searches again, because it may have been installed since. */
export async function getBubblewrap(): Promise<Bubblewrap> {
  cachedBubblewrap ??= findBubblewrap(process.env);
  const found = await cachedBubblewrap;
  if ("missing" in found) cachedBubblewrap = undefined;
  return found;
}

export async function findBubblewrap(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): Promise<Bubblewrap> {
  if (platform !== "linux") return toMissing("only exists on Linux");
  const path = findProgram(env, "bwrap");
  if (!path)
    return toMissing("is not installed", "Install it; on Debian and Ubuntu: `sudo apt-get install bubblewrap`.");
  const filter = createSeccompFilter();
  const options = [...(filter ? ["--seccomp", String(firstInputFd)] : []), ...probeOptions];
  const failure = await findFailure({
    command: path,
    args: [...options, "--", "/bin/sh", "-c", ":"],
    inputs: filter ? [filter] : [],
  });
  if (failure === undefined) return { path };
  return toMissing(
    `is installed but does not work on this machine (${failure})`,
    "Allow unprivileged user namespaces; for a container, allow them when it is started.",
  );
}

// Machines may have it installed but forbid what it needs, so the probe uses everything that sandboxes use.
const probeOptions = [
  ["--unshare-all"],
  ["--die-with-parent"],
  ["--clearenv"],
  ["--cap-drop", "ALL"],
  ["--ro-bind", "/", "/"],
  ["--dev", "/dev"],
  ["--proc", "/proc"],
  ["--tmpfs", "/tmp"],
].flat();

function toMissing(reason: string, fix?: string): Bubblewrap {
  return { missing: `bubblewrap ${reason}.${fix ? ` ${fix}` : ""}`, reason, ...(fix ? { fix } : {}) };
}
