import type { ChildReport, GenerateOptions, EventData, Failure, NewEvent } from "@thinkery/sdk";
import { openConversation } from "../../drivers/conversation.ts";
import type { Conversation, TurnContext, ModelCallEnd, StepOptions, TurnModels } from "../../drivers/driver.ts";
import type { MiddlewareRunner } from "../../middleware/pipeline.ts";
import { Plan } from "../../middleware/plan.ts";
import type { ModelError } from "../../model/error.ts";
import type { ModelMessage, ModelRequest, ToolCall } from "../../model/model.ts";
import { pause } from "../../model/pause.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import type { Toolbox } from "../../tools/toolbox.ts";
import { TurnBudget } from "../budget/turn-budget.ts";
import { executeModelCalls } from "../calls/model-calls.ts";
import { RepetitionGuard } from "../calls/repetition.ts";
import { readReports } from "../calls/tool-reports.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { TurnError } from "../turn-error.ts";
import { consult } from "./consult.ts";
import { createTurnScope } from "./create-turn-scope.ts";
import { assignCallIds, countUsage, ModelCall } from "./model-call.ts";
import type { Recorder } from "./recorder.ts";
import { StallDetector } from "./stall-detector.ts";
import { type Ending, createEndEvents } from "./turn-end.ts";

export interface RunningTurnOptions {
  agent: string;
  runId: string;
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  deps: TurnDeps;
  /** The events that start it; none when it goes on after a crash. */
  startEvents: NewEvent[];
}

const maxCallsPerAnswer = 200;

/** A turn while it runs. Everything that becomes of it is recorded here, and its outcome exactly once. */
export class RunningTurn implements TurnContext {
  readonly conversation: Conversation;
  readonly #options: RunningTurnOptions;
  readonly #ending = new AbortController();
  readonly #repetition = new RepetitionGuard();
  readonly #middleware: MiddlewareRunner;
  readonly #budget: TurnBudget;
  readonly #stallDetector: StallDetector;
  /** The plan that is being made, while it is. */
  #plan: Plan | undefined;
  readonly #call: ModelCall;
  /** Whether the start of the step's first model call is in the log. */
  #hasCallStarted = false;
  /**
   * Facts that are written with the next ones: nothing but our own code runs in between, so they are durable no later,
   * and a write less is a good part of what a turn costs. First, what starts it.
   */
  #held: NewEvent[];
  #step: number;
  /** What the last step asked for and has no result yet; unknown until this life has taken a step. */
  #pendingCalls: ToolCall[] | undefined;
  /** May something have joined it that is not taken in? */
  #mayHaveJoined: boolean;
  /** May there be calls whose answers are to be reported? */
  #mayHaveDeferred: boolean;
  /** Were calls deferred in this life, and middleware has not heard of their answers? */
  #hasUnreported = false;
  #isOver = false;

