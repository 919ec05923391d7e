import type { CodeResult, SandboxLimits } from "@thinkery/sdk";
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
  call(capability: string, input: string): Promise<string>;
  /** What the code wrote to its console meanwhile. */
  onConsole(text: string): void;
  /** How many runs go first, while it waits for a sandbox. */
  onPlace(before: number): void;
  /** It has a sandbox, and begins. */
  onBegin?(): void;
}

/** The door to sandboxes: the one way in which code that nobody vouches for is run. */
export interface Sandbox {
  readonly limits: SandboxLimits;
  /** A run that does not end well throws a `ToolFailure`. */
  run(job: Job, terms: RunTerms): Promise<CodeResult>;
  /** An app of the agent answers a request. */
  serve(app: App, request: Request, terms: RunTerms): Promise<Response>;
}
