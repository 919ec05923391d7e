import { constants } from "node:os";
import { getBubblewrap } from "./bubblewrap.ts";
import type { Exit } from "./process.ts";
import { findProgram, findFailure } from "./program.ts";

/** The programs that isolate a sandbox process from this machine, in addition to workerd's own isolation. */
export interface SandboxIsolation {
  /** Paths of the programs that are installed and work. */
  prlimit?: string;
  bubblewrap?: string;
  /** Why programs are not available, in full sentences. */
  missing: string[];
}

/** What an isolated process may see and use. */
export interface ProcessLimits {
  dataBytes: number;
  cpuSeconds: number;
  /** Files that can be read, in addition to the system's libraries. */
  readable: string[];
  /** The only writable folder. */
  folder?: string;
}

interface FoundPrograms {
  prlimit: string | undefined;
  bubblewrap: { path: string } | { missing: string };
}

const probeLimits: ProcessLimits = { dataBytes: 1024 ** 3, cpuSeconds: 3600, readable: [] };

/** Tries the programs with workerd itself, because a sandbox whose workerd cannot start is useless. */
export async function probeIsolation(workerd: string, found: FoundPrograms): Promise<SandboxIsolation> {
  const { prlimit } = found;
  const wrapper = "path" in found.bubblewrap ? found.bubblewrap.path : undefined;
  const missing: string[] = [];
  if (!prlimit) missing.push("prlimit is not installed (it is part of util-linux).");
  if ("missing" in found.bubblewrap) missing.push(found.bubblewrap.missing);
  // bubblewrap isolates more strongly, so it is given up last.
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
    const failure =
      limiter || wrap ? await findFailure(isolateCommand(isolation, probeLimits, [workerd, "--version"])) : "";
    if (failure === undefined) return isolation;
    if (failure) missing.push(`workerd does not start under ${listPrograms(isolation).join(" and ")} (${failure}).`);
  }
  return { missing };
}

/** Detects which isolation programs work on this machine. */
export async function findIsolation(workerd: string): Promise<SandboxIsolation> {
  if (process.platform !== "linux") return { missing: ["prlimit and bubblewrap only exist on Linux."] };
  return probeIsolation(workerd, { prlimit: findProgram(process.env, "prlimit"), bubblewrap: await getBubblewrap() });
}

export function describeIsolation(isolation: SandboxIsolation): string {
  const names = listPrograms(isolation);
  const summary =
    names.length > 0 ? `Sandboxes run under ${names.join(" and ")}.` : "Sandboxes run without additional isolation.";
  return [summary, ...isolation.missing].join(" ");
}

export function listPrograms({ prlimit, bubblewrap }: SandboxIsolation): string[] {
  return [...(prlimit ? ["prlimit"] : []), ...(bubblewrap ? ["bubblewrap"] : [])];
}

/** Wraps a command in the isolation programs. */
export function isolateCommand(
  { prlimit, bubblewrap }: SandboxIsolation,
  limits: ProcessLimits,
  command: [string, ...string[]],
): [string, ...string[]] {
  const wrapped: [string, ...string[]] = bubblewrap
    ? [bubblewrap, ...toMountOptions(limits, command[0]), "--", ...command]
    : command;
  return prlimit ? [prlimit, ...toLimitOptions(limits), ...wrapped] : wrapped;
}

/**
 * Returns how the wrapped command ended. If a signal ended it, bubblewrap itself exits with 128 + the signal's number.
 */
export function toInnerExit({ bubblewrap }: SandboxIsolation, exit: Exit): Exit {
  const signal = Object.entries(constants.signals).find(([, number]) => number + 128 === exit.code)?.[0];
  return bubblewrap && signal ? { code: null, signal: signal as NodeJS.Signals } : exit;
}

function toLimitOptions({ dataBytes, cpuSeconds }: ProcessLimits): string[] {
  return [
    `--data=${dataBytes}`,
    // SIGXCPU first, which tells the cause; then SIGKILL.
    `--cpu=${cpuSeconds}:${cpuSeconds + 10}`,
    "--core=0",
    // It only needs its socket and pipes, so it may not write files.
    "--fsize=0",
    "--nofile=1024",
  ];
}

// Not every system has all of them.
const libraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

// No --new-session: the process stays in our process group, so that it is killed with it, and it has no terminal.
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
