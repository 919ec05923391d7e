import type { ChildReport, EventData, Failure, GenerateOptions, ModelRole, NewEvent, PauseReason } from "@thinkery/sdk";
import { openConversation } from "../../drivers/conversation.ts";
import type {
  CodeAccess,
  Conversation,
  TurnContext,
  ModelCallEnd,
  StepOptions,
  TurnModels,
} from "../../drivers/driver.ts";
import type { MiddlewareRunner } from "../../middleware/pipeline.ts";
import { Plan } from "../../middleware/plan.ts";
import type { ModelError } from "../../model/error.ts";
import type { ModelMessage, ModelRequest, ToolCall } from "../../model/model.ts";
import { pause } from "../../model/pause.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import type { Toolbox } from "../../tools/toolbox.ts";
import { TurnBudget } from "../budget/turn-budget.ts";
import { findPauseReason } from "../calls/open-calls.ts";
import { readReports } from "../calls/tool-reports.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { TurnError } from "../turn-error.ts";
import { checkCallCount } from "./check-call-count.ts";
import { openCodeAccess } from "./code-access.ts";
import { createTurnScope } from "./create-turn-scope.ts";
import { generate } from "./generate.ts";
import { assignCallIds, countUsage, ModelCall } from "./model-call.ts";
import type { Recorder } from "./recorder.ts";
import { StallDetector } from "./stall-detector.ts";
import { TurnCalls } from "./turn-calls.ts";
import { type Ending, createEndEvents } from "./turn-end.ts";
import { TurnRecorder } from "./turn-recorder.ts";
import { TurnReplies } from "./turn-replies.ts";

export interface RunningTurnOptions {
  agent: string;
  runId: string;
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  deps: TurnDeps;
  /** The events that start the turn; empty if they are already in the log. */
  startEvents: NewEvent[];
  /** Returns the events that end what depends on the turn, if it ends early. */
  createEndEvents(runId: string): NewEvent[];
}

/** A turn while it runs. Records everything it does, and its outcome exactly once. */
export class RunningTurn implements TurnContext {
  readonly conversation: Conversation;
  readonly replies: TurnReplies;
  readonly #options: RunningTurnOptions;
  readonly #ending = new AbortController();
  readonly #middleware: MiddlewareRunner;
  readonly budget: TurnBudget;
  readonly #stallDetector: StallDetector;
  readonly #recorder: TurnRecorder;
  readonly #calls: TurnCalls;
  /** The plan of the model call that is being prepared, if any. */
  #plan: Plan | undefined;
  readonly #call: ModelCall;
  /** The turn's result, if its driver set it. */
  #result: string | undefined;
  /** Whether the start of the step's first model call is in the log. */
  #hasCallStarted = false;
  #step: number;
  /** Whether messages may have joined the turn that are not delivered yet. */
  #mayHaveJoined: boolean;

