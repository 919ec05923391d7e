import type { TestHost } from "@thinkery/sdk/test";

/** An agent that is expensive to work with, and its script. */
export interface LargeAgent {
  name: string;
  model?: string;
  create(host: TestHost): Promise<void>;
}

export interface ExpensiveRequest {
  kind: string;
  /** Reads one page of bounded size, which is not done in slices. */
  isPage?: boolean;
  what: string;
  /** The scope that it needs; chat by default. */
  scope?: "admin";
  /** The allowed statuses: the work is done within its limits, or refused. */
  statuses: readonly number[];
  agent: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the agent, or from the root. A function if it depends on what the agent has. */
  path: string | (() => string);
  body?: unknown;
}
