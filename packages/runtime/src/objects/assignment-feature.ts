import type { AgentState, Failure, FailureCode, PersonWait, SubagentFrame, SubagentUsage } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import type { RecordedEvent } from "../store/log.ts";
import { getTaskUsage } from "../store/turn-usage.ts";
import { isOver, type TurnRow } from "../store/turns.ts";
import { noReservation } from "../store/usage-totals.ts";
import type { TurnQueue } from "../turn/admission/turn-queue.ts";
import type { SpendingStatement } from "../turn/budget/child-leases.ts";
import { measureElapsed } from "../turn/budget/turn-budget.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import type { AgentFeature } from "./feature.ts";
import type { Registration } from "./registration.ts";
import { AssignmentClock } from "./subagents/assignment-clock.ts";
import {
  type Assignment,
  type AssignmentReport,
  type AssignmentRequest,
  type AssignmentStatus,
  formatAssignmentKey,
  type RelayedAction,
} from "./subagents/assignment.ts";
import type { Reporter } from "./subagents/find-reporter.ts";
import { formatReports } from "./subagents/format-report.ts";
import type { LeaseClient, LeasingParent } from "./subagents/lease-client.ts";
import { WaitReport } from "./subagents/wait-report.ts";

/** What a sub-agent calls on its parent. */
export interface ParentStub extends LeasingParent {
  receiveReport(report: AssignmentReport): Promise<void>;
  receiveActions(sender: Reporter, actions: RelayedAction[]): Promise<{ number: number; isOver: boolean }>;
  receiveWait(sender: Reporter, waitingFor: PersonWait | undefined): Promise<{ isOver: boolean }>;
  relayFrames(sender: Reporter, frames: SubagentFrame[]): Promise<{ hasListeners: boolean }>;
}

interface AssignmentOptions {
  name: string;
  store: AgentStore;
  recorder: Recorder;
  registration: Registration;
  /** Longer gaps between two heartbeats mean that the host was down. */
  maxGapMs: number;
  queue(): TurnQueue;
  openParent(): Promise<ParentStub>;
  /** Called before the report is sent. */
  endStream(): Promise<void>;
  lease: LeaseClient | undefined;
  /** Returns what the sub-agents that a turn delegated to wait for, if none goes on before a person answers. */
  findChildrenWait(runId: string): PersonWait | undefined;
  /** Cancels the sub-agents that a turn delegated to and that still work. */
  cancelSubagents(runId: string): void;
  onBusy(): void;
  waitUntil(work: Promise<unknown>): void;
}

const noUsage: SubagentUsage = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };
const relayDelayMs = 250;
const actionsPerCall = 200;
/** A turn that ended like this was cut off, and was not at fault. */
const interruptions: ReadonlySet<FailureCode> = new Set(["crashed", "no_progress"]);

/** The work that a sub-agent was created for, until its parent has the report. An agent of an agency has none. */
export class AssignmentFeature implements AgentFeature {
  readonly #options: AssignmentOptions;
  #isReported: boolean | undefined;
  #reporting: Promise<void> | undefined;
  #relayTimer: ReturnType<typeof setTimeout> | undefined;
  #deadlineTimer: ReturnType<typeof setTimeout> | undefined;
  /** The last action that the parent has; unknown after a wake. */
  #relayedNumber = 0;
  readonly #clock: AssignmentClock;
  readonly #waitReport: WaitReport;

