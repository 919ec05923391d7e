import { type ChildProcess, execFile } from "node:child_process";

interface Process {
  pid: number;
  parent: number;
  command: string;
}

/** Every process of this machine, as ps lists them. */
async function processes(): Promise<Process[]> {
  const listing = await new Promise<string>((resolve, reject) =>
    execFile("ps", ["-eww", "-o", "pid=,ppid=,args="], { maxBuffer: 16 * 1024 * 1024 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    ),
  );
  return listing
    .trim()
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, pid, parent, command]) => ({ pid: Number(pid), parent: Number(parent), command: command ?? "" }));
}

/** The processes that serve this home: whatever names a file of its `run` folder, orphans included. */
export async function processesOf(home: string): Promise<Process[]> {
  return (await processes()).filter(({ command }) => command.includes(`${home}/run/`));
}

/** The main of this home. One that was just killed may still be listed while the kernel takes it apart: name it. */
export async function mainOf(home: string, killed = 0): Promise<Process | undefined> {
  const isMain = ({ pid, command }: Process) => pid !== killed && command.includes("main.capnp") && !command.startsWith("/bin/sh");
  return (await processesOf(home)).find(isMain);
}

/** The processes that run this program. */
export async function processesRunning(program: string): Promise<Process[]> {
  return (await processes()).filter(({ command }) => command.includes(program));
}

/** What a process exits with, also when it already has; null when a signal ended it. */
export function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", resolve));
}