  constructor(options: RunningTurnOptions) {
    this.#options = options;
    this.conversation = openConversation(options.store, options.blobs);
    this.#call = new ModelCall(options.runId);
    this.#held = [...options.startEvents];
    this.#mayHaveJoined = options.startEvents.length === 0;
    this.#mayHaveDeferred = this.#mayHaveJoined;
    // One that only begins has asked for nothing yet.
    if (!this.#mayHaveJoined) this.#pendingCalls = [];
    // A step that a crash cut off is taken again, not counted twice.
    this.#step = this.#mayHaveJoined ? options.store.messages.countCompletedSteps(options.runId) : 0;
    this.#budget = new TurnBudget({ ...options, isResumed: this.#mayHaveJoined, record: () => this.#record() });
    this.#stallDetector = new StallDetector(options.deps.limits);
    this.#middleware = options.deps.pipeline.createRunner(
      createTurnScope({
        ...options,
        signal: this.signal,
        step: () => this.#step,
        plan: () => this.#plan,
        consult: (question) => this.consult(question),
        hold: (...events) => this.#hold(...events),
        flush: () => this.#record(),
      }),
    );
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get runId(): string {
    return this.#options.runId;
  }

  get models(): TurnModels {
    return this.#options.deps.models;
  }

  get system(): string {
    return this.#options.deps.system;
  }

  get tools(): Toolbox {
    return this.#options.deps.tools;
  }

  recordCompaction(facts: Omit<EventData["context.compacted"], "runId" | "step">): void {
    this.#record({ type: "context.compacted", data: { runId: this.runId, step: this.#step, ...facts } });
    this.#call.restartClock();
  }

  listPendingCalls(): ToolCall[] {
    if (this.#pendingCalls) return this.#pendingCalls;
    const { store, runId } = this.#options;
    const calls = store.messages.listUnansweredCalls(runId) as ToolCall[];
    const deferred = calls.length > 0 ? store.ledger.listDeferred(runId) : [];
    return calls.filter(({ id }) => !deferred.includes(id));
  }

  isWaiting(): boolean {
    if (!this.#mayHaveDeferred) return false;
    this.#record();
    this.#mayHaveDeferred = this.#options.store.ledger.listDeferred(this.#options.runId).length > 0;
    return this.#mayHaveDeferred;
  }

  isAnswered(): boolean {
    const { store, runId } = this.#options;
    const hasAnswer = this.#pendingCalls
      ? this.#pendingCalls.length === 0 && this.#call.hasStarted
      : store.messages.isAnswered(runId);
    return hasAnswer && this.#listWaiting().length === 0;
  }

  /** Something joined it; it is taken in before the next step. */
  join(): void {
    this.#mayHaveJoined = true;
  }

  /** Writes what is held, and lets it get to the disk. */
  async flush(): Promise<void> {
    this.#record();
    await pause(0, this.signal);
  }

  /** It goes on after a crash or a report, and middleware is told. */
  async resume(reason: "recovered" | "resolved"): Promise<void> {
    const isObserved = this.#middleware.has("onResume") || this.#middleware.has("onChildReport");
    if (isObserved) await this.#middleware.runResume(reason, await this.#notifyReports());
  }

  async #notifyReports(): Promise<ChildReport[]> {
    this.#hasUnreported = false;
    this.#record();
    const reports = readReports(this.#options.store, this.runId);
    for (const report of reports) await this.#middleware.runChildReport(report);
    return reports;
  }

  beginStep(options: StepOptions = {}): void | Promise<void> {
    if (this.#hasUnreported && this.#middleware.has("onChildReport")) {
      return this.#notifyReports().then(() => this.beginStep(options));
    }
    if (this.tools.isStale) return this.tools.refresh().then(() => this.beginStep(options));
    const reserved = options.modelId === undefined ? undefined : this.#budget.openStep(options.modelId);
    return reserved ? reserved.then(() => this.#openStep(options)) : this.#openStep(options);
  }

  #openStep({ modelId, startsCall = false }: StepOptions): void | Promise<void> {
    this.signal.throwIfAborted();
    const { runId, deps } = this.#options;
    const { maxSteps: steps } = deps.limits;
    if (this.#step >= steps) {
      const message = `The turn took its ${steps} steps and was not done.`;
      throw new TurnError("steps", message, "Say “go on”, or raise config.budget.steps in the blueprint.");
    }
    this.#step++;
    const messageIds = this.#listWaiting();
    this.#mayHaveJoined = false;
    if (messageIds.length > 0) this.#hold({ type: "message.delivered", data: { runId, messageIds } });
    this.#hold({ type: "run.tick", data: { runId, step: this.#step } });
    this.#hasCallStarted = startsCall && modelId !== undefined;
    if (startsCall && modelId !== undefined) this.#record(this.#call.start(modelId, this.#step, 1));
    else this.#record();
    return this.#middleware.runTick();
  }

  planModelCall(messages: readonly ModelMessage[], modelId: string): ModelRequest | Promise<ModelRequest> {
    const reserved = this.#budget.openStep(modelId);
    if (reserved) return reserved.then(() => this.planModelCall(messages, modelId));
    this.signal.throwIfAborted();
    const { system, tools, settings } = this.#options.deps;
    const plan = new Plan({ model: modelId, step: this.#step, system, messages, tools, settings });
    const isReady = this.#hasCallStarted && !this.#middleware.has("beforeModel");
    return isReady ? plan.toRequest() : this.#shapeRequest(plan, modelId);
  }

  async #shapeRequest(plan: Plan, modelId: string): Promise<ModelRequest> {
    this.#plan = plan;
    await this.#middleware.runBeforeModel(plan);
    this.#plan = undefined;
    this.#startCall(modelId);
    return plan.toRequest();
  }

  async startModelCall(modelId: string): Promise<void> {
    await this.#budget.openStep(modelId);
    this.signal.throwIfAborted();
    this.#startCall(modelId);
  }

  #startCall(modelId: string): void {
    if (this.#hasCallStarted) this.#call.restartClock();
    else this.#record(this.#call.start(modelId, this.#step, 1));
    this.#hasCallStarted = true;
  }

  /** A quick question beside the conversation. */
  consult(question: GenerateOptions): Promise<string> {
    const { runId, deps } = this.#options;
    const { models, getCost } = deps;
    return consult(question, {
      runId,
      step: this.#step,
      signal: this.signal,
      openModel: (role) => models.open(role),
      getCost,
      budget: this.#budget,
      record: (event) => this.#record(event),
      onActivity: () => this.#stallDetector.reset(),
    });
  }

  retryModelCall(attempt: number): void {
    this.#record(this.#call.start(this.#call.modelId, this.#step, attempt));
  }

  say(text: string, reasoning: string): void {
    if (this.#isOver) return;
    this.#stallDetector.reset();
    this.#call.append(text);
    this.#options.recorder.say(this.#options.runId, text, reasoning);
  }

  completeModelCall(end: ModelCallEnd): void | Promise<void> {
    const { store, deps } = this.#options;
    const callCount = end.toolCalls.length;
    if (callCount > maxCallsPerAnswer) {
      throw new TurnError(
        "model_refused",
        `The model asked for ${callCount} tool calls at once.`,
        "Ask for less at a time, or use another model.",
      );
    }
    const calls = assignCallIds(end.toolCalls, store.ledger);
    const usage = countUsage(end.finish.usage, (used) => deps.getCost(this.#call.modelId, used));
    this.#budget.closeStep(usage);
    this.#hold(this.#call.end(this.#step, end, usage, calls));
    this.#pendingCalls = calls;
    if (this.#middleware.has("onModelResult")) return this.#middleware.runModelResult(this.#call.toChatMessage(calls));
  }

  failModelCall(error: ModelError, attempt: number, retryInMs: number | undefined): void {
    if (this.#isOver) return;
    this.#options.recorder.discardText();
    const { runId } = this.#options;
    this.#record({
      type: "model.failed",
      data: {
        runId,
        step: this.#step,
        attempt,
        kind: error.kind,
        error: error.message,
        ...(retryInMs === undefined ? {} : { retryInMs }),
      },
    });
  }

  async executeCalls(calls: readonly ToolCall[]): Promise<void> {
    const { agent, runId, store, blobs, deps } = this.#options;
    await executeModelCalls(calls, {
      deps,
      agent,
      runId,
      step: this.#step,
      store,
      blobs,
      signal: this.signal,
      repetition: this.#repetition,
      middleware: this.#middleware,
      consult: (question) => this.consult(question),
      progress: (callId, text) => this.#show(callId, text),
      record: (...events) => this.#record(...events),
      hold: (...events) => this.#hold(...events),
    });
    this.#pendingCalls = undefined;
  }

  #show(callId: string, text: string): void {
    if (this.#isOver) return;
    this.#stallDetector.reset();
    this.#options.recorder.show(this.runId, callId, text);
  }

  /** Called while it runs, every now and then. Answers why it has to end, where its time is over or nothing comes of it. */
  checkProgress(now: number): Failure | undefined {
    return this.#budget.checkTime(now) ?? this.#stallDetector.check(now);
  }

  /** Writes the outcome, once; what the driver or a tool still does after it is heard by nobody. */
  end(ending: Ending): void {
    if (this.#isOver) return;
    const { runId, store, recorder } = this.#options;
    if (ending.status === "completed") {
      this.#record({
        type: "agent.completed",
        data: { runId, result: this.#call.text ?? store.messages.getLastText(runId) },
      });
      this.#isOver = true;
      return;
    }
    // What is still open is read off what is stored.
    this.#record();
    recorder.record(...createEndEvents(store, runId, ending));
    this.abandon();
  }

  /** Nothing is to be done until a report comes in: it stops here, and is run anew by then. */
  pause(): void {
    this.#record({ type: "run.paused", data: { runId: this.#options.runId, reason: "deferred" } });
    this.#isOver = true;
  }

  /** From now on nothing that it does is heard. */
  abandon(): void {
    this.#isOver = true;
    this.#ending.abort(new Error("The turn is over."));
  }

  #record(...events: NewEvent[]): void {
    if (this.#isOver) return;
    this.#stallDetector.reset();
    if (events[0]?.type === "tool.deferred") this.#mayHaveDeferred = this.#hasUnreported = true;
    const all = [...this.#held, ...events];
    this.#held = [];
    if (all.length > 0) this.#options.recorder.record(...all);
  }

  #hold(...events: NewEvent[]): void {
    if (!this.#isOver) this.#held.push(...events);
  }

  #listWaiting(): string[] {
    return this.#mayHaveJoined ? this.#options.store.messages.listWaitingIds(this.#options.runId) : [];
  }
}
