import type { ProcessInfo } from "../protocol/process.ts";

/** What became of a command that was waited for. */
export interface CommandResult {
  exitCode: number | null;
  /** What ended it, where it did not exit by itself. */
  endedBy?: "timeout" | "stop" | "memory" | "disk" | "signal";
  /** What it wrote, standard output and errors as they came; of very much, the beginning and the end. */
  output: string;
  ms: number;
}

/**
 * Programs of this machine, for one agent, walled in: its own folder, no network unless the host's owner allows it,
 * bounded memory. Absent providers throw a `ToolFailure` that says what to install.
 */
export interface Linux {
  /** Runs a command and waits for it. */
  run(command: string, options: { timeoutMs?: number; signal: AbortSignal; onOutput(text: string): void }): Promise<CommandResult>;
  /** Starts one that goes on after the call. */
  start(command: string): Promise<ProcessInfo>;
  list(): Promise<ProcessInfo[]>;
  /** What it wrote so far; of very much, the end. */
  read(id: string): Promise<ProcessInfo & { output: string }>;
  stop(id: string): Promise<ProcessInfo>;
}
