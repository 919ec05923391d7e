import { constants } from "node:os";
import { getBubblewrap } from "./bubblewrap.ts";
import type { Exit } from "./process.ts";
import { findProgram, findFailure } from "./program.ts";

/** What keeps the process of a sandbox away from this machine, beside what workerd does itself. */
export interface SandboxIsolation {
  /** The programs that are there and work. */
  prlimit?: string;
  bubblewrap?: string;
  /** Why one is not, in full sentences. */
  missing: string[];
}

/** What a process behind the walls may see and use. */
export interface ProcessLimits {
  dataBytes: number;
  cpuSeconds: number;
  /** Files that can be read inside, beside the system's libraries. */
  readable: string[];
  /** The only folder in which something can be made. */
  folder?: string;
}

interface FoundPrograms {
  prlimit: string | undefined;
  bubblewrap: { path: string } | { missing: string };
}

const probeLimits: ProcessLimits = { dataBytes: 1024 ** 3, cpuSeconds: 3600, readable: [] };

/** Tries the walls with the very program they are for: one that cannot start behind them would be no sandbox at all. */
export async function probeIsolation(workerd: string, found: FoundPrograms): Promise<SandboxIsolation> {
  const { prlimit } = found;
  const wrapper = "path" in found.bubblewrap ? found.bubblewrap.path : undefined;
  const missing: string[] = [];
  if (!prlimit) missing.push("prlimit is not installed; it is a part of util-linux.");
  if ("missing" in found.bubblewrap) missing.push(found.bubblewrap.missing);
  // The stronger one is given up last.
  const attempts: [prlimit: string | undefined, bubblewrap: string | undefined][] = [
    [prlimit, wrapper],
    [undefined, wrapper],
    [prlimit, undefined],
  ];
  for (const [limiter, wrap] of attempts) {
    const isolation: SandboxIsolation = {
      ...(limiter ? { prlimit: limiter } : {}),
      ...(wrap ? { bubblewrap: wrap } : {}),
      missing,
    };
    const trouble =
      limiter || wrap ? await findFailure(isolateCommand(isolation, probeLimits, [workerd, "--version"])) : "";
    if (trouble === undefined) return isolation;
    if (trouble)
      missing.push(`workerd does not start behind ${listPrograms(isolation).join(" and ")} here (${trouble}).`);
  }
  return { missing };
}

/** The walls of this machine. */
export async function findIsolation(workerd: string): Promise<SandboxIsolation> {
  if (process.platform !== "linux") return { missing: ["prlimit and bubblewrap only exist on Linux."] };
  return probeIsolation(workerd, { prlimit: findProgram(process.env, "prlimit"), bubblewrap: await getBubblewrap() });
}

export function describeIsolation(walls: SandboxIsolation): string {
  const names = listPrograms(walls);
  const there =
    names.length > 0 ? `Sandboxes run behind ${names.join(" and ")}.` : "Sandboxes run without further walls.";
  return [there, ...walls.missing].join(" ");
}

export function listPrograms({ prlimit, bubblewrap }: SandboxIsolation): string[] {
  return [...(prlimit ? ["prlimit"] : []), ...(bubblewrap ? ["bubblewrap"] : [])];
}

/** The command that runs another one behind the walls. */
export function isolateCommand(
  { prlimit, bubblewrap }: SandboxIsolation,
  allowed: ProcessLimits,
  command: [string, ...string[]],
): [string, ...string[]] {
  const wrapped: [string, ...string[]] = bubblewrap
    ? [bubblewrap, ...toMountOptions(allowed, command[0]), "--", ...command]
    : command;
  return prlimit ? [prlimit, ...toLimitOptions(allowed), ...wrapped] : wrapped;
}

/** How the command itself ended: bubblewrap ends with a number where a signal ended what it ran. */
export function toInnerExit({ bubblewrap }: SandboxIsolation, exit: Exit): Exit {
  const signal = Object.entries(constants.signals).find(([, number]) => number + 128 === exit.code)?.[0];
  return bubblewrap && signal ? { code: null, signal: signal as NodeJS.Signals } : exit;
}

function toLimitOptions({ dataBytes, cpuSeconds }: ProcessLimits): string[] {
  return [
    `--data=${dataBytes}`,
    // First a signal that tells what it is for, then one that nothing survives.
    `--cpu=${cpuSeconds}:${cpuSeconds + 10}`,
    "--core=0",
    // It has its socket, and what it says goes into pipes.
    "--fsize=0",
    "--nofile=1024",
  ];
}

// No system has all of them.
const libraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

// It stays in our process group, so that it is killed with it; a terminal, which would be the reason for a session of its
// own, it has not.
function toMountOptions({ readable, folder }: ProcessLimits, program: string): string[] {
  const options = [
    ["--unshare-all"],
    ["--die-with-parent"],
    ["--clearenv"],
    ["--cap-drop", "ALL"],
    ...libraries.map((path) => ["--ro-bind-try", path, path]),
    ["--dev", "/dev"],
    ["--proc", "/proc"],
    ...[program, ...readable].map((path) => ["--ro-bind", path, path]),
    folder ? ["--bind", folder, folder] : [],
    ["--remount-ro", "/"],
  ];
  return options.flat();
}
