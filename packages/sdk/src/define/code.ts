/** Untrusted code to run once, isolated in a sandbox. */
export interface Code {
  /** The body of an async function, in JavaScript or TypeScript. Its return value is the result. */
  code: string;
  /** Modules that the code may import, by name. */
  modules?: Record<string, string>;
  /** Plain data that the code can read as `input`. */
  input?: unknown;
  /** The run is terminated after this time, whatever it is doing. */
  timeoutMs?: number;
}

/** The result of a run that completed. */
export interface CodeResult {
  /** The return value as text: as JSON if JSON can represent it. Undefined if the code returned nothing. */
  value?: string;
  /** Everything the code wrote to its console. */
  console: string;
  ms: number;
}

/**
 * Runs code in a sandbox on behalf of the agent that called the tool. The code can call what the agent can call, under
 * the same policy, and nothing else. A run that fails throws a `ToolError` with the reason.
 */
export interface CodeRunner {
  run(code: Code): Promise<CodeResult>;
}
