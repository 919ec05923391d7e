import type { ChildReport, GenerateOptions, EventData, Failure, NewEvent } from "@thinkery/sdk";
import { openConversation } from "../../drivers/conversation.ts";
import type { Conversation, DrivenTurn, ModelCallEnd, StepOptions, TurnModels } from "../../drivers/driver.ts";
import type { Performance } from "../../middleware/pipeline.ts";
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
import { reportsIn } from "../calls/tool-reports.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { TurnFailed } from "../turn-failed.ts";
import { consult } from "./consult.ts";
import { assignCallIds, countUsage, ModelCall } from "./model-call.ts";
import type { Recorder } from "./recorder.ts";
import { stageOf } from "./stage.ts";
import { StallDetector } from "./stall-detector.ts";
import { type Ending, endOf } from "./turn-end.ts";

export interface RunningOptions {
  agent: string;
  runId: string;
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  deps: TurnDeps;
  /** The events that start it; none when it goes on after a crash. */
  opening: NewEvent[];
}

const maxCallsPerAnswer = 200;

/** A turn while it runs. Everything that becomes of it is recorded here, and its outcome exactly once. */
export class RunningTurn implements DrivenTurn {
  readonly conversation: Conversation;
  readonly #options: RunningOptions;
  readonly #ending = new AbortController();
  readonly #repetition = new RepetitionGuard();
  readonly #middleware: Performance;
  readonly #budget: TurnBudget;
  readonly #stall: StallDetector;
  /** The plan that is being made, while it is. */
  #plan: Plan | undefined;
  readonly #call: ModelCall;
  /** Whether the start of the step's first model call is in the log. */
  #callStarted = false;
  /**
   * Facts that are written with the next ones: nothing but our own code runs in between, so they are durable no later,
   * and a write less is a good part of what a turn costs. First, what starts it.
   */
  #held: NewEvent[];
  #step: number;
  /** What the last step asked for and has no result yet; unknown until this life has taken a step. */
  #open: ToolCall[] | undefined;
  /** May something have joined it that is not taken in? */
  #joined: boolean;
  /** May there be calls whose answers are to be reported? */
  #deferred: boolean;
  /** Were calls deferred in this life, and middleware has not heard of their answers? */
  #untold = false;
  #over = false;

