import type { ProcessInfo } from "../protocol/process.ts";
import type { Version } from "../protocol/version.ts";

/** What came of the files that were changed in the sandbox. */
export interface FileSyncResult {
  /** What is to be known of them: which could not be taken, and where two have changed the same. */
  notes?: string[];
  /** They are in the workspace as this version. */
  version?: Version;
}

/** What became of a command that was waited for. */
export interface CommandResult extends FileSyncResult {
  exitCode: number | null;
  /** What ended it, where it did not exit by itself. */
  endedBy?: "timeout" | "stop" | "memory" | "disk" | "signal";
  /** What it wrote, standard output and errors as they came; of very much, the beginning and the end. */
  output: string;
  ms: number;
}

/**
 * Programs of this machine, for one agent, walled in: a copy of its workspace, no network unless the host's owner allows
 * it, bounded memory. What they change in the copy comes back into the workspace when they end, and whenever somebody
 * looks at one that goes on. Absent providers throw a `ToolFailure` that says what to install.
 */
export interface Linux {
  /** Runs a command and waits for it. */
  run(
    command: string,
    options: { timeoutMs?: number; signal: AbortSignal; onOutput(text: string): void },
  ): Promise<CommandResult>;
  /** Starts one that goes on after the call. */
  start(command: string): Promise<ProcessInfo & FileSyncResult>;
  list(): Promise<ProcessInfo[]>;
  /** What it wrote so far; of very much, the end. */
  read(id: string): Promise<ProcessInfo & FileSyncResult & { output: string }>;
  stop(id: string): Promise<ProcessInfo & FileSyncResult>;
}
