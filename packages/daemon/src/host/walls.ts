import { constants } from "node:os";
import { bubblewrap } from "./bubblewrap.ts";
import type { Exit } from "./process.ts";
import { findProgram, whyNot } from "./program.ts";

/** What keeps the process of a sandbox away from this machine, beside what workerd does itself. */
export interface Walls {
  /** The programs that are there and work. */
  prlimit?: string;
  bubblewrap?: string;
  /** Why one is not, in full sentences. */
  missing: string[];
}

/** What a process behind the walls may see and use. */
export interface Allowance {
  dataBytes: number;
  cpuSeconds: number;
  /** Files that can be read inside, beside the system's libraries. */
  readable: string[];
  /** The only folder in which something can be made. */
  folder?: string;
}

interface Found {
  prlimit: string | undefined;
  bubblewrap: { path: string } | { missing: string };
}

const little: Allowance = { dataBytes: 1024 ** 3, cpuSeconds: 3600, readable: [] };

/** Tries the walls with the very program they are for: one that cannot start behind them would be no sandbox at all. */
export async function findWalls(workerd: string, found: Found): Promise<Walls> {
  const { prlimit } = found;
  const wrapper = "path" in found.bubblewrap ? found.bubblewrap.path : undefined;
  const missing: string[] = [];
  if (!prlimit) missing.push("prlimit is not installed; it is a part of util-linux.");
  if ("missing" in found.bubblewrap) missing.push(found.bubblewrap.missing);
  // The stronger one is given up last.
  const attempts: [prlimit: string | undefined, bubblewrap: string | undefined][] = [[prlimit, wrapper], [undefined, wrapper], [prlimit, undefined]];
  for (const [limiter, wrap] of attempts) {
    const walls: Walls = { ...(limiter ? { prlimit: limiter } : {}), ...(wrap ? { bubblewrap: wrap } : {}), missing };
    const trouble = limiter || wrap ? await whyNot(behind(walls, little, [workerd, "--version"])) : "";
    if (trouble === undefined) return walls;
    if (trouble) missing.push(`workerd does not start behind ${namesOf(walls).join(" and ")} here (${trouble}).`);
  }
  return { missing };
}

/** The walls of this machine. */
export async function wallsHere(workerd: string): Promise<Walls> {
  if (process.platform !== "linux") return { missing: ["prlimit and bubblewrap only exist on Linux."] };
  return findWalls(workerd, { prlimit: findProgram(process.env, "prlimit"), bubblewrap: await bubblewrap() });
}

export function describeWalls(walls: Walls): string {
  const names = namesOf(walls);
  const there = names.length > 0 ? `Sandboxes run behind ${names.join(" and ")}.` : "Sandboxes run without further walls.";
  return [there, ...walls.missing].join(" ");
}

export function namesOf({ prlimit, bubblewrap }: Walls): string[] {
  return [...(prlimit ? ["prlimit"] : []), ...(bubblewrap ? ["bubblewrap"] : [])];
}

/** The command that runs another one behind the walls. */
export function behind({ prlimit, bubblewrap }: Walls, allowed: Allowance, command: [string, ...string[]]): [string, ...string[]] {
  const wrapped: [string, ...string[]] = bubblewrap ? [bubblewrap, ...view(allowed, command[0]), "--", ...command] : command;
  return prlimit ? [prlimit, ...bounds(allowed), ...wrapped] : wrapped;
}

/** How the command itself ended: bubblewrap ends with a number where a signal ended what it ran. */
export function exitBehind({ bubblewrap }: Walls, exit: Exit): Exit {
  const signal = Object.entries(constants.signals).find(([, number]) => number + 128 === exit.code)?.[0];
  return bubblewrap && signal ? { code: null, signal: signal as NodeJS.Signals } : exit;
}

function bounds({ dataBytes, cpuSeconds }: Allowance): string[] {
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
function view({ readable, folder }: Allowance, program: string): string[] {
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
