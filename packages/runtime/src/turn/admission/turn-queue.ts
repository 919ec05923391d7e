import {
  type Admission,
  fail,
  type NewEvent,
  type Outcome,
  type ToolReport,
  type Run,
} from "@thinkery/sdk";
import type { Boot, TurnLimits } from "@thinkery/sdk/internal";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import { isOver, runOf, type TurnRow } from "../../store/turns.ts";
import { reported, reportOf } from "../calls/tool-reports.ts";
import type { Recorder } from "../loop/recorder.ts";
import { RunningTurn } from "../loop/running-turn.ts";
import { type Ending, endOf } from "../loop/turn-end.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { failureOf } from "../turn-failed.ts";
import type { Input } from "./input.ts";
import { outcomeOf } from "./outcome.ts";
import { recover } from "./recovery.ts";

export interface QueueOptions {
  agent: string;
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  boot: Boot;
  limits: TurnLimits;
  /** May fail, where there is no such model or no key; the turn then fails with that reason. */
  resolve(turn: TurnRow): Promise<TurnDeps>;
  /** A turn has begun: somebody must look after it, should this memory be lost. */
  onBusy(): void;
  /** Nothing is done any more: no turn runs, and none is in line or it waits for a report. */
  onRest(): void;
}

const maxQueuedTurns = 1000;

