import { type ChildProcess, spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";

interface ShellOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Ends the command. */
  signal: AbortSignal;
  /** More output ends the command. */
  maxOutputBytes: number;
  /** Called with each line of stderr. */
  onErrorLine(line: string): void;
}

export interface ShellResult {
  stdout: string;
  exitCode: number | null;
  /** The signal that ended it, if it did not exit by itself. */
  signal: NodeJS.Signals | null;
  isTooLong: boolean;
}

/** How long a command may take to end before it is killed. */
const graceMs = 2000;
/** How long to read on after its end, if something that it started keeps its output open. */
const maxCloseMs = 500;

/** Runs a command with the person's own rights. It has no input. Rejects if there is no shell. */
export function runShell(command: string, options: ShellOptions): Promise<ShellResult> {
  const { cwd, env, signal, maxOutputBytes, onErrorLine } = options;
  const isWindows = process.platform === "win32";
  const [program, args] = isWindows ? [command, []] : ["/bin/sh", ["-c", command]];
  // In a process group of its own, so that everything it started ends with it.
  const child = spawn(program, args, {
    cwd,
    env: { ...env },
    detached: !isWindows,
    shell: isWindows,
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const chunks: Buffer[] = [];
  let size = 0;
  let killTimer: NodeJS.Timeout | undefined;

  const end = () => {
    kill(child, "SIGTERM");
    killTimer ??= setTimeout(() => kill(child, "SIGKILL"), graceMs);
  };
  const killNow = () => kill(child, "SIGKILL");

  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxOutputBytes) chunks.push(chunk);
    else end();
  });
  const lines = createLineReader(onErrorLine);
  child.stderr.on("data", (chunk: Buffer) => lines.push(chunk));

  signal.addEventListener("abort", end);
  // A second Ctrl+C exits at once.
  process.once("exit", killNow);
  return new Promise<ShellResult>((resolve, reject) => {
    if (signal.aborted) end();
    child.once("error", reject);
    child.once("exit", (exitCode, endedBy) => {
      const settle = () => {
        clearTimeout(closeTimer);
        lines.end();
        const stdout = Buffer.concat(chunks).toString("utf8");
        resolve({ stdout, exitCode, signal: endedBy, isTooLong: size > maxOutputBytes });
      };
      const closeTimer = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        settle();
      }, maxCloseMs);
      child.once("close", settle);
    });
  }).finally(() => {
    clearTimeout(killTimer);
    signal.removeEventListener("abort", end);
    process.off("exit", killNow);
  });
}

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

const maxLineChars = 1000;

/** Splits a stream at its line ends. A progress bar that is drawn again and again counts as one line. */
function createLineReader(onLine: (line: string) => void) {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const toShown = (line: string) => (line.replace(/\r$/, "").split("\r").at(-1) ?? "").slice(0, maxLineChars);
  return {
    push(chunk: Buffer): void {
      const lines = (rest + decoder.write(chunk)).split("\n");
      rest = (lines.pop() ?? "").slice(-4 * maxLineChars);
      for (const line of lines) onLine(toShown(line));
    },
    end(): void {
      if (rest !== "") onLine(toShown(rest));
      rest = "";
    },
  };
}
