import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { dropInheritedDescriptors } from "./inherited-descriptors.ts";
import { readLines } from "./lines.ts";
import { throttleReads } from "./throttle-reads.ts";

/** A child that cannot outlive us, not even when we are killed. */
export interface Child {
  pid: number | undefined;
  /** Resolves when it first says on descriptor 4 that it listens (workerd's --control-fd); may never. */
  listening: Promise<void>;
  exited: Promise<Exit>;
  /** SIGKILL takes the whole group. Does nothing once the child is gone, and says so. */
  kill(signal: "SIGTERM" | "SIGKILL"): boolean;
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
const guardScript = [
  "exec 9<&0 0</dev/null",
  "(exec 3>&- 4>&- >/dev/null 2>&1; read _ <&9; kill -9 0) &",
  "exec 9<&-",
  'exec "$0" "$@"',
].join("\n");

interface CommandOptions {
  command: string;
  args: string[];
  /** What it finds on descriptors 5 and up; a command line would be there for everybody to see. */
  given: string[];
  /** Both streams as one. One that writes faster than we read has to wait. */
  onOutput(chunk: Buffer): void;
}

/** The first descriptor on which a command finds what it is given. */
export const givenFd = 5;

// The same for a command of somebody else's. Where memory is short the kernel is to take it first, and not the reader.
const commandGuardScript = [
  "exec 9<&0 0</dev/null 2>&1",
  "(exec 5<&- 6<&- >/dev/null 2>&1; read _ <&9; kill -9 0) &",
  "exec 9<&-",
  "{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null",
  'exec "$0" "$@"',
].join("\n");

export function startChild({ command, args, env, lockFd, onLine }: ChildOptions): Child {
  const child = spawn("/bin/sh", ["-c", guardScript, command, ...args], {
    detached: true,
    env,
    stdio: dropInheritedDescriptors(["pipe", "pipe", "pipe", lockFd ?? "ignore", "pipe"]),
  });
  const [, output, errors, , control] = child.stdio;
  if (output) readLines(output, onLine);
  if (errors) readLines(errors, onLine);

  const listening = new Promise<void>((resolve) => {
    if (control) readLines(control as Readable, (line) => line.includes('"listen"') && resolve());
  });

  return { pid: child.pid, listening, ...trackExit(child) };
}

/** Runs a command that nobody vouches for. It has no environment, no input and no descriptors but its output and what it is given. */
export function startCommand({ command, args, given, onOutput }: CommandOptions): Pick<Child, "exited" | "kill"> {
  const child = spawn("/bin/sh", ["-c", commandGuardScript, command, ...args], {
    cwd: "/",
    detached: true,
    env: {},
    stdio: dropInheritedDescriptors([
      "pipe",
      "pipe",
      "ignore",
      "ignore",
      "ignore",
      ...given.map(() => "pipe" as const),
    ]),
  });
  const pace = child.stdout && throttleReads(child.stdout, onOutput);
  // What it wrote last is little, and nobody has to wait any more.
  child.once("exit", () => pace?.rush());
  given.forEach((text, index) => {
    const pipe = child.stdio[givenFd + index] as Writable | null | undefined;
    pipe?.on("error", () => {});
    pipe?.end(text);
  });
  return trackExit(child);
}

const maxExitMs = 10_000;

/** How a child ends, by itself or by us. */
function trackExit(child: ChildProcess): Pick<Child, "exited" | "kill"> {
  const { stdin: input } = child;
  let gone = false;
  input?.on("error", () => {});

  const exited = new Promise<Exit>((resolve) => {
    child.once("error", (error) => {
      gone = true;
      resolve({ code: null, signal: null, error });
    });
    child.once("exit", (code, signal) => {
      gone = true;
      // Lets the reader go too.
      input?.destroy();
      // What it started behind walls dies with it, but not in the same moment, and not quickly where the machine is busy;
      // until its pipe closes it may still answer whoever is connected to it. One that keeps it open for ever is no reason to wait for ever.
      const late = setTimeout(() => resolve({ code, signal }), maxExitMs);
      child.once("close", () => {
        clearTimeout(late);
        resolve({ code, signal });
      });
    });
  });

  function kill(signal: "SIGTERM" | "SIGKILL"): boolean {
    if (gone || child.pid === undefined) return false;
    try {
      return process.kill(signal === "SIGKILL" ? -child.pid : child.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      return false;
    }
  }

  return { exited, kill };
}
