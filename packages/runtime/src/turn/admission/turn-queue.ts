import { type Admission, fail, type Failure, type NewEvent, type Outcome, type PauseReason } from "@thinkery/sdk";
import type { Boot, TurnLimits } from "@thinkery/sdk/internal";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import { isOver, isWaitingForPerson, toRun, type TurnRow } from "../../store/turns.ts";
import type { Reservation } from "../../store/usage-totals.ts";
import type { Recorder } from "../loop/recorder.ts";
import { RunningTurn } from "../loop/running-turn.ts";
import { type Ending, createEndEvents } from "../loop/turn-end.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { toFailure } from "../turn-error.ts";
import type { Input } from "./input.ts";
import { createOutcome } from "./outcome.ts";
import { recover } from "./recovery.ts";

export interface TurnQueueOptions {
  agent: string;
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  boot: Boot;
  limits: TurnLimits;
  /** May reject, for example if a model does not exist or its key is missing; the turn then fails with that reason. */
  resolve(turn: TurnRow): Promise<TurnDeps>;
  /** Called when a turn begins: something must wake this object if its memory is lost. */
  onBusy(): void;
  /** Returns the events that end what depends on a turn which ends early, such as its sub-agents. */
  createEndEvents(runId: string): NewEvent[];
  /** Called when a turn is over and its outcome is recorded. */
  onTurnEnd(runId: string): void;
  /** Called when a turn begins to wait. */
  onPaused(reason: PauseReason): void;
  /** Called when the agent was stopped. */
  onStopped(): void;
  /** Whether a message that has to wait joins the one that waits already, so that both are handled together. */
  batches(): boolean;
  /** Turns that may run at the same time. */
  getConcurrency(): number;
  /** Called when no turn runs: none is queued, or the current one waits for a report. */
  onIdle(): void;
}

const maxQueuedTurns = 1000;

/**
 * Runs the turns of one agent: admission, cancellation, and recovery after a crash. One at a time, unless its code
 * handles several messages at once.
 */
export class TurnQueue {
  readonly #options: TurnQueueOptions;
  readonly #waiters = new Map<string, ((outcome: Outcome | undefined) => void)[]>();
  /** The turns that run, oldest first; undefined until what they run with is resolved. */
  readonly #running = new Map<string, RunningTurn | undefined>();
  /** Whether there may be open turns that are not running. Assumed after a wake, and once something was queued. */
  #mayHaveOpenTurns = true;