  constructor(options: RunningOptions) {
    this.#options = options;
    this.conversation = openConversation(options.store, options.blobs);
    this.#call = new ModelCall(options.runId);
    this.#held = [...options.opening];
    this.#joined = options.opening.length === 0;
    this.#deferred = this.#joined;
    // One that only begins has asked for nothing yet.
    if (!this.#joined) this.#open = [];
    // A step that a crash cut off is taken again, not counted twice.
    this.#step = this.#joined ? options.store.messages.stepsDone(options.runId) : 0;
    this.#budget = new TurnBudget({ ...options, again: this.#joined, record: () => this.#record() });
    this.#stall = new StallDetector(options.deps.limits);
    this.#middleware = options.deps.pipeline.on(
      stageOf({
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

  pendingCalls(): ToolCall[] {
    if (this.#open) return this.#open;
    const { store, runId } = this.#options;
    const calls = store.messages.unanswered(runId) as ToolCall[];
    const deferred = calls.length > 0 ? store.ledger.deferred(runId) : [];
    return calls.filter(({ id }) => !deferred.includes(id));
  }

  isWaiting(): boolean {
    if (!this.#deferred) return false;
    this.#record();
    this.#deferred = this.#options.store.ledger.deferred(this.#options.runId).length > 0;
    return this.#deferred;
  }

  isAnswered(): boolean {
    const { store, runId } = this.#options;
    const hasAnswer = this.#open ? this.#open.length === 0 && this.#call.made : store.messages.isAnswered(runId);
    return hasAnswer && this.#waiting().length === 0;
  }

  /** Something joined it; it is taken in before the next step. */
  join(): void {
    this.#joined = true;
  }

  /** Writes what is held, and lets it get to the disk. */
  async settle(): Promise<void> {
    this.#record();
    await pause(0, this.signal);
  }

  /** It goes on after a crash or a report, and middleware is told. */
  async resume(reason: "recovered" | "reported"): Promise<void> {
    const hears = this.#middleware.has("onResume") || this.#middleware.has("onChildReport");
    if (hears) await this.#middleware.resume(reason, await this.#tellReports());
  }

  async #tellReports(): Promise<ChildReport[]> {
    this.#untold = false;
    this.#record();
    const reports = reportsIn(this.#options.store, this.runId);
    for (const report of reports) await this.#middleware.childReport(report);
    return reports;
  }

  beginStep(options: StepOptions = {}): void | Promise<void> {
    if (this.#untold && this.#middleware.has("onChildReport")) {
      return this.#tellReports().then(() => this.beginStep(options));
    }
    if (this.tools.isStale) return this.tools.refresh().then(() => this.beginStep(options));
    const reserved = options.modelId === undefined ? undefined : this.#budget.openStep(options.modelId);
    return reserved ? reserved.then(() => this.#openStep(options)) : this.#openStep(options);
  }

  #openStep({ modelId, startsCall = false }: StepOptions): void | Promise<void> {
    this.signal.throwIfAborted();
    const { runId, deps } = this.#options;
    const { steps } = deps.limits;
    if (this.#step >= steps) {
      const message = `The turn took its ${steps} steps and was not done.`;
      throw new TurnFailed("steps", message, "Say “go on”, or raise config.budget.steps in the blueprint.");
    }
    this.#step++;
    const messageIds = this.#waiting();
    this.#joined = false;
    if (messageIds.length > 0) this.#hold({ type: "message.taken", data: { runId, messageIds } });
    this.#hold({ type: "run.tick", data: { runId, step: this.#step } });
    this.#callStarted = startsCall && modelId !== undefined;
    if (startsCall && modelId !== undefined) this.#record(this.#call.start(modelId, this.#step, 1));
    else this.#record();
    return this.#middleware.tick();
  }

  planModelCall(messages: readonly ModelMessage[], modelId: string): ModelRequest | Promise<ModelRequest> {
    const reserved = this.#budget.openStep(modelId);
    if (reserved) return reserved.then(() => this.planModelCall(messages, modelId));
    this.signal.throwIfAborted();
    const { system, tools, settings } = this.#options.deps;
    const plan = new Plan({ model: modelId, step: this.#step, system, messages, tools, settings });
    const isReady = this.#callStarted && !this.#middleware.has("beforeModel");
    return isReady ? plan.request() : this.#shapeRequest(plan, modelId);
  }

  async #shapeRequest(plan: Plan, modelId: string): Promise<ModelRequest> {
    this.#plan = plan;
    await this.#middleware.beforeModel(plan);
    this.#plan = undefined;
    this.#startCall(modelId);
    return plan.request();
  }

  async startModelCall(modelId: string): Promise<void> {
    await this.#budget.openStep(modelId);
    this.signal.throwIfAborted();
    this.#startCall(modelId);
  }

  #startCall(modelId: string): void {
    if (this.#callStarted) this.#call.restartClock();
    else this.#record(this.#call.start(modelId, this.#step, 1));
    this.#callStarted = true;
  }

  /** A quick question beside the conversation. */
  consult(question: GenerateOptions): Promise<string> {
    const { runId, deps } = this.#options;
    const { models, costOf } = deps;
    return consult(question, {
      runId,
      step: this.#step,
      signal: this.signal,
      modelOf: (role) => models.open(role),
      costOf,
      budget: this.#budget,
      record: (event) => this.#record(event),
      alive: () => this.#stall.reset(),
    });
  }

  retryModelCall(attempt: number): void {
    this.#record(this.#call.start(this.#call.modelId, this.#step, attempt));
  }

  say(text: string, reasoning: string): void {
    if (this.#over) return;
    this.#stall.reset();
    this.#call.hear(text);
    this.#options.recorder.say(this.#options.runId, text, reasoning);
  }

  completeModelCall(end: ModelCallEnd): void | Promise<void> {
    const { store, deps } = this.#options;
    const asked = end.toolCalls.length;
    if (asked > maxCallsPerAnswer) {
      throw new TurnFailed("model_refused", `The model asked for ${asked} tool calls at once.`, "Ask for less at a time, or use another model.");
    }
    const calls = assignCallIds(end.toolCalls, store.ledger);
    const usage = countUsage(end.finish.usage, (used) => deps.costOf(this.#call.modelId, used));
    this.#budget.closeStep(usage);
    this.#hold(this.#call.end(this.#step, end, usage, calls));
    this.#open = calls;
    if (this.#middleware.has("onModelResult")) return this.#middleware.modelResult(this.#call.answer(calls));
  }

  failModelCall(error: ModelError, attempt: number, retryInMs: number | undefined): void {
    if (this.#over) return;
    this.#options.recorder.unsay();
    const { runId } = this.#options;
    this.#record({
      type: "model.failed",
      data: { runId, step: this.#step, attempt, kind: error.kind, error: error.message, ...(retryInMs === undefined ? {} : { retryInMs }) },
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
    this.#open = undefined;
  }

  #show(callId: string, text: string): void {
    if (this.#over) return;
    this.#stall.reset();
    this.#options.recorder.show(this.runId, callId, text);
  }

  /** Called while it runs, every now and then. Answers why it has to end, where its time is over or nothing comes of it. */
  beat(now: number): Failure | undefined {
    return this.#budget.late(now) ?? this.#stall.check(now);
  }

  /** Writes the outcome, once; what the driver or a tool still does after it is heard by nobody. */
  end(ending: Ending): void {
    if (this.#over) return;
    const { runId, store, recorder } = this.#options;
    if (ending.status === "completed") {
      this.#record({ type: "agent.completed", data: { runId, result: this.#call.words ?? store.messages.lastWords(runId) } });
      this.#over = true;
      return;
    }
    // What is still open is read off what is stored.
    this.#record();
    recorder.record(...endOf(store, runId, ending));
    this.abandon();
  }

  /** Nothing is to be done until a report comes in: it stops here, and is run anew by then. */
  pause(): void {
    this.#record({ type: "run.paused", data: { runId: this.#options.runId, reason: "deferred" } });
    this.#over = true;
  }

  /** From now on nothing that it does is heard. */
  abandon(): void {
    this.#over = true;
    this.#ending.abort(new Error("The turn is over."));
  }

  #record(...events: NewEvent[]): void {
    if (this.#over) return;
    this.#stall.reset();
    if (events[0]?.type === "tool.deferred") this.#deferred = this.#untold = true;
    const all = [...this.#held, ...events];
    this.#held = [];
    if (all.length > 0) this.#options.recorder.record(...all);
  }

  #hold(...events: NewEvent[]): void {
    if (!this.#over) this.#held.push(...events);
  }

  #waiting(): string[] {
    return this.#joined ? this.#options.store.messages.waiting(this.#options.runId) : [];
  }
}
