import type { ChatMessage, Consultation, NewEvent, UsageTotal } from "@thinkery/sdk";
import type { CallEnd, DrivenTurn } from "../drivers/driver.ts";
import { Plan } from "../middleware/plan.ts";
import type { Performance } from "../middleware/pipeline.ts";
import type { ModelError } from "../model/error.ts";
import type { Model, ModelMessage, ModelRequest, ToolCall, Usage } from "../model/model.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { Spoken } from "../store/message-row.ts";
import { withOwnIds } from "./call-ids.ts";
import { consult } from "./consult.ts";
import { type Ending, endOf } from "./ending.ts";
import type { Equipment } from "./equipment.ts";
import { TurnFailed } from "./failed.ts";
import { type Repetition, runCalls } from "./gate.ts";
import type { Recorder } from "./recorder.ts";
import { stageOf } from "./stage.ts";

export interface RunningOptions {
  agent: string;
  runId: string;
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  equipment: Equipment;
  /** The events that start it; none when it goes on after a crash. */
  opening: NewEvent[];
}

const mostCallsAtOnce = 200;

/** A turn while it runs. Everything that becomes of it is recorded here, and its outcome exactly once. */
export class RunningTurn implements DrivenTurn {
  readonly #options: RunningOptions;
  readonly #ending = new AbortController();
  readonly #repetition: Repetition = { call: "", step: 0, times: 0 };
  readonly #middleware: Performance;
  /** The plan that is being made, while it is. */
  #plan: Plan | undefined;
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
  #messageId = "";
  /** What the model said in its latest call; unknown until this life has made one. */
  #words: string | undefined;
  #callBegan = 0;
  #over = false;
  #silentMs = 0;
  #lastBeat = Date.now();

  constructor(options: RunningOptions) {
    this.#options = options;
    this.#held = [...options.opening];
    this.#joined = options.opening.length === 0;
    this.#deferred = this.#joined;
    // A step that a crash cut off is taken again, not counted twice.
    this.#step = this.#joined ? options.store.messages.stepsDone(options.runId) : 0;
    this.#middleware = options.equipment.pipeline.on(
      stageOf({
        ...options,
        signal: this.signal,
        step: () => this.#step,
        plan: () => this.#plan,
        consult: (question) => this.consult(question),
        hold: (...events) => this.#hold(...events),
      }),
    );
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get model(): Model {
    return this.#options.equipment.model;
  }

  get middleware(): Performance {
    return this.#middleware;
  }

  spoken(after: number): Spoken[] {
    return this.#options.store.messages.spoken(after);
  }

  async readBlob(hash: string): Promise<Uint8Array | undefined> {
    return this.#options.blobs.get(hash);
  }

