import { constants } from "node:os";
import { getBubblewrap } from "./bubblewrap.ts";
import { type Exit, firstInputFd, type Input } from "./process.ts";
import { findProgram, findFailure } from "./program.ts";
import { createSeccompFilter } from "./seccomp.ts";

/** The programs that isolate a sandbox process from this machine, in addition to workerd's own isolation. */
export interface SandboxIsolation {
  /** Paths of the programs that are installed and work. */
  prlimit?: string;
  bubblewrap?: string;
  /** Switches to another user. Only if we are root. */
  setpriv?: string;
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
  /** A link to `programFdPath`, whose name becomes the name of a process that runs as another user. */
  programLink?: string;
}

/** The command line of an isolated process. */
interface IsolatedCommand {
  command: string;
  args: string[];
  inputs: Input[];
}

/**
 * Where a process that runs as another user finds its program: that user may not be able to reach the program's path.
 */
export const programFdPath = `/proc/self/fd/${firstInputFd}`;

/** User and group id of sandboxes and commands if the daemon is root. */
export const nobody = 65_534;

interface FoundPrograms {
  prlimit: string | undefined;
  /** Given if we are root. */
  setpriv?: string | undefined;
  bubblewrap: { path: string } | { missing: string };
}

const probeLimits: ProcessLimits = { dataBytes: 1024 ** 3, cpuSeconds: 3600, readable: [] };

/** Tries the programs with workerd itself, because a sandbox whose workerd cannot start is useless. */
export async function probeIsolation(workerd: string, found: FoundPrograms): Promise<SandboxIsolation> {
  const { prlimit, setpriv } = found;
  const wrapper = "path" in found.bubblewrap ? found.bubblewrap.path : undefined;
  const missing: string[] = [];
  if (!prlimit) missing.push("prlimit is not installed (it is part of util-linux).");
  if ("missing" in found.bubblewrap) missing.push(found.bubblewrap.missing);
  const limiter = prlimit ? { prlimit } : {};
  const switcher = setpriv ? { setpriv } : {};
  // bubblewrap isolates more strongly, so it is given up last.
  const attempts: Omit<SandboxIsolation, "missing">[] = [
    ...(wrapper && setpriv
      ? [
          { ...limiter, bubblewrap: wrapper, setpriv },
          { bubblewrap: wrapper, setpriv },
        ]
      : []),
    ...(wrapper ? [{ ...limiter, bubblewrap: wrapper }, { bubblewrap: wrapper }] : []),
    { ...limiter, ...switcher },
    switcher,
  ];
  // Root's rights are given up in any case.
  const acceptable = setpriv ? attempts.filter((attempt) => attempt.bubblewrap || attempt.setpriv) : attempts;
  for (const attempt of acceptable) {
    const isolation: SandboxIsolation = { ...attempt, missing };
    const names = listPrograms(isolation);
    const failure =
      names.length > 0 ? await findFailure(isolateCommand(isolation, probeLimits, [workerd, "--version"])) : "";
    if (failure === undefined) return isolation;
    if (failure) missing.push(`workerd does not start under ${names.join(" and ")} (${failure}).`);
  }
  return { missing };
}

/** Detects which isolation programs work on this machine. */
export async function findIsolation(workerd: string): Promise<SandboxIsolation> {
  if (process.platform !== "linux") return { missing: ["prlimit and bubblewrap only exist on Linux."] };
  return probeIsolation(workerd, {
    prlimit: findProgram(process.env, "prlimit"),
    bubblewrap: await getBubblewrap(),
    ...(isRoot() ? { setpriv: findProgram(process.env, "setpriv") } : {}),
  });
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

export function describeIsolation(isolation: SandboxIsolation): string {
  const names = listPrograms(isolation);
  const summary =
    names.length > 0 ? `Sandboxes run under ${names.join(" and ")}.` : "Sandboxes run without additional isolation.";
  return [summary, ...isolation.missing].join(" ");
}

export function listPrograms({ prlimit, bubblewrap, setpriv }: SandboxIsolation): string[] {
  return [...(prlimit ? ["prlimit"] : []), ...(bubblewrap ? ["bubblewrap"] : []), ...(setpriv ? ["setpriv"] : [])];
}

/** Wraps a command in the isolation programs. */
export function isolateCommand(
  isolation: SandboxIsolation,
  limits: ProcessLimits,
  command: [string, ...string[]],
): IsolatedCommand {
  const { line, inputs } = wrapCommand(isolation, limits, command);
  const [first, ...args] = isolation.prlimit
    ? ([isolation.prlimit, ...toLimitOptions(limits), ...line] as const)
    : line;
  return { command: first, args, inputs };
}

function wrapCommand(
  { bubblewrap, setpriv }: SandboxIsolation,
  limits: ProcessLimits,
  [program, ...args]: [string, ...string[]],
): { line: [string, ...string[]]; inputs: Input[] } {
  const switchUser = setpriv ? [setpriv, ...userOptions, ...(bubblewrap ? ["--bounding-set", "-all"] : []), "--"] : [];
  if (bubblewrap) {
    const filter = createSeccompFilter();
    const options = [
      ...(filter ? ["--seccomp", String(firstInputFd)] : []),
      ...toNamespaceOptions(setpriv),
      ...toMountOptions(limits, [program, ...(setpriv ? [setpriv] : [])]),
    ];
    return { line: [bubblewrap, ...options, "--", ...switchUser, program, ...args], inputs: filter ? [filter] : [] };
  }
  const [first, ...rest] = switchUser;
  if (!first) return { line: [program, ...args], inputs: [] };
  return { line: [first, ...rest, limits.programLink ?? programFdPath, ...args], inputs: [{ file: program }] };
}

const userOptions = [
  "--reuid",
  String(nobody),
  "--regid",
  String(nobody),
  "--clear-groups",
  "--inh-caps",
  "-all",
  "--no-new-privs",
];

/**
 * A process that is to switch to another user stays in our user namespace, because in one of its own there is no other
 * user. It keeps the rights that switching needs, and loses them by it.
 */
function toNamespaceOptions(setpriv: string | undefined): string[] {
  if (!setpriv) return ["--unshare-all", "--cap-drop", "ALL"];
  const namespaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"];
  const kept = ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"].flatMap((name) => ["--cap-add", name]);
  return [...namespaces, "--cap-drop", "ALL", ...kept];
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
function toMountOptions({ readable, folder }: ProcessLimits, programs: string[]): string[] {
  const options = [
    ["--die-with-parent"],
    ["--clearenv"],
    ...libraries.map((path) => ["--ro-bind-try", path, path]),
    ["--dev", "/dev"],
    ["--proc", "/proc"],
    ...listParents([...programs, ...readable, ...(folder ? [folder] : [])]).map((path) => ["--dir", path]),
    ...[...programs, ...readable].map((path) => ["--ro-bind", path, path]),
    folder ? ["--bind", folder, folder] : [],
    ["--remount-ro", "/"],
  ];
  return options.flat();
}

/**
 * Lists the folders of these paths, outermost first. If bubblewrap creates them on its own, only their owner can enter
 * them.
 */
function listParents(paths: string[]): string[] {
  const parents = new Set<string>();
  for (const path of paths)
    for (let end = path.indexOf("/", 1); end !== -1; end = path.indexOf("/", end + 1)) parents.add(path.slice(0, end));
  return [...parents];
}