  constructor(options: TurnQueueOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Admits a message from any source. It is durable before the response leaves, which waits for the disk. */
  admit({ key, messages, mode, from, props }: Input): Admission {
    const { store, recorder } = this.#options;
    const known = store.turns.findAdmission(key);
    if (known) return { ...this.#createAdmission(known.turn, known.message), duplicate: true };
    if (store.facts.getStoppedBy() !== undefined) {
      throw fail("conflict", "The agent is stopped and accepts no messages. Start it first: `thinkery start <agent>`.");
    }
    const current =
      [...this.#running.keys()].at(-1) ?? (this.#mayHaveOpenTurns ? store.turns.getPaused()?.id : undefined);
    const queued = current ? store.turns.countQueued() : 0;
    if (queued >= maxQueuedTurns) {
      throw fail("conflict", `${maxQueuedTurns} messages are already queued for this agent. Wait, or cancel some.`);
    }
    const joined = mode === "steer" ? current : mode === "queue" && !props ? this.#findBatch(current) : undefined;
    if (joined && props) {
      throw fail(
        "bad_request",
        "A message that joins a running turn cannot have props. Send it with mode “queue” or “interrupt”.",
      );
    }
    const runId = joined ?? crypto.randomUUID();
    // An interrupted turn still counts at this point.
    const waiting = joined !== undefined && joined !== current ? store.turns.getPosition(joined) : 0;
    const position = !current || joined ? waiting : mode === "interrupt" ? 1 : queued + 1;
    recorder.record({
      type: "request.accepted",
      data: {
        runId,
        idempotencyKey: key,
        mode,
        ...(joined ? { joined: true } : {}),
        position,
        from,
        messages,
        ...(props ? { props } : {}),
      },
    });
    if (joined && this.#running.has(joined)) this.#running.get(joined)?.join();
    else if (joined) this.#mayHaveOpenTurns = true;
    else if (!current && !this.#mayHaveOpenTurns)
      this.#begin(
        {
          id: runId,
          number: store.log.last,
          status: "queued",
          step: 0,
          attempt: 0,
          crashCount: 0,
          pausedMs: 0,
          ...(props ? { props } : {}),
        },
        "admitted",
      );
    else {
      this.#mayHaveOpenTurns = true;
      // Ended only once the new turn is queued, so that this one runs next and not one that has waited longer.
      if (mode === "interrupt" && current) this.#endAll({ status: "canceled", reason: "interrupted" }, current);
      else this.wake();
    }
    return this.#createAdmission(runId, messages.at(-1)?.id ?? "");
  }

  /** Returns the queued turn that another message joins, if the agent handles waiting messages together. */
  #findBatch(current: string | undefined): string | undefined {
    if (!current || !this.#options.batches()) return undefined;
    const last = this.#options.store.turns.getLastQueued();
    return last && !last.props ? last.id : undefined;
  }

  /** Cancels the given turn, or the current one by default, unless it is over. */
  cancel(runId: string | undefined, reason: string): TurnRow | undefined {
    const { store } = this.#options;
    const turn = runId ? store.turns.get(runId) : store.turns.getNext();
    if (turn && !isOver(turn)) this.#end(turn.id, { status: "canceled", reason });
    return turn && store.turns.get(turn.id);
  }

  /** Ends a turn with a failure, unless it is over. */
  fail(runId: string, failure: Failure): void {
    const turn = this.#options.store.turns.get(runId);
    if (turn && !isOver(turn)) this.#end(runId, { status: "error", failure });
  }

  /** Cancels the current turn and accepts no input until `start`. Queued turns wait. */
  stop(by: string): void {
    const { store, recorder } = this.#options;
    if (store.facts.getStoppedBy() !== undefined) return;
    recorder.record({ type: "agent.stopped", data: { by } });
    this.#mayHaveOpenTurns = true;
    if (this.isBusy) this.#endAll({ status: "canceled", reason: "stopped" });
    else this.wake();
    this.#options.onStopped();
  }

  /** Accepts input again after `stop`, and runs what was queued. */
  start(by: string): void {
    const { store, recorder } = this.#options;
    if (store.facts.getStoppedBy() === undefined) return;
    recorder.record({ type: "agent.resumed", data: { by } });
    this.#mayHaveOpenTurns = true;
    this.wake();
  }

  /** Starts or resumes the next turns, if there are any. Safe to call at any time. */
  wake(): void {
    const { store, getConcurrency } = this.#options;
    while (this.#mayHaveOpenTurns && this.#running.size < getConcurrency()) {
      const turn = store.turns.getNext([...this.#running.keys()]);
      if (!turn) {
        this.#mayHaveOpenTurns = this.isBusy;
        return;
      }
      if (store.facts.getStoppedBy() !== undefined) {
        // The host may have died between the stop and the end of the turn.
        if (turn.status !== "queued") this.#end(turn.id, { status: "canceled", reason: "stopped" });
        return;
      }
      // A paused turn resumes when its last result is reported; the others run after it.
      if (turn.status === "paused") return;
      this.#begin(turn, turn.status === "running" ? "recovered" : "waited");
    }
  }

  /** Records what lets a turn go on, and resumes it if it is paused. A running turn notices by itself. */
  resume(turn: TurnRow, ...events: NewEvent[]): void {
    const { recorder, boot } = this.#options;
    if (turn.status !== "paused") return recorder.record(...events);
    recorder.record(...events, {
      type: "run.resumed",
      data: { runId: turn.id, reason: "resolved", attempt: 0, crashes: 0, boot: boot.id },
    });
    this.#begin(turn, "resolved");
  }

  /** Abandons the running turn: whatever it still does is ignored. */
  halt(): void {
    for (const running of this.#running.values()) running?.abandon();
    this.#running.clear();
    this.#mayHaveOpenTurns = true;
  }

  /** Called periodically while a turn runs; ends it if its time is up or it has stalled. */
  checkProgress(now: number): void {
    for (const [runId, running] of this.#running) {
      const failure = running?.checkProgress(now);
      if (failure) this.#end(runId, { status: "error", failure });
    }
  }

  /** Returns what the running turn has reserved for its calls in progress. Everything it spent is recorded then. */
  measureReserved(): { runId: string; reserved: Reservation } | undefined {
    const [first] = [...this.#running.values()].filter((running) => running !== undefined);
    return first && { runId: first.runId, reserved: first.budget.measureReserved() };
  }

  /** Resolves once the turn is over, or with undefined if it, or the one before it, waits for a person. */
  async waitForOutcome(runId: string): Promise<Outcome | undefined> {
    const turn = this.#options.store.turns.get(runId);
    if (turn && isOver(turn)) return createOutcome(this.#options.store, this.#options.agent, turn);
    const paused = this.#options.store.turns.getPaused();
    if (paused && isWaitingForPerson(paused)) return undefined;
    return new Promise((resolve) => {
      this.#waiters.set(runId, [...(this.#waiters.get(runId) ?? []), resolve]);
    });
  }

  #begin(turn: TurnRow, from: "admitted" | "waited" | "recovered" | "resolved"): void {
    this.#running.set(turn.id, undefined);
    this.#options.onBusy();
    void this.#run(turn, from);
  }

  async #run(turn: TurnRow, from: "admitted" | "waited" | "recovered" | "resolved"): Promise<void> {
    const { agent, store, blobs, recorder, boot, limits } = this.#options;
    const runId = turn.id;
    const resumed = from === "recovered" || from === "resolved" ? from : undefined;
    try {
      if (resumed === "recovered") {
        const { events, failure } = recover(turn, boot, limits);
        recorder.record(...events);
        if (failure) return this.#end(runId, { status: "error", failure });
      }
      // The crash may have been caused by this turn's own middleware. Its start is written to disk before any of its
      // code runs, so that attempts are counted and it is not started forever.
      const startsEarly = from === "waited" && boot.after === "crash";
      if (startsEarly) recorder.record(...createStartEvents(runId, "", boot));
      if (startsEarly || resumed) await new Promise((resolve) => setTimeout(resolve, 0));
      const deps = await this.#options.resolve(turn).catch((error: unknown) => {
        if (!resumed && store.turns.get(runId)?.status === "queued")
          recorder.record(...createStartEvents(runId, "", boot));
        throw error;
      });
      // It may have been canceled in the meantime.
      if (!this.#running.has(runId)) return;
      const startEvents = resumed || startsEarly ? [] : createStartEvents(runId, deps.modelId, boot);
      const running = new RunningTurn({
        agent,
        runId,
        store,
        blobs,
        recorder,
        deps,
        startEvents,
        createEndEvents: this.#options.createEndEvents,
      });
      this.#running.set(runId, running);
      if (from === "waited") await running.flush();
      if (resumed) await running.resume(resumed);
      const outcome = await deps.driver.run(running);
      // A turn that has ended meanwhile already has its outcome.
      if (this.#running.get(runId) !== running) return;
      if (outcome === "completed") this.#end(runId, { status: "completed" });
      else this.#pause(running);
    } catch (error) {
      // Errors of a turn that has ended meanwhile are irrelevant.
      if (!this.#running.has(runId)) return;
      try {
        this.#end(runId, { status: "error", failure: toFailure(error) });
      } catch (endError) {
        // Not even the outcome can be written, for example because the disk is full. The turn is resumed later.
        console.error("failed to end a turn", endError);
        this.halt();
      }
    }
  }

  /** Keeps nothing in memory while the turn waits: the object may be evicted meanwhile. */
  #pause(running: RunningTurn): void {
    const reason = running.pause();
    this.#running.delete(running.runId);
    this.#mayHaveOpenTurns = true;
    this.#options.onPaused(reason);
    // Queued turns wait for the person, too.
    if (reason === "hitl" || reason === "input") {
      for (const runId of this.#waiters.keys()) if (!this.#running.has(runId)) this.#notifyWaiters(runId, undefined);
    }
    if (!this.isBusy) this.#options.onIdle();
  }

  #notifyWaiters(runId: string, outcome: Outcome | undefined): void {
    const waiters = this.#waiters.get(runId) ?? [];
    this.#waiters.delete(runId);
    for (const resolve of waiters) resolve(outcome);
  }

  #end(runId: string, ending: Ending): void {
    const { store, recorder, agent } = this.#options;
    // Messages that had joined it may be queued as a new turn now.
    if (ending.status !== "completed") this.#mayHaveOpenTurns = true;
    const running = this.#running.get(runId);
    if (running) running.end(ending);
    else if (ending.status !== "completed")
      recorder.record(...createEndEvents(store, runId, ending), ...this.#options.createEndEvents(runId));
    this.#running.delete(runId);
    const turn = this.#waiters.has(runId) ? store.turns.get(runId) : undefined;
    if (turn) this.#notifyWaiters(runId, createOutcome(store, agent, turn));
    this.#options.onTurnEnd(runId);
    this.wake();
    if (!this.isBusy) this.#options.onIdle();
  }

  /** Ends all turns that run; `other` may be one that waits. */
  #endAll(ending: Exclude<Ending, { status: "completed" }>, other?: string): void {
    for (const runId of new Set([...this.#running.keys(), ...(other === undefined ? [] : [other])]))
      this.#end(runId, ending);
  }

  #createAdmission(runId: string, messageId: string): Admission {
    // A turn that is first in the queue starts before this response is read.
    if (this.#running.has(runId)) return { runId, messageId, status: "running", position: 0 };
    const { turns } = this.#options.store;
    const turn = turns.get(runId);
    return { runId, messageId, status: turn ? toRun(turn).status : "registered", position: turns.getPosition(runId) };
  }
}

function createStartEvents(runId: string, model: string, boot: Boot): NewEvent[] {
  return [
    { type: "run.started", data: { runId, model, boot: boot.id } },
    { type: "agent.started", data: { runId } },
  ];
}
