/** Code that nobody vouches for, to be run once and apart from everything. */
export interface Code {
  /** The body of an async function, in JavaScript or TypeScript. What it returns is the result. */
  code: string;
  /** Modules that it may import, by name. */
  modules?: Record<string, string>;
  /** What it finds as `input`: plain data. */
  input?: unknown;
  /** Longer than this and it is ended, whatever it does. */
  timeoutMs?: number;
}

/** What came of a run that ended by itself. */
export interface CodeResult {
  /** What it returned, as text: JSON where that says it all. Nothing where it returned nothing. */
  value?: string;
  /** What it wrote to its console. */
  console: string;
  ms: number;
}

/**
 * Runs code in a sandbox for the agent whose tool asks. The code can reach what the agent can, through the same gate,
 * and nothing else. A run that does not end well throws a `ToolFailure` that says why.
 */
export interface CodeRunner {
  run(code: Code): Promise<CodeResult>;
}
