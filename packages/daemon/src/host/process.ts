import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { eachLine } from "./lines.ts";

/** A child that cannot outlive us, not even when we are killed. */
export interface Child {
  pid: number | undefined;
  /** Resolves when it first says on descriptor 4 that it listens (workerd's --control-fd); may never. */
  listening: Promise<void>;
  exited: Promise<Exit>;
  /** SIGKILL takes the whole group. Does nothing once the child is gone. */
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why it could not even be started. */
  error?: Error;
}

interface ChildOptions {
  command: string;
  args: string[];
  env: Record<string, string>;
  /** The home's lock: descriptor 3 of the child. */
  lockFd: number | undefined;
  onLine(line: string): void;
}

/** The descriptor on which a child reports that it listens. */
export const controlFd = 4;

// Standard input is a pipe that only we hold. When we die it closes, and a reader beside the child kills the
// group. The reader lets go of the lock and of the log, so that only the child itself keeps them.
const guard = [
  "exec 9<&0 0</dev/null",
  "(exec 3>&- 4>&- >/dev/null 2>&1; read _ <&9; kill -9 0) &",
  "exec 9<&-",
  'exec "$0" "$@"',
].join("\n");

export function startChild({ command, args, env, lockFd, onLine }: ChildOptions): Child {
  const child = spawn("/bin/sh", ["-c", guard, command, ...args], {
    detached: true,
    env,
    stdio: ["pipe", "pipe", "pipe", lockFd ?? "ignore", "pipe"],
  });
  const [input, output, errors, , control] = child.stdio;
  let gone = false;

  input?.on("error", () => {});
  if (output) eachLine(output, onLine);
  if (errors) eachLine(errors, onLine);

  const listening = new Promise<void>((resolve) => {
    if (control) eachLine(control as Readable, (line) => line.includes('"listen"') && resolve());
  });

  const exited = new Promise<Exit>((resolve) => {
    child.once("error", (error) => {
      gone = true;
      resolve({ code: null, signal: null, error });
    });
    child.once("exit", (code, signal) => {
      gone = true;
      // Lets the reader go too.
      input?.destroy();
      // Its last words may still be in the pipe; a descendant that keeps the pipe open must not hold us up.
      const late = setTimeout(() => resolve({ code, signal }), 200);
      child.once("close", () => {
        clearTimeout(late);
        resolve({ code, signal });
      });
    });
  });

  function kill(signal: "SIGTERM" | "SIGKILL"): void {
    if (gone || child.pid === undefined) return;
    try {
      process.kill(signal === "SIGKILL" ? -child.pid : child.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }

  return { pid: child.pid, listening, exited, kill };
}