  constructor(options: RunningTurnOptions) {
    this.#options = options;
    this.conversation = openConversation(options.store, options.blobs);
    this.#call = new ModelCall(options.runId);
    this.#stallDetector = new StallDetector(options.deps.limits);
    this.#recorder = new TurnRecorder({ ...options, onActivity: () => this.#stallDetector.reset() });
    const isResumed = options.startEvents.length === 0;
    this.#mayHaveJoined = isResumed;
    // A step that a crash interrupted is repeated, not counted twice.
    this.#step = isResumed ? options.store.messages.countCompletedSteps(options.runId) : 0;
    this.budget = new TurnBudget({
      ...options,
      isResumed,
      signal: this.signal,
      record: () => this.#recorder.record(),
    });
    this.#middleware = options.deps.pipeline.createRunner(
      createTurnScope({
        ...options,
        signal: this.signal,
        step: () => this.#step,
        plan: () => this.#plan,
        generate: (input) => this.generate(input),
        hold: (...events) => this.#recorder.hold(...events),
        flush: () => this.#recorder.record(),
      }),
    );
    const current = { recorder: this.#recorder, getStep: () => this.#step };
    this.#calls = new TurnCalls({
      ...options,
      ...current,
      signal: this.signal,
      middleware: this.#middleware,
      isNew: !isResumed,
      generate: (input) => this.generate(input),
    });
    this.replies = new TurnReplies({
      ...current,
      runId: options.runId,
      ledger: options.store.ledger,
      onCalls: () => (this.#calls.pending = undefined),
    });
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
    this.#recorder.record({ type: "context.compacted", data: { runId: this.runId, step: this.#step, ...facts } });
    this.#call.restartClock();
  }

  listPendingCalls(): ToolCall[] {
    return this.#calls.listPending();
  }

  isWaiting(): boolean {
    return this.#calls.areWaiting();
  }

  isAnswered(): boolean {
    const { store, runId } = this.#options;
    const { pending } = this.#calls;
    const hasAnswer = pending ? pending.length === 0 && this.#call.hasStarted : store.messages.isAnswered(runId);
    return hasAnswer && this.#listWaiting().length === 0;
  }

  /** Notes that a message joined the turn; it is delivered before the next step. */
  join(): void {
    this.#mayHaveJoined = true;
  }

  /** Writes the held events and yields, so that they reach the disk. */
  async flush(): Promise<void> {
    this.#recorder.record();
    await pause(0, this.signal);
  }

  /** Tells middleware that the turn continues after a crash or a report. */
  async resume(reason: "recovered" | "resolved"): Promise<void> {
    const isObserved = this.#middleware.has("onResume") || this.#middleware.has("onChildReport");
    if (isObserved) await this.#middleware.runResume(reason, await this.#notifyReports());
  }

  async #notifyReports(): Promise<ChildReport[]> {
    this.#calls.hasUnreported = false;
    this.#recorder.record();
    const reports = readReports(this.#options.store, this.runId);
    for (const report of reports) await this.#middleware.runChildReport(report);
    return reports;
  }

  beginStep(options: StepOptions = {}): void | Promise<void> {
    if (this.#calls.hasUnreported && this.#middleware.has("onChildReport")) {
      return this.#notifyReports().then(() => this.beginStep(options));
    }
    if (this.tools.isStale) return this.tools.refresh().then(() => this.beginStep(options));
    const reserved = options.modelId === undefined ? undefined : this.budget.openStep(options.modelId);
    return reserved ? reserved.then(() => this.#openStep(options)) : this.#openStep(options);
  }

  #openStep({ modelId, startsCall = false }: StepOptions): void | Promise<void> {
    this.signal.throwIfAborted();
    const { runId, deps } = this.#options;
    const { maxSteps } = deps.limits;
    if (this.#step >= maxSteps) {
      const message = `The turn did not finish within ${maxSteps} steps.`;
      throw new TurnError("steps", message, "Say “continue”, or raise config.budget.steps in the blueprint.");
    }
    this.#step++;
    const messageIds = this.#listWaiting();
    this.#mayHaveJoined = false;
    if (messageIds.length > 0) this.#recorder.hold({ type: "message.delivered", data: { runId, messageIds } });
    const delivered = deps.subagents.takeReports(runId, this.#step);
    if (delivered) this.#recorder.hold(delivered.event);
    this.#recorder.hold({ type: "run.tick", data: { runId, step: this.#step } });
    this.#hasCallStarted = startsCall && modelId !== undefined;
    if (startsCall && modelId !== undefined) this.#recorder.record(this.#call.start(modelId, this.#step, 1));
    else this.#recorder.record();
    if (!delivered) return this.#middleware.runTick();
    return this.#notifyDelivered(delivered.reports);
  }

  /** Tells middleware about sub-agents that worked in the background. */
  async #notifyDelivered(reports: readonly ChildReport[]): Promise<void> {
    for (const report of reports) await this.#middleware.runChildReport(report);
    await this.#middleware.runTick();
  }

  planModelCall(messages: readonly ModelMessage[], modelId: string): ModelRequest | Promise<ModelRequest> {
    const reserved = this.budget.openStep(modelId);
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
    await this.budget.openStep(modelId);
    this.signal.throwIfAborted();
    this.#startCall(modelId);
  }

  #startCall(modelId: string): void {
    if (this.#hasCallStarted) this.#call.restartClock();
    else this.#recorder.record(this.#call.start(modelId, this.#step, 1));
    this.#hasCallStarted = true;
  }

  /** Makes one model call outside the conversation. */
  generate(input: GenerateOptions): Promise<string> {
    return generate(input, {
      ...this.#createCallDeps(),
      runId: this.runId,
      step: this.#step,
      signal: this.signal,
      record: (event) => this.#recorder.record(event),
    });
  }

  openCode(): CodeAccess {
    return openCodeAccess({ step: this.#calls.createStepContext(), model: this.#createCallDeps() });
  }

  #createCallDeps() {
    const { models, getCost } = this.#options.deps;
    return {
      openModel: (role: ModelRole) => models.open(role),
      openModelById: (id: string) => models.openById(id),
      getContextWindow: (id: string) => models.getContextWindow(id),
      getCost,
      budget: this.budget,
      onActivity: () => this.#stallDetector.reset(),
    };
  }

  retryModelCall(attempt: number): void {
    this.#recorder.record(this.#call.start(this.#call.modelId, this.#step, attempt));
  }

  appendDelta(text: string, reasoning: string): void {
    if (this.#recorder.isClosed) return;
    this.#call.append(text);
    this.#recorder.appendDelta(text, reasoning);
  }

  completeModelCall(end: ModelCallEnd): void | Promise<void> {
    const { store, deps } = this.#options;
    checkCallCount(end.toolCalls);
    const calls = assignCallIds(end.toolCalls, store.ledger);
    const usage = countUsage(end.finish.usage, (used) => deps.getCost(this.#call.modelId, used));
    this.budget.closeStep(usage);
    this.#recorder.hold(this.#call.end(this.#step, end, usage, calls));
    this.#calls.pending = calls;
    if (this.#middleware.has("onModelResult")) return this.#middleware.runModelResult(this.#call.toChatMessage(calls));
  }

  failModelCall(error: ModelError, attempt: number, retryInMs: number | undefined): void {
    this.#recorder.discardText();
    this.#recorder.record(this.#call.fail(this.#step, error, attempt, retryInMs));
  }

  setResult(text: string): void {
    this.#result = text;
  }

  hasJoined(): boolean {
    return this.#listWaiting().length > 0;
  }

  executeCalls(calls: readonly ToolCall[]): Promise<void> {
    return this.#calls.execute(calls);
  }

  /** Called periodically while the turn runs. Returns why it must end, if its time is up or it has stalled. */
  checkProgress(now: number): Failure | undefined {
    return this.budget.checkTime(now) ?? this.#stallDetector.check(now);
  }

  /** Records the outcome, once. Whatever the driver or a tool does afterwards is ignored. */
  end(ending: Ending): void {
    if (this.#recorder.isClosed) return;
    const { runId, store } = this.#options;
    if (ending.status === "completed") {
      this.#recorder.record({
        type: "agent.completed",
        data: { runId, result: this.#result ?? this.#call.text ?? store.messages.getLastText(runId) },
      });
      this.#recorder.close();
      return;
    }
    // Written first, because the open calls are read from the store.
    this.#recorder.record();
    this.#recorder.record(...createEndEvents(store, runId, ending), ...this.#options.createEndEvents(runId));
    this.abandon();
  }

  /** Stops the turn until results are reported; it is then run again. */
  pause(): PauseReason {
    const { runId, store, deps } = this.#options;
    const reason = findPauseReason(store, runId, deps.subagents.isWaiting(runId));
    this.#recorder.record({ type: "run.paused", data: { runId, reason } });
    this.#recorder.close();
    return reason;
  }

  /** Aborts the turn; whatever it still does is ignored. */
  abandon(): void {
    this.#recorder.close();
    this.#ending.abort(new Error("The turn is over."));
  }

  #listWaiting(): string[] {
    return this.#mayHaveJoined ? this.#options.store.messages.listWaitingIds(this.#options.runId) : [];
  }
}
