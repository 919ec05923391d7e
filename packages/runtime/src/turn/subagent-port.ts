import type { ChildReport, NewEvent, Subagents } from "@thinkery/sdk";

/** What a turn needs of its agent's sub-agents. Cheap for an agent that has none. */
export interface SubagentPort {
  /** What a tool call can do with them. `record` belongs to the turn: it ignores everything once the turn is over. */
  open(call: {
    runId: string;
    callId: string;
    record(...events: NewEvent[]): void;
    /** Adds events that are recorded together with the result of the call. */
    addToResult(create: () => NewEvent[]): void;
    /** Called when a sub-agent starts to work in the background. */
    onBackground(): void;
  }): Subagents;
  /** Whether one works, or has a report that the model has not got yet. */
  readonly hasOpen: boolean;
  /** Whether a call of the turn waits for one. */
  isWaiting(runId: string): boolean;
  /** Returns the reports that the model has not got yet, as an event to be recorded with the step. */
  takeReports(runId: string, step: number): { event: NewEvent; reports: ChildReport[] } | undefined;
}
