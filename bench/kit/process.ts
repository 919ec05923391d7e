import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { waitUntil } from "../../tests/kit/wait-until.ts";

/** Lists these processes and all their descendants. */
export function listProcessTree(pids: number[]): number[] {
  const found = new Set<number>();
  const walk = (pid: number) => {
    if (found.has(pid)) return;
    found.add(pid);
    for (const task of listFolder(`/proc/${pid}/task`)) {
      for (const child of readText(`/proc/${pid}/task/${task}/children`).split(" ")) if (child) walk(Number(child));
    }
  };
  for (const pid of pids) walk(pid);
  return [...found];
}

/** Returns the CPU time in milliseconds, user and system, that these processes have used so far. */
export function measureProcessorTime(pids: number[]): number {
  let ticks = 0;
  for (const pid of listProcessTree(pids)) {
    // The name in brackets may contain spaces; user and system time are the 12th and 13th field after it.
    const fields = readText(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
    ticks += Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }
  return ticks * 10;
}

export function measureResidentMegabytes(pids: number[]): number {
  return listProcessTree(pids).reduce(
    (sum, pid) => sum + Number(/VmRSS:\s+(\d+) kB/.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0) / 1024,
    0,
  );
}

export const canTrace = () => spawnSync("strace", ["-V"], { stdio: "ignore" }).status === 0;

/** Counts how often these processes sync to disk during `work`. */
export async function countSyncsDuring(pids: number[], work: () => Promise<void>): Promise<number> {
  const targets = listProcessTree(pids).flatMap((pid) => ["-p", String(pid)]);
  const strace = spawn("strace", ["-f", "-e", "trace=fsync,fdatasync", ...targets], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  strace.stderr.on("data", (chunk) => (output += chunk));
  await waitUntil("strace to attach", () => output.split(" attached").length > targets.length / 2);
  output = "";
  await work();
  const exited = once(strace, "exit");
  strace.kill("SIGINT");
  await exited;
  // A call that another thread's line interrupted is printed twice, the second time as "resumed".
  return output.split("\n").filter((line) => /\bf(data)?sync\(/.test(line)).length;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
