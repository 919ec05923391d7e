import { findProgram, findFailure } from "./program.ts";

/** Shuts a process off from this machine. Where there is none, `missing` says in full sentences why and what to do about it. */
export type Bubblewrap = { path: string } | { missing: string; reason: string; fix?: string };

let cachedBubblewrap: Promise<Bubblewrap> | undefined;

/** Looked for once where it is found. Where it is not, each asker looks again: somebody may have installed it since. */
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
    return toMissing("is not installed", "Install it, on Debian and Ubuntu with `sudo apt-get install bubblewrap`.");
  const refusal = await findFailure([path, ...probeOptions, "--", "/bin/sh", "-c", ":"]);
  if (refusal === undefined) return { path };
  return toMissing(
    `is installed, but this machine does not let it work (${refusal})`,
    "Allow user namespaces; in a container, whoever starts it has to.",
  );
}

// Many a machine has it and forbids it what it needs. All that sandboxes ask of it is asked here.
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
