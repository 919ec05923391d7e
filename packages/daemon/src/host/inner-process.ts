import { readFileSync } from "node:fs";

interface InnerProcess {
  pid: number;
  memoryBytes: number;
}

/**
 * Finds the process with this name: the child itself, or a descendant if the child runs inside an isolation program.
 * Returns undefined on systems other than Linux.
 */
export function findInnerProcess(name: string, pid: number, depth = 3): InnerProcess | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    if (/^Name:\t(.*)$/m.exec(status)?.[1] === name)
      return { pid, memoryBytes: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024 };
    if (depth === 0) return undefined;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    for (const child of children ? children.split(" ") : []) {
      const found = findInnerProcess(name, Number(child), depth - 1);
      if (found) return found;
    }
  } catch {
    // The process has exited, or there is no /proc.
  }
  return undefined;
}
