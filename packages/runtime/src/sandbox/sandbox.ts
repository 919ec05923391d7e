import type { CodeResult } from "@thinkery/sdk";
import type { SandboxLimits } from "@thinkery/sdk/internal";
import type { SearchResult, SearchRequest, ShellCommandResult, ShellCommandRequest } from "./command.ts";
import type { App, Job } from "./run.ts";

/** Whose code runs, what it may call, and who is notified. */
export interface SandboxRunOptions {
  /** `agency~agent` */
  agent: string;
  timeoutMs: number;
  /** How long to wait for a sandbox; defaults to the host's limit. */
  waitMs?: number;
  /** Terminates the run at once. */
  signal: AbortSignal;
  /** Calls a capability of the run's agent. Input and output are JSON. */
  call(capability: string, input: string, inside: NestedSandbox): Promise<string>;
  /** Receives console output while the code runs. */
  onConsole(text: string): void;
  /** Called while waiting for a sandbox, with the number of runs ahead. */
  onPlace(before: number): void;
  /** Called once it has a sandbox and starts. */
  onBegin?(): void;
}

/** What code can use in its own sandbox while it runs: another sandbox might never become free. */
export interface NestedSandbox {
  shell(request: ShellCommandRequest, timeoutMs: number): Promise<ShellCommandResult>;
  search(request: SearchRequest): Promise<SearchResult>;
}

/** The same for a command or a search. */
export type SandboxShellOptions = Omit<SandboxRunOptions, "call" | "onConsole">;

/** Access to sandboxes: the only way to run untrusted code. */
export interface Sandbox {
  readonly limits: SandboxLimits;
  /** Runs code. Throws a `ToolError` if it fails. */
  run(job: Job, options: SandboxRunOptions): Promise<CodeResult>;
  /** Lets an app of the agent respond to a request. */
  serve(app: App, request: Request, options: SandboxRunOptions): Promise<Response>;
  /** Runs a command on a view of the agent's workspace. Its changes are returned, not committed. */
  shell(request: ShellCommandRequest, options: SandboxShellOptions): Promise<ShellCommandResult>;
  /** Searches in a sandbox, where a pattern that never terminates does no harm. */
  search(request: SearchRequest, options: SandboxShellOptions): Promise<SearchResult>;
}
