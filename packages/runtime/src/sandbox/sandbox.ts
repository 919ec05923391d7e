import type { CodeResult } from "@thinkery/sdk";
import type { SandboxLimits } from "@thinkery/sdk/internal";
import type { SearchAnswer, SearchFiles, ShellAnswer, ShellOrder } from "./command.ts";
import type { App, Job } from "./run.ts";

/** Whose code it is, what it may call, and who watches. */
export interface RunTerms {
  /** `agency~agent` */
  agent: string;
  timeoutMs: number;
  /** How long it waits for a sandbox, where that is not the host's limit. */
  waitMs?: number;
  /** Ends the run at once. */
  signal: AbortSignal;
  /** Calls a capability of the run's agent. Input and answer are JSON. */
  call(capability: string, input: string, inside: Inside): Promise<string>;
  /** What the code wrote to its console meanwhile. */
  onConsole(text: string): void;
  /** How many runs go first, while it waits for a sandbox. */
  onPlace(before: number): void;
  /** It has a sandbox, and begins. */
  onBegin?(): void;
}

/** What can be done in the sandbox that a run is in, while it is there: another one might never become free. */
export interface Inside {
  shell(order: ShellOrder, timeoutMs: number): Promise<ShellAnswer>;
  search(order: SearchFiles): Promise<SearchAnswer>;
}

/** Whose command it is, and who waits. */
export type ShellTerms = Omit<RunTerms, "call" | "onConsole">;

/** The door to sandboxes: the one way in which code that nobody vouches for is run. */
export interface Sandbox {
  readonly limits: SandboxLimits;
  /** A run that does not end well throws a `ToolFailure`. */
  run(job: Job, terms: RunTerms): Promise<CodeResult>;
  /** An app of the agent answers a request. */
  serve(app: App, request: Request, terms: RunTerms): Promise<Response>;
  /** A command on a view of the agent's workspace. What it changes is told, and nothing else is done with it. */
  shell(order: ShellOrder, terms: ShellTerms): Promise<ShellAnswer>;
  /** Looks for a pattern where one that never ends does no harm. */
  search(order: SearchFiles, terms: ShellTerms): Promise<SearchAnswer>;
}
