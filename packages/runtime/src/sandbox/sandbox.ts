import type { CodeResult } from "@thinkery/sdk";
import type { SandboxLimits } from "@thinkery/sdk/internal";
import type { SearchResult, SearchRequest, ShellCommandResult, ShellCommandRequest } from "./command.ts";
import type { App, Job } from "./run.ts";

/** Whose code it is, what it may call, and who watches. */
export interface SandboxRunOptions {
  /** `agency~agent` */
  agent: string;
  timeoutMs: number;
  /** How long it waits for a sandbox, where that is not the host's limit. */
  waitMs?: number;
  /** Ends the run at once. */
  signal: AbortSignal;
  /** Calls a capability of the run's agent. Input and answer are JSON. */
  call(capability: string, input: string, inside: NestedSandbox): Promise<string>;
  /** What the code wrote to its console meanwhile. */
  onConsole(text: string): void;
  /** How many runs go first, while it waits for a sandbox. */
  onPlace(before: number): void;
  /** It has a sandbox, and begins. */
  onBegin?(): void;
}

/** What can be done in the sandbox that a run is in, while it is there: another one might never become free. */
export interface NestedSandbox {
  shell(order: ShellCommandRequest, timeoutMs: number): Promise<ShellCommandResult>;
  search(order: SearchRequest): Promise<SearchResult>;
}

/** Whose command it is, and who waits. */
export type SandboxShellOptions = Omit<SandboxRunOptions, "call" | "onConsole">;

/** The door to sandboxes: the one way in which code that nobody vouches for is run. */
export interface Sandbox {
  readonly limits: SandboxLimits;
  /** A run that does not end well throws a `ToolFailure`. */
  run(job: Job, terms: SandboxRunOptions): Promise<CodeResult>;
  /** An app of the agent answers a request. */
  serve(app: App, request: Request, terms: SandboxRunOptions): Promise<Response>;
  /** A command on a view of the agent's workspace. What it changes is told, and nothing else is done with it. */
  shell(order: ShellCommandRequest, terms: SandboxShellOptions): Promise<ShellCommandResult>;
  /** Looks for a pattern where one that never ends does no harm. */
  search(order: SearchRequest, terms: SandboxShellOptions): Promise<SearchResult>;
}
