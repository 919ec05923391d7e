import type { Blueprint, Failure, NewEvent, TurnLimits, UsageTotal } from "@thinkery/sdk";
import type { CallEnd, DrivenTurn } from "../drivers/driver.ts";
import type { ModelError } from "../model/error.ts";
import { type Model, newCallId, type ToolCall, type Usage } from "../model/model.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { Spoken } from "../store/message-row.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import { TurnFailed } from "./failed.ts";
import { type Repetition, runCalls, troubled } from "./gate.ts";
import type { Recorder } from "./recorder.ts";

/** What a turn is computed with. Prepared before it starts, the same for all its steps. */
export interface Equipment {
  model: Model;
  system: string;
  tools: Toolbox;
  config: Blueprint["config"];
  limits: TurnLimits;
  costOf(usage: Usage): number | undefined;
}

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

export type Ending = { status: "completed" } | { status: "canceled"; reason: string } | { status: "error"; failure: Failure };

/** A turn while it runs. Everything that becomes of it is recorded here, and its outcome exactly once. */
export class RunningTurn implements DrivenTurn {
  readonly #options: RunningOptions;
  readonly #ending = new AbortController();
  readonly #repetition: Repetition = { call: "", step: 0, times: 0 };
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
    // A step that a crash cut off is taken again, not counted twice.
    this.#step = this.#joined ? options.store.messages.stepsDone(options.runId) : 0;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get model(): Model {
    return this.#options.equipment.model;
  }

  get system(): string {
    return this.#options.equipment.system;
  }

  get tools() {
    return this.#options.equipment.tools.definitions();
  }

  spoken(after: number): Spoken[] {
    return this.#options.store.messages.spoken(after);
  }

  async readBlob(hash: string): Promise<Uint8Array | undefined> {
    return this.#options.blobs.get(hash);
  }

  unanswered(): ToolCall[] {
    return this.#open ?? (this.#options.store.messages.unanswered(this.#options.runId) as ToolCall[]);
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

  beginStep(): void {
    const { runId, equipment } = this.#options;
    const { steps } = equipment.limits;
    if (this.#step >= steps) {
      throw new TurnFailed("steps", `The turn took its ${steps} steps and was not done.`, "Say “go on”, or raise config.budget.steps in the blueprint.");
    }
    this.#step++;
    const messageIds = this.#waiting();
    this.#joined = false;
    this.#record(
      ...(messageIds.length > 0 ? [{ type: "message.taken", data: { runId, messageIds } } as const] : []),
      { type: "run.tick", data: { runId, step: this.#step } },
      this.#callStarted(1),
    );
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

  endCall({ finish, toolCalls, replay }: CallEnd): void {
    const { runId } = this.#options;
    if (toolCalls.length > mostCallsAtOnce) {
      throw new TurnFailed("model_refused", `The model asked for ${toolCalls.length} tool calls at once.`, "Ask for less at a time, or use another model.");
    }
    const calls = this.#named(toolCalls);
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
    const { tools, config, limits } = equipment;
    const record = (...events: NewEvent[]) => this.#record(...events);
    const hold = (...events: NewEvent[]) => this.#hold(...events);
    await runCalls(calls, { agent, runId, step: this.#step, store, blobs, tools, config, limits, signal: this.signal, repetition: this.#repetition, record, hold });
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

  /** From now on nothing that it does is heard. */
  abandon(): void {
    this.#over = true;
    this.#ending.abort(new Error("The turn is over."));
  }

  #record(...events: NewEvent[]): void {
    if (this.#over) return;
    this.#silentMs = 0;
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
    return { ...used, costUsd: usage ? (this.#options.equipment.costOf(used) ?? null) : null };
  }

  /** Some models number their calls from zero in every answer; an id must mean one call for ever. */
  #named(calls: readonly ToolCall[]): ToolCall[] {
    const taken = new Set<string>();
    return calls.map((call) => {
      const free = call.id && !taken.has(call.id) && !this.#options.store.ledger.has(call.id);
      const id = free ? call.id : newCallId();
      taken.add(id);
      return { ...call, id };
    });
  }
}

/** How a turn ends that was not completed: no call is left without a result, and nothing typed is lost. */
export function endOf(store: AgentStore, runId: string, ending: Exclude<Ending, { status: "completed" }>): NewEvent[] {
  const own = ownMessages(store, runId);
  const messageIds = store.messages.waiting(runId).filter((id) => !own.includes(id));
  const why = ending.status === "canceled" ? "The turn was canceled before this call had a result." : "The turn ended before this call had a result.";
  return [
    ...store.messages.unanswered(runId).map((call) => troubled(call, { runId }, "canceled", why, 0, "cancel")),
    ...(messageIds.length > 0
      ? [{ type: "message.requeued", data: { runId: crypto.randomUUID(), fromRunId: runId, messageIds } } as const]
      : []),
    ending.status === "canceled"
      ? { type: "run.canceled", data: { runId, reason: ending.reason } }
      : { type: "agent.error", data: { runId, error: ending.failure.message, code: ending.failure.code, ...(ending.failure.advice ? { advice: ending.failure.advice } : {}) } },
  ];
}

/** What a turn that has not begun is about, beside what joined it meanwhile. Once it runs, its own messages wait no more. */
function ownMessages(store: AgentStore, runId: string): string[] {
  const turn = store.turns.get(runId);
  if (turn?.status !== "queued") return [];
  const [event] = store.log.read(turn.number - 1, 1);
  if (event?.type === "request.accepted") return event.data.messages.map(({ id }) => id);
  return event?.type === "message.requeued" ? event.data.messageIds : [];
}
