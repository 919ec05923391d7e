import {
  type AgentAddress,
  type AgentState,
  type ChildReport,
  type Delegation,
  fail,
  type ForkMerge,
  type NewEvent,
  type PersonWait,
  type Subagent,
  type SubagentFrame,
  type Subagents,
  type ToolCallResolution,
} from "@thinkery/sdk";
import type { SubagentLimits } from "@thinkery/sdk/internal";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import { isActive, type SubagentRow, toSubagent, toSubagentState } from "../store/subagent-row.ts";
import type { UsageReport } from "../store/usage-totals.ts";
import type { TurnQueue } from "../turn/admission/turn-queue.ts";
import type { SpendingStatement } from "../turn/budget/child-leases.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import type { SubagentPort } from "../turn/subagent-port.ts";
import type { WorkspacePort } from "../workspace/workspace-port.ts";
import type { AgentResolver } from "./agent-resolver.ts";
import type { CheckedMerges } from "./checked-merges.ts";
import type { AgentFeature } from "./feature.ts";
import type { Registration } from "./registration.ts";
import type { ChildClient } from "./subagents/child-client.ts";
import { ChildRemover } from "./subagents/child-remover.ts";
import { ChildReports } from "./subagents/child-reports.ts";
import { ChildStarter } from "./subagents/child-starter.ts";
import type { DelegatedTasks } from "./subagents/delegated-tasks.ts";
import { Delegations, type DelegationSource } from "./subagents/delegations.ts";
import { findPersonWait } from "./subagents/find-person-wait.ts";
import { ForkQueue } from "./subagents/fork-queue.ts";
import { Forks } from "./subagents/forks.ts";
import { formatReports, toChildReport } from "./subagents/format-report.ts";
import type { LeaseClient } from "./subagents/lease-client.ts";
import { Leases } from "./subagents/leases.ts";
import { openSubagents } from "./subagents/open-subagents.ts";
import { RepeatableWork } from "./subagents/repeatable-work.ts";
import { createCancelEvents, createDelivered, createOwnEnd, type End } from "./subagents/report-events.ts";
import { WaitingCalls } from "./subagents/waiting-calls.ts";

export interface SubagentsOptions {
  address: AgentAddress;
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  registration: Registration;
  limits: SubagentLimits;
  resolver: AgentResolver;
  children: ChildClient;
  tasks: DelegatedTasks;
  /** The leases of the agent itself, if it is a sub-agent. */
  lease: LeaseClient | undefined;
  workspace: WorkspacePort;
  merges: CheckedMerges;
  queue(): TurnQueue;
  resolveToolCall(report: ToolCallResolution, createMore?: () => NewEvent[]): Promise<unknown>;
  /** Resolves when everything recorded so far is on disk. */
  sync(): Promise<void>;
  /** Makes sure that the heartbeat runs. */
  onBusy(): void;
  /** Called when a sub-agent has finished, begins to wait for a person, or goes on. */
  onChange(): void;
  /** Schedules the next check, even if memory is lost in the meantime. */
  updateTimer(): Promise<void>;
  /** Keeps the object alive until the work is done. */
  waitUntil(work: Promise<unknown>): void;
  /** Passes frames of a sub-agent to all listeners. Returns whether there are any. */
  relay(frames: readonly SubagentFrame[]): boolean;
  /** Tells the agency what deleted sub-agents have spent, and deletes their folders. */
  closeAccounts(reports: UsageReport[]): Promise<void>;
}

/**
 * The sub-agents of an agent. What it knows about them is a projection of its own log; what they do is in theirs.
 * Everything that follows from a change is done by `reconcile`, which may run at any time and twice.
 */
