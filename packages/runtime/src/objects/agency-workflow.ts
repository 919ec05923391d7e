import {
  type ChannelMessage,
  fail,
  isThinkeryError,
  type NewAgent,
  type TeamAgent,
  type Workflow,
  type WorkflowReason,
  type WorkflowRun,
} from "@thinkery/sdk";
import { needsPerson } from "../agency/team/agent-activity.ts";
import type { DeliveryReport } from "../agency/team/deliveries.ts";
import { getDeadline, getRunLimits, isOverLimit } from "../agency/team/run-limits.ts";
import { isOpenRun, RunRecord } from "../agency/team/run-record.ts";
import type { RunRequest } from "../agency/team/run-request.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import type { AgencyTeam, TeamListener } from "./agency-team.ts";
import type { DocumentsApi } from "./documents-api.ts";
import type { EventStream } from "./stream.ts";
import { RepeatableWork } from "./subagents/repeatable-work.ts";
import { WorkflowApi } from "./workflow-api.ts";
import { RunAgents } from "./workflow/run-agents.ts";
import { RunReporter } from "./workflow/run-reporter.ts";
import { RunSchedules } from "./workflow/run-schedules.ts";
import { RunStarter } from "./workflow/run-starter.ts";
import { RunStreams } from "./workflow/run-streams.ts";

interface WorkflowOptions extends AgencyContext {
  team: AgencyTeam;
  documents: DocumentsApi;
  createAgent(agent: NewAgent): Promise<unknown>;
  settleAgents(): Promise<unknown>;
  /** Tells the user's object what became of the run. */
  reportRun(run: WorkflowRun): Promise<void>;
}

/** A run is looked at this often while nothing happens in it. */
const checkMs = 15_000;
/** Somebody is about to follow the run; without them, it goes on by itself after this long. */
const holdMs = 10_000;
const settleMs = 30;
/** What prevents the start of a run may be over in a moment. */
const startRetryMs = 5000;
const maxStartAttempts = 5;

/**
 * The run of a workflow that this agency is. It is over when all inboxes are empty and all agents idle. Every step of
 * it can be repeated, so a run goes on after a crash wherever it was.
 */