  constructor(options: AssignmentOptions) {
    this.#options = options;
    this.#clock = new AssignmentClock(options.store, options.maxGapMs);
    this.#waitReport = new WaitReport({
      getWait: () => this.#findWait(),
      send: (waitingFor) => this.#sendWait(waitingFor),
      waitUntil: options.waitUntil,
    });
  }

  /** Whether there is nothing to report, or the parent has the report. The heartbeat goes on until then. */
  get isReported(): boolean {
    // Without its turn, the conversation was cleared.
    this.#isReported ??= !this.findTurn() || this.#options.store.facts.getReportedTurn() !== undefined;
    return this.#isReported;
  }

  find(): Assignment | undefined {
    return this.#options.store.log.last === 0 ? undefined : this.#options.registration.get().assignment;
  }

  /** Returns the turn that works on the assignment, unless the conversation was cleared. */
  findTurn(): TurnRow | undefined {
    const assignment = this.find();
    const { turns } = this.#options.store;
    const admission = assignment && turns.findAdmission(formatAssignmentKey(assignment));
    return admission && turns.get(admission.turn);
  }

  /** Returns what the agent works on, until its parent has the report. */
  findUnreported(): Assignment | undefined {
    return this.isReported ? undefined : this.find();
  }

  /** Registers the agent and begins its work, once. */
  start({ agent, props, assignment }: AssignmentRequest): AssignmentStatus {
    const { store, recorder, registration, name, queue, onBusy } = this.#options;
    if (store.log.last === 0) {
      registration.put(agent, props, assignment);
      recorder.record({ type: "thread.created", data: { threadId: name } });
      this.#waitReport.noteCreated();
    }
    const own = this.find();
    if (own && store.facts.getReportedTurn() === undefined) {
      const message = { id: `${own.token}-message`, role: "user" as const, content: own.message };
      queue().admit({ key: formatAssignmentKey(own), messages: [message], mode: "queue", from: own.from });
      this.#isReported = undefined;
      onBusy();
      this.tick(Date.now());
    }
    return this.describe();
  }

  describe(): AssignmentStatus {
    const turn = this.findTurn();
    if (!turn) return { status: "over", step: 0 };
    const { id: runId, step } = turn;
    if (isOver(turn) && !this.#waitsForOthers(turn)) return { status: "over", runId, step };
    const waitingFor = this.#findWait();
    const status = turn.status === "running" ? "running" : "waiting";
    return { status, runId, step, ...(waitingFor ? { waitingFor } : {}) };
  }

  /** Called by the parent, which no longer waits for a report. */
  cancel(token: string): void {
    const assignment = this.find();
    const turn = this.findTurn();
    if (assignment?.token !== token || !turn) return;
    if (!isOver(turn)) this.#options.queue().cancel(turn.id, "The sub-agent was cancelled.");
    else this.#options.cancelSubagents(turn.id);
    // Nobody expects the report any more.
    this.#noteReported(turn.id);
  }

  /** Called by the heartbeat: ends the work if its time is up, and sends what the parent does not have. */
  tick(now: number): void {
    if (this.isReported) return;
    const assignment = this.find();
    const turn = this.findTurn();
    if (!assignment || !turn) return;
    clearTimeout(this.#deadlineTimer);
    if (isOver(turn) && !this.#waitsForOthers(turn)) return this.#startReport();
    this.#waitReport.update();
    if (this.#findWait()) return this.#clock.stop(turn.id, now);
    const remaining = assignment.timeoutMs - this.#clock.measure(turn.id, now);
    if (remaining <= 0) this.#expire(assignment, turn);
    else this.#deadlineTimer = setTimeout(() => this.tick(Date.now()), remaining);
  }

  /**
   * Whether the work waits for a person, and the parent knows: there is nothing to do until somebody calls the agent,
   * for however long that takes. Its time does not run meanwhile.
   */
  get isSuspended(): boolean {
    return !this.isReported && this.#findWait() !== undefined && this.#waitReport.isKnown;
  }

  /** Called when a turn begins or goes on. */
  onTurnResumed(): void {
    this.tick(Date.now());
  }

  wake(): void {
    this.tick(Date.now());
  }

  halt(): void {
    clearTimeout(this.#relayTimer);
    clearTimeout(this.#deadlineTimer);
    this.#waitReport.halt();
    this.#isReported = true;
  }

  onTurnEnd(runId: string): void {
    if (this.findTurn()?.id === runId) this.tick(Date.now());
  }

  /** Sends actions to the parent a little later. */
  noteEvents(events: readonly RecordedEvent[]): void {
    const hasAction = events.some(
      ({ event: { type } }) =>
        type === "tool.output" || type === "tool.error" || type === "capability.answered" || type === "subagent.action",
    );
    if (!hasAction || this.#relayTimer !== undefined) return;
    this.#relayTimer = setTimeout(() => {
      this.#relayTimer = undefined;
      this.#options.waitUntil(this.#relay().catch((error: unknown) => console.error("actions were not sent", error)));
    }, relayDelayMs);
  }

  state(): Partial<AgentState> {
    const assignment = this.find();
    return assignment ? { parent: { threadId: assignment.parent, token: assignment.token } } : {};
  }

  /** Returns what the work waits for, if it or everyone who works for it waits for a person. */
  #findWait(): PersonWait | undefined {
    const turn = this.findTurn();
    if (!turn) return undefined;
    const { status, pausedFor } = turn;
    if (status === "paused" && pausedFor === "hitl") return "approval";
    if (status === "paused" && pausedFor === "input") return "question";
    const needsOthers = isOver(turn) ? this.#waitsForOthers(turn) : status === "paused" && pausedFor === "subagent";
    return needsOthers ? this.#options.findChildrenWait(turn.id) : undefined;
  }

  async #sendWait(waitingFor: PersonWait | undefined): Promise<void> {
    const assignment = this.findUnreported();
    if (!assignment) return;
    const { taskId, token } = assignment;
    const parent = await this.#options.openParent();
    if ((await parent.receiveWait({ taskId, token }, waitingFor)).isOver) this.cancel(token);
  }

  /**
   * Whether sub-agents of its own still work in the background after its turn is over. Nobody would get what they
   * report, or merge what they changed, if it reported before them.
   */
  #waitsForOthers(turn: TurnRow): boolean {
    return !this.isReported && this.#options.store.subagents.listActive(turn.id).length > 0;
  }

  #expire({ timeoutMs }: Assignment, turn: TurnRow): void {
    if (isOver(turn)) return this.#options.cancelSubagents(turn.id);
    const message = `The sub-agent did not finish within ${Math.round(timeoutMs / 100) / 10} s.`;
    this.#options.queue().fail(turn.id, { code: "timeout", message });
  }

  #startReport(): void {
    this.#reporting ??= this.#report()
      .catch((error: unknown) => console.error("the report did not reach the parent; it is sent again", error))
      .finally(() => (this.#reporting = undefined));
    this.#options.waitUntil(this.#reporting);
  }

  async #report(): Promise<void> {
    const assignment = this.find();
    const turn = this.findTurn();
    if (!assignment || !turn) return;
    const parent = await this.#options.openParent();
    await this.#relay();
    await this.#options.endStream();
    // It may have been cancelled; then it says what it spent when everyone below has stopped.
    if (this.isReported) return;
    const { lease } = this.#options;
    const statement = lease?.createStatement() ?? { days: [], reserved: noReservation };
    await parent.receiveReport(this.#createReport(assignment, turn, statement));
    lease?.noteTold(statement);
    this.#noteReported(turn.id);
  }

  async #relay(): Promise<void> {
    const assignment = this.find();
    if (!assignment) return;
    const { taskId, token } = assignment;
    for (;;) {
      const actions = this.#options.store.actions.readAfter(this.#relayedNumber, actionsPerCall);
      if (actions.length === 0) return;
      const parent = await this.#options.openParent();
      const turn = this.findTurn();
      const usage = turn && !assignment.isLeased ? getTaskUsage(this.#options.store, turn.id) : undefined;
      const relayed = actions.map((action, index) => ({
        ...action,
        step: turn?.step ?? 0,
        ...(usage && index === actions.length - 1 ? { usage } : {}),
      }));
      const { number, isOver } = await parent.receiveActions({ taskId, token }, relayed);
      this.#relayedNumber = number;
      if (isOver) return this.cancel(token);
    }
  }

  #createReport({ taskId, token }: Assignment, turn: TurnRow, statement: SpendingStatement): AssignmentReport {
    const { store } = this.#options;
    const { usage = noUsage, days, reserved } = statement;
    return {
      taskId,
      token,
      ...toEnd(turn, this.#addReports(turn, turn.result ?? store.messages.getLastText(turn.id))),
      usage,
      days,
      reserved,
      steps: turn.step,
      ms: measureElapsed(store, turn.id),
    };
  }

  /** Adds the reports of its own sub-agents that its model did not get. */
  #addReports({ id }: TurnRow, text: string): string {
    const rows = this.#options.store.subagents.listUndelivered().filter(({ runId }) => runId === id);
    return rows.length === 0 ? text : [text, formatReports(rows)].filter(Boolean).join("\n\n");
  }

  #noteReported(runId: string): void {
    if (this.isReported) return;
    this.#options.recorder.record({ type: "assignment.reported", data: { runId } });
    this.#isReported = true;
  }
}

function toEnd(turn: TurnRow, result: string): Pick<AssignmentReport, "status" | "result" | "error"> {
  if (turn.status === "completed") return { status: "complete", result };
  if (turn.status === "canceled") return { status: "cancelled" };
  const failure: Failure = turn.failure ?? { code: "internal", message: "unknown" };
  return { status: interruptions.has(failure.code) ? "interrupted" : "failed", error: failure.message };
}