  unanswered(): ToolCall[] {
    if (this.#open) return this.#open;
    const { store, runId } = this.#options;
    const calls = store.messages.unanswered(runId) as ToolCall[];
    const deferred = calls.length > 0 ? store.ledger.deferred(runId) : [];
    return calls.filter(({ id }) => !deferred.includes(id));
  }

  waits(): boolean {
    if (!this.#deferred) return false;
    this.#record();
    this.#deferred = this.#options.store.ledger.deferred(this.#options.runId).length > 0;
    return this.#deferred;
  }

  isAnswered(): boolean {
    const { store, runId } = this.#options;
    const said = this.#open ? this.#open.length === 0 && this.#messageId !== "" : store.messages.isAnswered(runId);
    return said && this.#waiting().length === 0;
  }

  /** Something joined it; it is taken in before the next step. */
  join(): void {
    this.#joined = true;
  }

  beginStep(): void | Promise<void> {
    const { runId, equipment } = this.#options;
    const { steps } = equipment.limits;
    if (this.#step >= steps) {
      throw new TurnFailed("steps", `The turn took its ${steps} steps and was not done.`, "Say “go on”, or raise config.budget.steps in the blueprint.");
    }
    this.#step++;
    const messageIds = this.#waiting();
    this.#joined = false;
    this.#hold(
      ...(messageIds.length > 0 ? [{ type: "message.taken", data: { runId, messageIds } } as const] : []),
      { type: "run.tick", data: { runId, step: this.#step } },
    );
    // Where nobody has a say in between, the call's beginning is written with the step's.
    if (this.#middleware.has("onTick") || this.#middleware.has("beforeModel")) {
      this.#record();
      return this.#middleware.tick();
    }
    this.#record(this.#callStarted(1));
  }

  planCall(messages: readonly ModelMessage[]): ModelRequest | Promise<ModelRequest> {
    const { model, system, tools, settings } = this.#options.equipment;
    const plan = new Plan({ model: model.id, step: this.#step, system, messages, tools, settings });
    if (!this.#middleware.has("onTick") && !this.#middleware.has("beforeModel")) return plan.request();
    return this.#shape(plan);
  }

  async #shape(plan: Plan): Promise<ModelRequest> {
    this.#plan = plan;
    await this.#middleware.beforeModel(plan);
    this.#plan = undefined;
    this.#record(this.#callStarted(1));
    return plan.request();
  }

  /** A quick question beside the conversation. */
  consult(question: Consultation): Promise<string> {
    const { runId, equipment } = this.#options;
    const { modelOf, costOf } = equipment;
    return consult(question, {
      runId,
      step: this.#step,
      signal: this.signal,
      modelOf,
      costOf: (model, usage) => costOf(model, usage) ?? null,
      record: (event) => this.#record(event),
    });
  }

  retryCall(attempt: number): void {
    this.#record(this.#callStarted(attempt));
  }

  say(text: string, reasoning: string): void {
    if (this.#over) return;
    this.#silentMs = 0;
    this.#words += text;
    this.#options.recorder.say(this.#options.runId, text, reasoning);
  }

  endCall({ finish, toolCalls, replay }: CallEnd): void | Promise<void> {
    const { runId } = this.#options;
    if (toolCalls.length > mostCallsAtOnce) {
      throw new TurnFailed("model_refused", `The model asked for ${toolCalls.length} tool calls at once.`, "Ask for less at a time, or use another model.");
    }
    const calls = withOwnIds(toolCalls, this.#options.store.ledger);
    this.#hold({
      type: "model.completed",
      data: {
        runId,
        step: this.#step,
        messageId: this.#messageId,
        model: this.model.id,
        finish: finish.reason,
        usage: this.#usage(finish.usage),
        ms: Date.now() - this.#callBegan,
        toolCalls: calls,
        ...(replay === undefined ? {} : { replay }),
      },
    });
    this.#open = calls;
    if (this.#middleware.has("onModelResult")) return this.#middleware.modelResult(this.#answer(calls));
  }

  #answer(calls: readonly ToolCall[]): ChatMessage {
    const toolCalls = calls.map(({ id, name, input }) => ({ id, name, args: input }));
    return { role: "assistant", content: this.#words ?? "", ...(toolCalls.length > 0 ? { toolCalls } : {}) };
  }

  callFailed(error: ModelError, attempt: number, retryInMs: number | undefined): void {
    if (this.#over) return;
    this.#options.recorder.unsay();
    const { runId } = this.#options;
    this.#record({
      type: "model.failed",
      data: { runId, step: this.#step, attempt, kind: error.kind, error: error.message, ...(retryInMs === undefined ? {} : { retryInMs }) },
    });
  }

  async callTools(calls: readonly ToolCall[]): Promise<void> {
    const { agent, runId, store, blobs, equipment } = this.#options;
    const { tools, config, limits, props } = equipment;
    await runCalls(calls, {
      agent,
      runId,
      step: this.#step,
      store,
      blobs,
      tools,
      config,
      limits,
      props,
      signal: this.signal,
      repetition: this.#repetition,
      middleware: this.#middleware,
      consult: (question) => this.consult(question),
      record: (...events) => this.#record(...events),
      hold: (...events) => this.#hold(...events),
    });
    this.#open = undefined;
  }

  /** Called while it runs, every now and then. Fails a turn that has been silent for its whole window. */
  beat(now: number): boolean {
    const { noProgressSeconds, heartbeatSeconds } = this.#options.equipment.limits;
    // A machine that slept is no silent turn: a gap counts for a few beats at most.
    this.#silentMs += Math.min(now - this.#lastBeat, heartbeatSeconds * 3000);
    this.#lastBeat = now;
    return this.#silentMs <= noProgressSeconds * 1000;
  }

  /** Writes the outcome, once; what the driver or a tool still does after it is heard by nobody. */
  end(ending: Ending): void {
    if (this.#over) return;
    const { runId, store, recorder } = this.#options;
    if (ending.status === "completed") {
      this.#record({ type: "agent.completed", data: { runId, result: this.#words ?? store.messages.lastWords(runId) } });
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
    this.#silentMs = 0;
    if (events[0]?.type === "tool.deferred") this.#deferred = true;
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

  #callStarted(attempt: number): NewEvent {
    this.#messageId = crypto.randomUUID();
    this.#words = "";
    this.#callBegan = Date.now();
    const { runId } = this.#options;
    return { type: "model.started", data: { runId, step: this.#step, messageId: this.#messageId, model: this.model.id, attempt } };
  }

  #usage(usage: Usage | undefined): UsageTotal {
    const used = usage ?? { inputTokens: 0, outputTokens: 0 };
    return { ...used, costUsd: usage ? (this.#options.equipment.costOf(this.model.id, used) ?? null) : null };
  }
}