export class AgencyWorkflow implements AgencyFeature, TeamListener {
  readonly api: WorkflowApi;
  readonly #options: WorkflowOptions;
  readonly #record: RunRecord;
  readonly #schedules: RunSchedules;
  readonly #starter: RunStarter;
  readonly #agents: RunAgents;
  readonly #streams = new RunStreams();
  readonly #starting = new RepeatableWork(() => this.#start());
  readonly #checking = new RepeatableWork(() => this.#check());
  readonly #reporter: RunReporter;
  #checkAt: number | undefined;
  /** Whether the next check does not trust what agents last said. */
  #asksAgents = false;
  #heldUntil = 0;
  #startFailures = 0;
  #checkTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: WorkflowOptions) {
    this.#options = options;
    this.#record = new RunRecord(options.storage.sql);
    this.#schedules = new RunSchedules({ ...options, record: this.#record });
    this.#starter = new RunStarter({ ...options, record: this.#record, schedules: this.#schedules });
    this.#agents = new RunAgents({ ...options, record: this.#record });
    this.#reporter = new RunReporter({ ...options, record: this.#record });
    this.api = new WorkflowApi(() => options.open().then(() => this), options.credentialWatch);
  }

  /** The workflow whose run this agency is, with what its agents are for. */
  get definition(): Workflow | undefined {
    return this.#record.find() ? this.#record.definition : undefined;
  }

  /** Settings of the agency that the workflow sets. */
  get limits(): { maxTurnsWithoutProgress?: number } {
    const maxTurns = this.definition?.limits?.max_turns_without_progress;
    return maxTurns === undefined ? {} : { maxTurnsWithoutProgress: maxTurns };
  }

  get name(): string | undefined {
    return this.#record.find()?.workflow;
  }

  /** Whether agents get no messages: a person stopped the run, or it is about to end because of its limits. */
  get isHeld(): boolean {
    const run = this.#record.find();
    return run?.status === "stopped" || (run !== undefined && isOverLimit(run));
  }

  describe(): WorkflowRun {
    return this.#record.describe();
  }

  find(): WorkflowRun | undefined {
    return this.#record.find() && this.#record.describe();
  }

  /** Stores the run and creates its agents. It begins with `kickOff`, or by itself soon after. */
  async prepare({ workflow, tag, message, resident, startedBy, key }: RunRequest): Promise<WorkflowRun> {
    const { record, redactor, updateTimer } = this.#options;
    const heldUntil = Date.now() + holdMs;
    // Before the run is stored: a crash must not leave it without anything to wake the agency.
    await updateTimer(heldUntil);
    const current = this.#record.find();
    if (key !== undefined && this.#record.hasKey(key)) return this.describe();
    if (current && isOpenRun(current)) {
      throw fail("conflict", `A run of “${current.workflow}” is already ${current.status} in ${current.agency}.`, {
        suggestion: `thinkery workflow follow @${current.agency}`,
      });
    }
    const { context, ...rest } = workflow;
    // Documents are stored as they are, as files are.
    const definition = { ...redactor.redactValue(rest), ...(context === undefined ? {} : { context }) };
    const kickoff = message === undefined ? definition.kickoff : redactor.redact(message);
    this.#heldUntil = heldUntil;
    this.#record.begin(
      {
        agency: record.get().id,
        workflow: workflow.name,
        ...(tag === undefined ? {} : { tag }),
        status: "running",
        agents: Object.keys(workflow.agents),
        resident,
        turns: 0,
        usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
        startedBy,
        startedAt: new Date().toISOString(),
      },
      { definition, kickoff: kickoff?.trim() ? kickoff : undefined, key },
    );
    this.#streams.reset();
    this.#options.onAgentsChange();
    this.#publish();
    await Promise.all([this.#starter.createAgents(), this.#reporter.report()]);
    return this.describe();
  }

  /** Begins a prepared run. */
  async kickOff(): Promise<WorkflowRun> {
    this.#heldUntil = 0;
    await this.#starting.run();
    return this.describe();
  }

  /** Cancels the turns of its agents; their messages wait. */
  async stop(by: string): Promise<WorkflowRun> {
    const run = this.#record.get();
    if (!isOpenRun(run)) throw fail("conflict", `The run is ${run.status} already.`);
    if (run.status !== "stopped") {
      this.#setStatus({ status: "stopped" });
      this.#streams.resolveWaiters(this.describe());
    }
    // Also if it is stopped already: a crash may have kept some of them from hearing of it.
    await this.#agents.stop(by);
    return this.describe();
  }

  /** Goes on with a run that was stopped. */
  async resume(by: string): Promise<WorkflowRun> {
    const run = this.#record.get();
    if (!isOpenRun(run))
      throw fail("conflict", `The run is ${run.status} already. Start the workflow again with the same tag.`);
    if (run.status !== "stopped") return this.describe();
    await this.#options.updateTimer(Date.now() + checkMs);
    // Before the status changes: after a crash, a run that is stopped can be resumed again.
    await this.#agents.start(by);
    if (this.#record.get().status !== "stopped") return this.describe();
    this.#setStatus({ status: "running", resumedAt: new Date().toISOString() });
    this.#options.team.resumeAll();
    await this.#starting.run();
    this.#checkSoon();
    return this.describe();
  }

  /** Resolves when the run is over, was stopped, or waits for a person. */
  waitForEnd(): Promise<WorkflowRun> {
    return this.#streams.waitForEnd(this.describe());
  }

  /** Streams messages, what agents do and the end of the run, as events of a job. */
  follow(onEnd: () => void): EventStream {
    return this.#streams.open(this.describe(), onEnd);
  }

  onMessage(message: ChannelMessage): void {
    this.#streams.send({ type: "message", agent: message.from, message });
  }

  onAgent(describe: () => TeamAgent): void {
    if (this.#streams.isFollowed) {
      const agent = describe();
      this.#streams.send({ type: "status", agent: agent.name, status: agent });
    }
    if (this.#isRunning) this.#checkSoon();
  }

  onSettled(report: DeliveryReport): void {
    // Those that are canceled because the run is over its limits do not count.
    if (!this.#isRunning || this.isHeld) return;
    this.#record.addTurn(report);
    this.#streams.noteReply(report);
    if (report.code === "budget" || report.code === "steps")
      this.#noteTrouble("budget", `${report.agent}: ${report.error ?? "over budget"}`);
    const { turns } = this.#record.get();
    if (turns >= this.#limits.maxTurns)
      this.#record.update({ reason: "turn_limit", message: `The run has had ${turns} turns.` });
    this.#checkSoon();
  }

  onGivenUp(_agent: string, reason: WorkflowReason, message: string): void {
    if (this.#isRunning) this.#noteTrouble(reason, message);
  }

  /** Perhaps the others were done already. */
  forgetAgent(): void {
    if (this.#isRunning) this.#checkSoon();
  }

  wake(): void {
    const run = this.#record.find();
    if (!run) return;
    if (!this.#record.isReported) this.#reporter.reportSoon();
    if (!isOpenRun(run) || run.status === "stopped") return;
    if (!this.#record.isReady) this.#options.waitUntil(this.#starting.run());
    this.#checkSoon();
  }

  halt(): void {
    clearTimeout(this.#checkTimer);
    for (const work of [this.#starting, this.#checking, this.#reporter]) work.halt();
    this.#streams.close();
  }

  nextDueAt(): number | undefined {
    const run = this.#record.find();
    if (!run) return undefined;
    if (!isOpenRun(run) || run.status === "stopped")
      return this.#record.isReported ? undefined : (this.#checkAt ??= Date.now() + checkMs);
    if (!this.#record.isReady) return Math.max(this.#heldUntil, 1);
    return Math.min((this.#checkAt ??= Date.now() + checkMs), getDeadline(run, this.#limits.maxSeconds) ?? Infinity);
  }

  async runDue(now: number): Promise<void> {
    this.#checkAt = now + checkMs;
    const run = this.#record.find();
    if (!run) return;
    if (!this.#record.isReported) await this.#reporter.report();
    if (!isOpenRun(run) || run.status === "stopped") return;
    if (!this.#record.isReady) await this.#starting.run();
    const { maxSeconds } = this.#limits;
    const deadline = getDeadline(run, maxSeconds);
    if (deadline !== undefined && now >= deadline)
      this.#record.update({ reason: "time_limit", message: `The run has taken ${maxSeconds} seconds.` });
    this.#asksAgents = true;
    await this.#checking.run();
  }

  get #limits(): ReturnType<typeof getRunLimits> {
    return getRunLimits(this.definition ?? {}, this.#record.find()?.resident);
  }

  get #isRunning(): boolean {
    const status = this.#record.find()?.status;
    return status === "running" || status === "waiting";
  }

  /** Does whatever the start of the run still needs. */
  async #start(): Promise<void> {
    if (this.#record.isReady || !this.#isRunning || Date.now() < this.#heldUntil) return;
    try {
      await this.#starter.start();
      this.#record.markReady();
      this.#checkSoon();
    } catch (error) {
      console.error("a workflow could not be started", error);
      const isPassing = !isThinkeryError(error) || error.code === "unavailable";
      if (isPassing && ++this.#startFailures < maxStartAttempts) this.#heldUntil = Date.now() + startRetryMs;
      else this.#finish("failed", "setup", error instanceof Error ? error.message : "It could not be started.");
    }
  }

  #checkSoon(): void {
    this.#checkTimer ??= setTimeout(() => {
      this.#checkTimer = undefined;
      const work = this.#checking.run();
      this.#options.waitUntil(
        work.catch((error: unknown) => console.error("a workflow could not be checked; it is tried again", error)),
      );
    }, settleMs);
  }

  /** Ends the run if nothing is left to do. */
  async #check(): Promise<void> {
    const { team } = this.#options;
    if (!this.#isRunning) return;
    if (isOverLimit(this.#record.get())) return this.#endOverLimit();
    if (!this.#record.isReady) return;
    // They say what they do; before the run ends, and now and then, they are asked.
    const isFresh = team.isQuiet || this.#asksAgents;
    this.#asksAgents = false;
    const activities = await this.#agents.listActivities(isFresh);
    if (!this.#isRunning || isOverLimit(this.#record.get())) return;
    if (activities.some(needsPerson)) return this.#noteWaiting(true);
    this.#noteWaiting(false);
    const isBusy = activities.some(({ status }) => status === "working" || status === "waiting");
    if (isBusy || !team.isQuiet) return;
    const { resident, reason, message } = this.#record.get();
    if (!resident) this.#finish(reason === undefined ? "completed" : "failed", reason, message);
  }

  #noteWaiting(isWaiting: boolean): void {
    const status = isWaiting ? "waiting" : "running";
    if (this.#record.get().status === status) return;
    this.#setStatus({ status });
    if (isWaiting) this.#streams.resolveWaiters(this.describe());
  }

  /** Remembers why the run will not have succeeded. The first reason counts, unless it follows from a budget. */
  #noteTrouble(reason: WorkflowReason, message: string): void {
    const { reason: known } = this.#record.get();
    if (known === undefined || (known === "given_up" && reason === "budget")) this.#record.update({ reason, message });
  }

  /** Ends a run that has reached its limits: turns are canceled, and what is left to handle is given up. */
  async #endOverLimit(): Promise<void> {
    const { team } = this.#options;
    await this.#agents.cancel();
    const { agents, reason, message = "The run has ended." } = this.#record.get();
    for (const agent of agents) await team.inboxes.giveUpAll(agent, message);
    if (this.#isRunning) this.#finish("failed", reason, message);
  }

  #finish(status: "completed" | "failed", reason: WorkflowReason | undefined, message: string | undefined): void {
    const change = reason === undefined ? {} : { reason, ...(message === undefined ? {} : { message }) };
    this.#setStatus({ status, endedAt: new Date().toISOString(), ...change });
    if (this.#record.get().resident) this.#options.waitUntil(this.#schedules.remove().catch(logScheduleError));
    this.#streams.end(this.describe());
  }

  #setStatus(change: Partial<WorkflowRun>): void {
    this.#record.update(change);
    this.#publish();
    this.#reporter.reportSoon();
  }

  #publish(): void {
    this.#options.publish(() => ({ type: "workflow", run: this.describe() }));
  }
}

const logScheduleError = (error: unknown) => console.error("the schedules of a run could not be deleted", error);
