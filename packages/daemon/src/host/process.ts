import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { type Descriptors, dropInheritedDescriptors } from "./inherited-descriptors.ts";
import { readLines } from "./lines.ts";
import { throttleReads } from "./throttle-reads.ts";

/** A child process that cannot outlive us, even if we are killed. */
export interface Child {
  pid: number | undefined;
  /**
   * Resolves when the child first reports on descriptor 4 that it listens (workerd's --control-fd). May never resolve.
   */
  listening: Promise<void>;
  exited: Promise<Exit>;
  /** SIGKILL goes to the whole process group. Returns false if the child is already gone. */
  kill(signal: "SIGTERM" | "SIGKILL"): boolean;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Set if the process could not be started. */
  error?: Error;
}

/** Passed to a child on a descriptor: text or bytes to read, or an open file. */
export type Input = string | Uint8Array | { file: string };

interface ChildOptions {
  command: string;
  args: string[];
  /** Passed on descriptors 5 and up. */
  inputs?: Input[];
  env: Record<string, string>;
  /** Default: our own working directory. */
  cwd?: string;
  /** The home's lock, passed as descriptor 3. */
  lockFd: number | undefined;
  onLine(line: string): void;
}

/** Descriptor on which a child reports that it listens. */
export const controlFd = 4;

// Standard input is a pipe that only we hold. When we die it closes, and a background reader kills the process group.
// The reader closes the lock and the log descriptors, so that only the child itself keeps them open. With this umask,
// nobody else can open the sockets that a child creates.
const guardScript = [
  "umask 077",
  "exec 9<&0 0</dev/null",
  "(exec 3>&- 4>&- 5<&- >/dev/null 2>&1; read _ <&9; kill -9 0) &",
  "exec 9<&-",
  'exec "$0" "$@"',
].join("\n");

interface CommandOptions {
  command: string;
  args: string[];
  /** Passed on descriptors 5 and up. A command line would be visible to other users. */
  inputs: Input[];
  /** Receives stdout and stderr combined, with backpressure. */
  onOutput(chunk: Buffer): void;
}

/** First descriptor of `inputs`. */
export const firstInputFd = 5;

// The same for untrusted commands. If memory runs out, the kernel should kill the command and not the reader.
const commandGuardScript = [
  "exec 9<&0 0</dev/null 2>&1",
  "(exec 5<&- 6<&- 7<&- >/dev/null 2>&1; read _ <&9; kill -9 0) &",
  "exec 9<&-",
  "{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null",
  'exec "$0" "$@"',
].join("\n");

export function startChild({ command, args, inputs = [], env, cwd, lockFd, onLine }: ChildOptions): Child {
  const child = spawnWithInputs("/bin/sh", ["-c", guardScript, command, ...args], inputs, {
    ...(cwd === undefined ? {} : { cwd }),
    detached: true,
    env,
    stdio: ["pipe", "pipe", "pipe", lockFd ?? "ignore", "pipe"],
  });
  const [, output, errors, , control] = child.stdio;
  if (output) readLines(output, onLine);
  if (errors) readLines(errors, onLine);

  const listening = new Promise<void>((resolve) => {
    if (control) readLines(control as Readable, (line) => line.includes('"listen"') && resolve());
  });

  return { pid: child.pid, listening, ...trackExit(child) };
}

/** Runs an untrusted command. It gets no environment, no stdin, and no descriptors except its output and `inputs`. */
export function startCommand({
  command,
  args,
  inputs,
  onOutput,
}: CommandOptions): Pick<Child, "pid" | "exited" | "kill"> {
  const child = spawnWithInputs("/bin/sh", ["-c", commandGuardScript, command, ...args], inputs, {
    cwd: "/",
    detached: true,
    env: {},
    stdio: ["pipe", "pipe", "ignore", "ignore", "ignore"],
  });
  const throttle = child.stdout && throttleReads(child.stdout, onOutput);
  // After exit only the little that is still in the pipe remains to be read.
  child.once("exit", () => throttle?.disable());
  return { pid: child.pid, ...trackExit(child) };
}

interface SpawnOptions {
  cwd?: string;
  detached: boolean;
  env: Record<string, string>;
  /** The descriptors below `firstInputFd`. */
  stdio: Descriptors;
}

function spawnWithInputs(command: string, args: string[], inputs: Input[], options: SpawnOptions): ChildProcess {
  const opened = inputs.map((input) => (isFile(input) ? openSync(input.file, "r") : undefined));
  try {
    const stdio = dropInheritedDescriptors([...options.stdio, ...opened.map((descriptor) => descriptor ?? "pipe")]);
    const child = spawn(command, args, { ...options, stdio });
    inputs.forEach((input, index) => {
      if (isFile(input)) return;
      const pipe = child.stdio[firstInputFd + index] as Writable | null | undefined;
      pipe?.on("error", () => {});
      pipe?.end(input);
    });
    return child;
  } finally {
    for (const descriptor of opened) if (descriptor !== undefined) closeSync(descriptor);
  }
}

function isFile(input: Input): input is { file: string } {
  return typeof input === "object" && "file" in input;
}

const maxCloseMs = 10_000;

function trackExit(child: ChildProcess): Pick<Child, "exited" | "kill"> {
  const { stdin } = child;
  let gone = false;
  stdin?.on("error", () => {});

  const exited = new Promise<Exit>((resolve) => {
    child.once("error", (error) => {
      gone = true;
      resolve({ code: null, signal: null, error });
    });
    child.once("exit", (code, signal) => {
      gone = true;
      // Ends the background reader too.
      stdin?.destroy();
      // Processes it started inside its isolation die with it, but not instantly, and slowly on a busy machine. Until
      // their pipes close they may still respond to connected clients, so wait for that, but not forever.
      const timeout = setTimeout(() => resolve({ code, signal }), maxCloseMs);
      child.once("close", () => {
        clearTimeout(timeout);
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