/** The turns of one agent, one at a time: admission, running, cancelling, and going on after a crash. */
export class TurnQueue {
  readonly #options: QueueOptions;
  readonly #waiters = new Map<string, ((outcome: Outcome) => void)[]>();
  #running: RunningTurn | undefined;
  #busyWith: string | undefined;
  /** May a turn be open that nobody works on? Unknown after a wake; then as long as something was put in line. */
  #mayWait = true;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get busy(): boolean {
    return this.#busyWith !== undefined;
  }

  /** The one admission, for every source. Durable before its answer leaves, because the answer waits for the disk. */
  admit({ key, messages, mode, from, props }: Input): Admission {
    const { store, recorder } = this.#options;
    const before = store.turns.admitted(key);
    if (before) return { ...this.#admission(before.turn, before.message), duplicate: true };
    const current = this.#busyWith ?? (this.#mayWait ? store.turns.paused()?.id : undefined);
    const queued = current ? store.turns.queued() : 0;
    if (queued >= maxQueuedTurns) {
      throw fail("conflict", `${maxQueuedTurns} messages are waiting for this agent already. Wait, or cancel some.`);
    }
    const joined = mode === "steer" ? current : undefined;
    if (joined && props) {
      throw fail("bad_request", "A message that joins a running turn cannot bring props. Send it with the mode “queue” or “interrupt”.");
    }
    const runId = joined ?? crypto.randomUUID();
    // The turn that is interrupted is still there when this is said.
    const position = !current || joined ? 0 : mode === "interrupt" ? 1 : queued + 1;
    recorder.record({
      type: "request.accepted",
      data: { runId, idempotencyKey: key, mode, ...(joined ? { joined: true } : {}), position, from, messages, ...(props ? { props } : {}) },
    });
    if (joined) this.#running?.join();
    else if (!current && !this.#mayWait) this.#begin({ id: runId, number: store.log.last, status: "queued", step: 0, attempt: 0, strikes: 0, pausedMs: 0, ...(props ? { props } : {}) }, "admitted");
    else {
      this.#mayWait = true;
      // Ended after the new turn is in line, so that it is the next and not one that waited longer.
      if (mode === "interrupt" && current) this.#end(current, { status: "canceled", reason: "interrupted" });
      else this.wake();
    }
    return this.#admission(runId, messages.at(-1)?.id ?? "");
  }

  /** Ends the running turn, or the one that is named, if it is not over. */
  cancel(runId: string | undefined, reason: string): TurnRow | undefined {
    const { store } = this.#options;
    const turn = runId ? store.turns.get(runId) : store.turns.next();
    if (turn && !isOver(turn)) this.#end(turn.id, { status: "canceled", reason });
    return turn && store.turns.get(turn.id);
  }

  /** Takes up whatever there is to do. Safe to call at any time; the only way a turn starts or goes on. */
  wake(): void {
    if (this.#busyWith || !this.#mayWait) return;
    const turn = this.#options.store.turns.next();
    if (!turn) this.#mayWait = false;
    // One that waits goes on when it is reported to, and the others after it.
    else if (turn.status !== "paused") this.#begin(turn, turn.status === "running" ? "recovered" : "waited");
  }

  /** The answer of a call that was deferred. Told twice, it is the same; the last one lets its turn go on. */
  async report(report: ToolReport): Promise<Run> {
    const { store, blobs, recorder, boot } = this.#options;
    const found = reportOf(store, report.callId);
    if (found.answered) return runOf(found.turn);
    const event = await reported(report, found, blobs);
    // While its output was stored, another may have reported the same, or the turn may have ended.
    const { turn, answered } = reportOf(store, report.callId);
    if (answered) return runOf(turn);
    if (turn.status === "paused" && store.ledger.deferred(turn.id).length === 1) {
      recorder.record(event, { type: "run.resumed", data: { runId: turn.id, reason: "reported", attempt: 0, strikes: 0, boot: boot.id } });
      this.#begin(turn, "reported");
    } else recorder.record(event);
    return runOf(store.turns.get(turn.id) ?? turn);
  }

  /** Lets go of the running turn: whatever it still does is heard by nobody. */
  halt(): void {
    this.#running?.abandon();
    this.#busyWith = undefined;
    this.#running = undefined;
    this.#mayWait = true;
  }

  /** Every now and then while a turn runs. */
  beat(now: number): void {
    const runId = this.#busyWith;
    const failure = runId ? this.#running?.beat(now) : undefined;
    if (runId && failure) this.#end(runId, { status: "error", failure });
  }

  /** Resolves with how the turn ended, now or later. */
  async whenOver(runId: string): Promise<Outcome> {
    const turn = this.#options.store.turns.get(runId);
    if (turn && isOver(turn)) return outcomeOf(this.#options.store, this.#options.agent, turn);
    return new Promise((resolve) => {
      this.#waiters.set(runId, [...(this.#waiters.get(runId) ?? []), resolve]);
    });
  }

  #begin(turn: TurnRow, from: "admitted" | "waited" | "recovered" | "reported"): void {
    this.#busyWith = turn.id;
    this.#options.onBusy();
    void this.#run(turn, from);
  }

  async #run(turn: TurnRow, from: "admitted" | "waited" | "recovered" | "reported"): Promise<void> {
    const { agent, store, blobs, recorder, boot, limits } = this.#options;
    const runId = turn.id;
    const again = from === "recovered" || from === "reported" ? from : undefined;
    try {
      if (again === "recovered") {
        const { events, failure } = recover(turn, boot, limits);
        recorder.record(...events);
        if (failure) return this.#end(runId, { status: "error", failure });
      }
      // After a crash it may have been its own middleware that never came back. So that it is not begun for ever, it
      // is begun, and that is on the disk, before anything of its own runs.
      const early = from === "waited" && boot.after === "crash";
      if (early) recorder.record(...startOf(runId, "", boot));
      if (early || again) await new Promise((resolve) => setTimeout(resolve, 0));
      const deps = await this.#options.resolve(turn).catch((error: unknown) => {
        if (!again && store.turns.get(runId)?.status === "queued") recorder.record(...startOf(runId, "", boot));
        throw error;
      });
      // It may have been canceled meanwhile.
      if (this.#busyWith !== runId) return;
      const opening = again || early ? [] : startOf(runId, deps.modelId, boot);
      const running = new RunningTurn({ agent, runId, store, blobs, recorder, deps, opening });
      this.#running = running;
      if (from === "waited") await running.settle();
      if (again) await running.resume(again);
      const outcome = await deps.driver.run(running);
      // After its end a turn's last words are not news.
      if (this.#busyWith !== runId) return;
      if (outcome === "completed") this.#end(runId, { status: "completed" });
      else this.#pause(running);
    } catch (error) {
      // After its end a turn's own complaints are not news.
      if (this.#busyWith !== runId) return;
      try {
        this.#end(runId, { status: "error", failure: failureOf(error) });
      } catch (again) {
        // Not even the outcome can be written (the disk is full, say): the turn is taken up when there is room.
        console.error("a turn could not be ended", again);
        this.halt();
      }
    }
  }

  /** Nothing is held open while it waits: this memory may be lost meanwhile. */
  #pause(running: RunningTurn): void {
    running.pause();
    this.#busyWith = undefined;
    this.#running = undefined;
    this.#mayWait = true;
    this.#options.onRest();
  }

  #end(runId: string, ending: Ending): void {
    const { store, recorder, agent } = this.#options;
    // What had joined it may be in line now.
    if (ending.status !== "completed") this.#mayWait = true;
    if (this.#busyWith === runId && this.#running) this.#running.end(ending);
    else if (ending.status !== "completed") recorder.record(...endOf(store, runId, ending));
    if (this.#busyWith === runId) {
      this.#busyWith = undefined;
      this.#running = undefined;
    }
    const waiters = this.#waiters.get(runId);
    const turn = waiters && store.turns.get(runId);
    this.#waiters.delete(runId);
    if (turn) for (const tell of waiters) tell(outcomeOf(store, agent, turn));
    this.wake();
    if (!this.#busyWith) this.#options.onRest();
  }

  #admission(runId: string, messageId: string): Admission {
    // One that is first in line starts before this answer is read.
    if (this.#busyWith === runId) return { runId, messageId, status: "running", position: 0 };
    const { turns } = this.#options.store;
    const turn = turns.get(runId);
    return { runId, messageId, status: turn ? runOf(turn).status : "registered", position: turns.position(runId) };
  }
}

function startOf(runId: string, model: string, boot: Boot): NewEvent[] {
  return [
    { type: "run.started", data: { runId, model, boot: boot.id } },
    { type: "agent.started", data: { runId } },
  ];
}
