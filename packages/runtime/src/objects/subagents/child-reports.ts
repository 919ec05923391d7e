import type { PersonWait, SubagentFrame } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import { isActive, type ReportedEnd, type SubagentRow } from "../../store/subagent-row.ts";
import type { Recorder } from "../../turn/loop/recorder.ts";
import type { AssignmentReport, RelayedAction } from "./assignment.ts";
import { findReporter, type Reporter } from "./find-reporter.ts";
import type { Leases } from "./leases.ts";
import { createReportedEnd, toActionEvents } from "./report-events.ts";

interface ChildReportsOptions {
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  leases: Leases;
  /** Passes frames of a sub-agent to all listeners. Returns whether there are any. */
  relay(frames: readonly SubagentFrame[]): boolean;
  /** Ends the work of a sub-agent. */
  onEnd(row: SubagentRow, end: ReportedEnd): Promise<void>;
  /** Called when a sub-agent has reported whose fork is to be merged. */
  onReported(): Promise<void>;
  /** Called when one that was cancelled has stopped. */
  onStopped(row: SubagentRow, report: AssignmentReport): void;
  /** Called when a sub-agent begins to wait for a person, or goes on. */
  onWaitChange(): Promise<void>;
}

/** What the sub-agents of an agent tell it. Any of it may come twice. */
export class ChildReports {
  readonly #options: ChildReportsOptions;

  constructor(options: ChildReportsOptions) {
    this.#options = options;
  }

  /** Called by a sub-agent until it succeeds. Reports of the same sub-agent after the first change nothing. */
  async receiveReport(report: AssignmentReport): Promise<void> {
    const { store, blobs, leases, onStopped } = this.#options;
    const row = findReporter(store, report);
    if (!row) return;
    if (isActive(row)) return this.#takeReport(row.taskId, await createReportedEnd(report, blobs));
    if (row.fork === undefined) onStopped(row, report);
    // Reconciling settles a branch before it records that.
    else leases.note(row.taskId, report);
  }

  /** Called by a sub-agent while it works. Returns the last action known, and whether it should stop. */
  async receiveActions(sender: Reporter, actions: RelayedAction[]): Promise<{ number: number; isOver: boolean }> {
    const { store, recorder } = this.#options;
    const row = findReporter(store, sender);
    if (!row) return { number: actions.at(-1)?.number ?? 0, isOver: true };
    const events = toActionEvents(row, actions);
    if (events.length > 0) recorder.record(...events);
    return { number: Math.max(row.actionNumber, actions.at(-1)?.number ?? 0), isOver: !isActive(row) };
  }

  /** Called by a sub-agent, until it succeeds, when it begins to wait for a person or goes on. */
  async receiveWait(sender: Reporter, waitingFor: PersonWait | undefined): Promise<{ isOver: boolean }> {
    const { store, recorder, onWaitChange } = this.#options;
    const row = findReporter(store, sender);
    if (!row || !isActive(row)) return { isOver: true };
    if (row.state === "running" && row.waitingFor !== waitingFor) {
      const { childThreadId, taskId } = row;
      const data = { childThreadId, taskId, ...(waitingFor === undefined ? {} : { waitingFor }) };
      recorder.record({ type: "subagent.waiting", data });
    }
    // Also if the same was said before: the memory may have been lost right after it was recorded.
    await onWaitChange();
    return { isOver: false };
  }

  /** Called by a sub-agent that streams. Returns whether anyone listens; if not, it sends less. */
  relayFrames(sender: Reporter, frames: SubagentFrame[]): { hasListeners: boolean } {
    const { store, relay } = this.#options;
    const row = findReporter(store, sender);
    return { hasListeners: row !== undefined && isActive(row) && row.streaming && relay(frames) };
  }

  /** Ends the work of a sub-agent, or first has its fork merged. */
  async #takeReport(taskId: string, end: ReportedEnd): Promise<void> {
    const { store, recorder, onEnd, onReported } = this.#options;
    const row = store.subagents.get(taskId);
    if (!row || row.state === "merging") return;
    if (row.fork === undefined) return onEnd(row, end);
    if (!isActive(row)) return;
    recorder.record({ type: "subagent.reported", data: { childThreadId: row.childThreadId, taskId, ...end } });
    await onReported();
  }
}
