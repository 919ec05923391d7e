import { type ChildProcess, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

export interface Process {
  pid: number;
  parent: number;
  group: number;
  command: string;
}

/**
 * Lists the running processes of this machine, without zombies and without those that the kernel is tearing down: on a
 * busy machine that can go on long after their pipes are closed.
 */
export function listProcesses(): Process[] {
  return process.platform === "linux" ? readProc() : readPs();
}

export const isAlive = (pid: number) => listProcesses().some((running) => running.pid === pid);

/** The kernel's PF_EXITING, which `ps` does not show. */
const exitingFlag = 0x4;

// Reads /proc directly: tests poll every few milliseconds, and `ps` would cost more than what they wait for.
function readProc(): Process[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The program's name, in parentheses, may contain anything.
      const [state = "Z", parent, group, , , , flags] =
        readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
      if (state === "Z" || state === "X" || (Number(flags) & exitingFlag) !== 0) return [];
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return [{ pid: Number(name), parent: Number(parent), group: Number(group), command }];
    } catch {
      // It has exited since.
      return [];
    }
  });
}

function readPs(): Process[] {
  const table = execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,pgid=,stat=,args="], {
    encoding: "utf8",
    maxBuffer: 16 * 1024 * 1024,
  });
  return table.split("\n").flatMap((row) => {
    const [, pid, parent, group, state = "Z", command = ""] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(row) ?? [];
    return state.startsWith("Z") ? [] : [{ pid: Number(pid), parent: Number(parent), group: Number(group), command }];
  });
}

/**
 * The processes of this home, including orphans: all that name a file of its `run` folder, or of the folder that slots
 * have if the host runs as root.
 */
export function findHomeProcesses(home: string): Process[] {
  const slotFiles = `/tmp/thinkery-slots-${createHash("sha256").update(home).digest("hex").slice(0, 16)}/`;
  return listProcesses().filter(({ command }) => command.includes(`${home}/run/`) || command.includes(slotFiles));
}

/** The main process of this home. A just killed one may still run for a moment: pass its pid to skip it. */
export function findMain(home: string, killed = 0): Process | undefined {
  const isMain = ({ pid, command }: Process) =>
    pid !== killed && command.includes("main.capnp") && !command.startsWith("/bin/sh");
  return findHomeProcesses(home).find(isMain);
}

/** The processes that run this program. */
export function findProgramProcesses(program: string): Process[] {
  return listProcesses().filter(({ command }) => command.includes(program));
}

/** Waits for a process to exit and returns its exit code, or null if a signal ended it. */
export function waitForExit(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", resolve));
}
