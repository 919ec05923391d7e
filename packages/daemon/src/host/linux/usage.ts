import { readdirSync, readFileSync, statfsSync } from "node:fs";
import type { CommandUsage } from "./provider.ts";

/** Files that a command keeps in memory. */
const memoryFolders = ["/tmp", "/dev/shm"];
const bytesPerKb = 1024;
const maxRepetitions = 3;

interface ProcessStatus {
  pid: number;
  /** Its id inside the sandbox; undefined if it is outside. */
  innerPid: number | undefined;
  threadIds: number[];
  /** Memory that only swapping could free. What processes share is counted for each of them. */
  memoryBytes: number;
}

/**
 * Measures what a command uses, by the descendants of the process that we started for it: everything in a sandbox
 * descends from its first process, whatever a command does. Returns undefined if that cannot be determined.
 */
export function measureUsage(pid: number, memoryLimitBytes: number): CommandUsage | undefined {
  let usage = measureOnce(pid, memoryLimitBytes);
  // While processes that share memory exit, their parts are read at different moments and add up to too much.
  for (let again = 0; again < maxRepetitions && usage && usage.memoryBytes > memoryLimitBytes; again++) {
    const { memoryBytes } = usage;
    const next = measureOnce(pid, memoryLimitBytes);
    usage = next && { ...next, memoryBytes: Math.min(memoryBytes, next.memoryBytes) };
  }
  return usage;
}

function measureOnce(pid: number, memoryLimitBytes: number): CommandUsage | undefined {
  const inside = listDescendants(pid).filter(({ innerPid }) => innerPid !== undefined);
  if (inside.length === 0) return undefined;
  const processes = sum(inside, ({ threadIds }) => threadIds.length);
  const folderBytes = measureFolders(inside.find(({ innerPid }) => innerPid === 1)?.pid);
  const atMostBytes = folderBytes + sum(inside, ({ memoryBytes }) => memoryBytes);
  // What is shared, for example after a fork, is counted once only here, which takes far more time.
  if (atMostBytes <= memoryLimitBytes) return { processes, memoryBytes: atMostBytes };
  return { processes, memoryBytes: folderBytes + sum(inside, measureProportionally) };
}

/** Tells whether this machine's /proc has what `measureUsage` reads. */
export function canMeasureUsage(): boolean {
  const path = `/proc/${process.pid}`;
  return (
    readText(`${path}/task/${process.pid}/children`) !== undefined && /^NSpid:/m.test(readText(`${path}/status`) ?? "")
  );
}

function listDescendants(pid: number): ProcessStatus[] {
  const found: ProcessStatus[] = [];
  const pending = [pid];
  const seen = new Set(pending);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const status = readStatus(next);
    if (!status) continue;
    found.push(status);
    for (const threadId of status.threadIds) {
      const children = readText(`/proc/${next}/task/${threadId}/children`)?.trim();
      for (const child of children ? children.split(" ").map(Number) : []) {
        // Ids can be reused while we read.
        if (!seen.has(child)) pending.push(child);
        seen.add(child);
      }
    }
  }
  return found;
}

function readStatus(pid: number): ProcessStatus | undefined {
  const text = readText(`/proc/${pid}/status`);
  if (text === undefined) return undefined;
  const [, innerPid] = /^NSpid:\t(.*)$/m.exec(text)?.[1]?.split("\t").map(Number) ?? [];
  const threadIds = Number(/^Threads:\t(\d+)$/m.exec(text)?.[1] ?? 1) > 1 ? listThreads(pid) : [pid];
  // A process whose first thread has exited shows its memory only in the others.
  const hasFirstThread = !/^State:\t[ZX]/m.test(text);
  const lastThread = threadIds.at(-1);
  const memory =
    hasFirstThread || lastThread === pid ? text : (readText(`/proc/${pid}/task/${lastThread}/status`) ?? "");
  return { pid, innerPid, threadIds, memoryBytes: sumFields(memory, /^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm) };
}

function listThreads(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

/** Divides memory that processes share by their number. If that is not permitted, or not possible, counts all of it. */
function measureProportionally({ pid }: ProcessStatus): number {
  const text = readText(`/proc/${pid}/smaps_rollup`);
  // It may have exited since.
  if (!text) return readStatus(pid)?.memoryBytes ?? 0;
  return sumFields(text, /^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$/gm);
}

function measureFolders(firstProcess: number | undefined): number {
  return sum(memoryFolders, (folder) => {
    try {
      const { blocks, bfree, bsize } = statfsSync(`/proc/${firstProcess}/root${folder}`);
      return (blocks - bfree) * bsize;
    } catch {
      return 0;
    }
  });
}

function sumFields(text: string, pattern: RegExp): number {
  return sum([...text.matchAll(pattern)], ([, kilobytes]) => Number(kilobytes) * bytesPerKb);
}

function sum<T>(items: T[], getValue: (item: T) => number): number {
  return items.reduce((total, item) => total + getValue(item), 0);
}

/** Returns undefined if the process has exited. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
