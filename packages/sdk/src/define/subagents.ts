import type { Subagent, WorkspaceMode } from "../protocol/subagent.ts";

/** Work for a sub-agent. */
export interface Delegation {
  /** The task to work on. Without it, a task is created. */
  taskId?: string | undefined;
  /** Defaults to the task's, or to the first line of the description. */
  title?: string | undefined;
  /** All that the sub-agent gets to know, next to `context`. Defaults to the task's. */
  description?: string | undefined;
  context?: string | undefined;
  /** Its blueprint. Defaults to the one named like the task's type, or else to that of the delegating agent. */
  agentType?: string | undefined;
  /** Whether the call defers its result, which is then the report. Otherwise the sub-agent works in the background. */
  wait: boolean;
  timeoutMs?: number | undefined;
  workspace?: WorkspaceMode | undefined;
  check?: string | undefined;
  streaming?: boolean | undefined;
}

/** The sub-agents of the agent that called the tool. */
export interface Subagents {
  /**
   * Delegates a task. Everything is stored before the sub-agent starts, so that its report arrives exactly once, even
   * if the host crashes. The same call or task again is the same sub-agent. Throws if the task cannot be delegated.
   */
  delegate(delegation: Delegation): Promise<Subagent>;
  /**
   * Returns a sub-agent by its task, with what it is doing. If it has reported, the model has got its report as soon as
   * the call has a result.
   */
  get(taskId: string): Promise<Subagent>;
  /** Returns the sub-agents that work or wait to start. */
  listActive(): Subagent[];
  /**
   * Returns the finished sub-agents whose reports the model has not got yet. It has got them as soon as the call has a
   * result; if the call fails, they come with the next step.
   */
  takeReports(): Subagent[];
}
