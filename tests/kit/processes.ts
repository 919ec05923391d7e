import { type ChildProcess, execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface Process {
  pid: number;
  parent: number;
  group: number;
  command: string;
}

/**
 * Every process of this machine that runs. What is dead and only not yet reaped does not, nor does what the kernel is taking
 * apart: that may go on after its pipes are closed, for a long time where the machine is busy and it comes last.
 */
export function listProcesses(): Process[] {
  return process.platform === "linux" ? readProc() : readPs();
}

export const isAlive = (pid: number) => listProcesses().some((found) => found.pid === pid);

/** PF_EXITING of the kernel, which `ps` does not show. */
const exitingFlag = 0x4;

// Read directly: those who wait ask every few milliseconds, and `ps` would take more of the machine than what they wait for.
function readProc(): Process[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The program's name, in brackets, may have anything in it.
      const [state = "Z", parent, group, , , , flags] =
        readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
      if (state === "Z" || state === "X" || (Number(flags) & exitingFlag) !== 0) return [];
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return [{ pid: Number(name), parent: Number(parent), group: Number(group), command }];
    } catch {
      // Gone since.
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

/** The processes that serve this home: whatever names a file of its `run` folder, orphans included. */
export function findHomeProcesses(home: string): Process[] {
  return listProcesses().filter(({ command }) => command.includes(`${home}/run/`));
}

/** The main of this home. One that was just killed may still run for a moment: name it. */
export function findMain(home: string, killed = 0): Process | undefined {
  const isMain = ({ pid, command }: Process) =>
    pid !== killed && command.includes("main.capnp") && !command.startsWith("/bin/sh");
  return findHomeProcesses(home).find(isMain);
}

/** The processes that run this program. */
export function findProgramProcesses(program: string): Process[] {
  return listProcesses().filter(({ command }) => command.includes(program));
}

/** What a process exits with, also when it already has; null when a signal ended it. */
export function waitForExit(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", resolve));
}
