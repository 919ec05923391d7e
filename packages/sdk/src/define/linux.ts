import type { ProcessInfo } from "../protocol/process.ts";
import type { Version } from "../protocol/version.ts";

/** What happened to the files that a command changed in the sandbox. */
export interface FileSyncResult {
  /** Files that could not be copied back, and conflicts. */
  notes?: string[];
  /** The workspace version that contains the changes. */
  version?: Version;
}

/** The result of a command that ran in the foreground. */
export interface CommandResult extends FileSyncResult {
  exitCode: number | null;
  /** Why the command ended, if it did not exit by itself. */
  endedBy?: NonNullable<ProcessInfo["endedBy"]>;
  /** Standard output and standard error, interleaved. If it is very long, only its beginning and end. */
  output: string;
  ms: number;
}

/**
 * Runs programs of the host's machine for one agent, isolated: they see a copy of the workspace, have bounded memory,
 * and no network unless the host's owner allows it. Changes to the copy are committed to the workspace when a command
 * ends, and whenever a background process is read. If the machine lacks what the sandbox needs, all methods throw a
 * `ToolError` that says what to install.
 */
export interface Linux {
  /** Runs a command and waits for it to end. */
  run(
    command: string,
    options: { timeoutMs?: number; signal: AbortSignal; onOutput(text: string): void },
  ): Promise<CommandResult>;
  /** Starts a process that keeps running after the tool call. */
  start(command: string): Promise<ProcessInfo & FileSyncResult>;
  list(): Promise<ProcessInfo[]>;
  /** Returns a process with its output so far. If the output is very long, only its end. */
  read(id: string): Promise<ProcessInfo & FileSyncResult & { output: string }>;
  stop(id: string): Promise<ProcessInfo & FileSyncResult>;
}