export class SubagentsFeature implements AgentFeature, SubagentPort {
  readonly leases: Leases;
  /** What sub-agents call. */
  readonly reports: ChildReports;
  readonly #options: SubagentsOptions;
  readonly #delegations: Delegations;
  readonly #starter: ChildStarter;
  readonly #waitingCalls: WaitingCalls;
  readonly #remover: ChildRemover;
  readonly #forks: Forks;
  readonly #forkQueue: ForkQueue;
  readonly #reconciling = new RepeatableWork(() => this.#reconcileOnce());
  #nextCheckAt: number | undefined;

  constructor(options: SubagentsOptions) {
    const { store, merges, registration } = options;
    const forks = new Forks({ ...options, getOwnBranch: () => registration.get().assignment?.branch });
    this.#options = options;
    this.#forks = forks;
    this.#forkQueue = new ForkQueue({
      ...options,
      forks,
      subagents: store.subagents,
      onMerged: (row, merge) => this.#finishFork(row, merge),
    });
    this.#delegations = new Delegations({ ...options, authorizeCheck: (command) => merges.authorize(command) });
    this.#remover = new ChildRemover({ ...options, forks });
    this.leases = new Leases(options);
    this.reports = new ChildReports({
      ...options,
      leases: this.leases,
      onEnd: (row, end) => this.#finish(row, end),
      onStopped: (row, report) => this.#close(row, report),
      onReported: async () => {
        // The sub-agent does not report again, so from here on it is ours to go on after a crash.
        options.onBusy();
        await options.sync();
        this.update();
      },
      onWaitChange: async () => {
        options.onChange();
        await options.updateTimer();
      },
    });
    this.#waitingCalls = new WaitingCalls(options);
    this.#starter = new ChildStarter({
      ...options,
      forks,
      onFailed: (row, status, error) => this.#finish(row, createOwnEnd(row, status, error)),
    });
  }

  /** Whether there is something to do that must not wait for the next check. */
  get isBusy(): boolean {
    const { subagents } = this.#options.store;
    if (this.#starter.isBusy || this.#reconciling.isRunning) return true;
    return subagents.listUnclosed().length > 0 || subagents.listMerging().length > 0;
  }

  get hasOpen(): boolean {
    return this.hasActive || this.#options.store.subagents.listUndelivered().length > 0;
  }

  get hasActive(): boolean {
    return this.#options.store.subagents.countActive() > 0;
  }

  open({ onBackground, ...source }: Parameters<SubagentPort["open"]>[0]): Subagents {
    return openSubagents(this.#options, source, {
      delegate: (delegation, from) => this.delegate(delegation, from),
      get: (taskId) => this.get(taskId),
      onBackground,
    });
  }

  async delegate(delegation: Delegation, source: DelegationSource): Promise<Subagent> {
    const { row, isNew } = await this.#delegations.add(delegation, source);
    if (!isNew) return toSubagent(row);
    this.#options.onBusy();
    await this.#options.updateTimer();
    this.update();
    return toSubagent(row);
  }

  /** Returns all sub-agents, newest first. */
  list(): Subagent[] {
    return this.#options.store.subagents.list().map(toSubagent);
  }

  /** Returns a sub-agent, with what it is doing if it works. */
  async get(taskId: string): Promise<Subagent> {
    const row = this.#require(taskId);
    const subagent = toSubagent(row);
    if (row.state !== "running") return subagent;
    const status = await this.#options.children.describe(row.facetName).catch(() => undefined);
    if (!status || status.status === "over") return subagent;
    const { waitingFor: _, ...known } = subagent;
    const { runId: __, ...current } = status;
    return { ...known, ...current, status: status.status };
  }

  /** Cancels a sub-agent, whatever is left of its work. Returns whether there was anything. */
  async cancel(taskId: string): Promise<boolean> {
    const row = this.#require(taskId);
    if (!isActive(row)) return false;
    await this.#finish(row, createOwnEnd(row, "cancelled"));
    if (this.#require(taskId).state !== "cancelled") return false;
    // Reconciling does the same until it succeeds; the caller should find it stopped.
    const statement = await this.#options.children.cancel(row.facetName, row.token).catch(() => undefined);
    if (statement) this.leases.note(taskId, statement);
    return true;
  }

  /** Starts a sub-agent that was just delegated to, so that whoever learned its name can connect at once. */
  async ensureStarted(facetName: string): Promise<void> {
    if (this.#options.store.subagents.findByFacet(facetName)?.state === "queued") await this.reconcile();
  }

  /** Waits until those that were cancelled have stopped, so that what they spent is known. */
  async stopCancelled(): Promise<void> {
    await Promise.allSettled(this.#options.store.subagents.listUnclosed().map((row) => this.#stop(row)));
  }

  createEndEvents(runId: string): NewEvent[] {
    const rows = this.#options.store.subagents.listActive(runId);
    return rows.length === 0 ? [] : [...createCancelEvents(rows, this.#options.tasks), createDelivered(rows, runId)];
  }

  /** Cancels those that work; only those of one turn if it is given. The model is told with its next step. */
  cancelActive(runId?: string): void {
    const { store, recorder, tasks, onChange } = this.#options;
    const rows = store.subagents.listActive(runId);
    if (rows.length === 0) return;
    recorder.record(...createCancelEvents(rows, tasks));
    this.update();
    onChange();
  }

  onTurnEnd(): void {
    if (this.#options.store.subagents.listUnclosed().length > 0) this.update();
  }

  /** Reconciles in the background. Called when the agent is stopped, or a turn waits: the last report may have come. */
  update(): void {
    if (this.#reconciling.isHalted) return;
    this.#options.waitUntil(
      this.reconcile().catch((error: unknown) => console.error("sub-agents could not be brought up to date", error)),
    );
  }

  isWaiting(runId: string): boolean {
    return this.#waitingCalls.has(runId);
  }

  takeReports(runId: string, step: number): { event: NewEvent; reports: ChildReport[] } | undefined {
    const rows = this.#options.store.subagents.listUndelivered();
    if (rows.length === 0) return undefined;
    const taskIds = rows.map(({ taskId }) => taskId);
    const data = { runId, step, taskIds, messageId: crypto.randomUUID(), content: formatReports(rows) };
    return { event: { type: "subagent.delivered", data }, reports: rows.map(toChildReport) };
  }

  /** Cancels a sub-agent that works, and deletes it. Its report stays. Idempotent. */
  async remove(taskId: string): Promise<void> {
    await this.cancel(taskId);
    await this.#forkQueue.cancel(taskId);
    await this.#remover.remove(this.#require(taskId));
  }

  /** Removes all, before the conversation is cleared. */
  async removeAll(): Promise<void> {
    if (this.hasActive) throw fail("conflict", "Sub-agents are working. Cancel them, or wait until they are done.");
    await this.#remover.removeAll();
  }

  /** Stops all for good, because the agent is about to be erased. Returns what each has spent. */
  retire(): Promise<UsageReport[]> {
    return this.#remover.retireAll();
  }

  wake(): void {
    const hasUnclosed = this.#options.store.subagents.listUnclosed().length > 0;
    if (this.hasActive || hasUnclosed || this.#hasUnresolved) this.update();
  }

  halt(): void {
    this.#reconciling.halt();
    this.#forkQueue.halt();
  }

  state(): Partial<AgentState> {
    const rows = this.#options.store.subagents.list(200);
    return rows.length === 0 ? {} : { subagents: rows.map(toSubagentState) };
  }

  export() {
    const subagents = this.list();
    return subagents.length > 0 ? { subagents } : {};
  }

  /**
   * Returns when those that work are asked again whether they still do, and reports are given again to calls that could
   * not take them. Nobody asks while all wait for a person.
   */
  nextDueAt(): number | undefined {
    const isResting = this.hasActive ? this.findPersonWait() !== undefined : !this.#hasUnresolved;
    if (isResting && this.#options.store.subagents.listUnclosed().length === 0) this.#nextCheckAt = undefined;
    else this.#nextCheckAt ??= Date.now() + this.#options.limits.initialCheckSeconds * 1000;
    return this.#nextCheckAt;
  }

  async runDue(now: number): Promise<void> {
    this.#nextCheckAt = now + this.#options.limits.checkIntervalSeconds * 1000;
    this.#starter.forget();
    await this.reconcile();
  }

  /** Returns what the sub-agents wait for, if none goes on before a person answers; only those of one turn if given. */
  findPersonWait(runId?: string): PersonWait | undefined {
    const { store, limits } = this.#options;
    return this.hasActive ? findPersonWait(store.subagents, limits.maxActive, runId) : undefined;
  }

  /** Whether a call still waits although all have reported: its result could not be stored, or a crash came first. */
  get #hasUnresolved(): boolean {
    const { subagents, turns } = this.#options.store;
    const turn = this.hasActive || subagents.isEmpty ? undefined : turns.getPaused();
    return turn !== undefined && this.#waitingCalls.has(turn.id);
  }

  /** Does whatever follows from the current state. */
  reconcile(): Promise<void> {
    return this.#reconciling.run();
  }

  async #reconcileOnce(): Promise<void> {
    const { store, limits, updateTimer } = this.#options;
    // Nobody works for an agent that was stopped.
    if (store.facts.getStoppedBy() !== undefined) this.cancelActive();
    await updateTimer().catch((error: unknown) => console.error("a check could not be scheduled", error));
    await this.#waitingCalls.resolveAll();
    if (this.hasActive) {
      await this.#starter.startAll();
      this.#forkQueue.startAll();
    }
    await Promise.all(store.subagents.listUnclosed().map((row) => this.#stop(row)));
    await this.#remover.removeExcess(limits.maxRetained);
  }

  async #finishFork({ taskId }: SubagentRow, merge: ForkMerge | undefined): Promise<void> {
    const row = this.#options.store.subagents.get(taskId);
    if (row?.reported) await this.#finish(row, { ...row.reported, ...(merge ? { merge } : {}), unconfirmed: true });
  }

  async #finish({ taskId, childThreadId }: SubagentRow, end: End): Promise<void> {
    const { store, recorder, tasks, onChange } = this.#options;
    const current = store.subagents.get(taskId);
    if (!current || !isActive(current)) return;
    recorder.record({ type: "subagent.completed", data: { childThreadId, taskId, ...end } }, ...tasks.end(taskId, end));
    const finished = this.#require(taskId);
    try {
      if (finished.wait) await this.#waitingCalls.resolve(finished);
    } finally {
      this.update();
      onChange();
    }
  }

  async #stop(row: SubagentRow): Promise<void> {
    const { children } = this.#options;
    const statement = row.state === "complete" ? undefined : await children.cancel(row.facetName, row.token);
    // The end of a merge may be what is reconciled.
    if (row.state === "cancelled") await this.#forkQueue.cancel(row.taskId);
    this.#close(row, statement, await this.#forks.settle(row));
  }

  #close({ childThreadId, taskId }: SubagentRow, statement?: SpendingStatement, merge?: ForkMerge): void {
    // Those below it may have stopped since.
    if (this.#options.store.subagents.get(taskId)?.isClosed) return statement && this.leases.note(taskId, statement);
    const { usage, days, reserved } = statement ?? {};
    const spent = { ...(usage ? { usage } : {}), ...(days ? { days } : {}), ...(reserved ? { reserved } : {}) };
    const data = { childThreadId, taskId, ...spent, ...(merge ? { merge } : {}) };
    this.#options.recorder.record({ type: "subagent.closed", data });
  }

  #require(taskId: string): SubagentRow {
    const row = this.#options.store.subagents.get(taskId);
    if (!row) throw fail("not_found", `No sub-agent works on a task “${taskId}”.`);
    return row;
  }
}
