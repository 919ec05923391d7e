import type { AgentCode } from "../../sandbox/agent-run.ts";
import type { AgentSandbox } from "../../sandbox/agent-sandbox.ts";
import type { CodeStore } from "../../store/code/code-store.ts";
import type { CodeVersion } from "./code-version.ts";

/** The code of one agent, and what it keeps. */
export interface UserCode {
  /** The agent's address. */
  readonly agent: string;
  /** Tables exist once it was opened. */
  readonly store: CodeStore;
  readonly sandbox: AgentSandbox;
  /** Identifies the agent among all that ever had its address. */
  readonly isolateName: string;
  /** All agents of an owner may share a process. */
  readonly owner: string;
  /** Returns the current version, or a stored one. Throws if the agent has no code, or the version is gone. */
  resolve(version?: number): Promise<CodeVersion>;
  readCode(version: CodeVersion): Promise<AgentCode>;
  /** Runs the hooks that a new version needs before its first message. */
  initialize(version: CodeVersion, signal: AbortSignal): Promise<void>;
  redact(text: string): string;
}
