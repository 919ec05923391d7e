import { type Admission, fail, type NewEvent, type Outcome, type ToolReport, type Run } from "@thinkery/sdk";
import type { Boot, TurnLimits } from "@thinkery/sdk/internal";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import { isOver, toRun, type TurnRow } from "../../store/turns.ts";
import { createResultEvent, findReportedCall } from "../calls/tool-reports.ts";
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
  /** May fail, where there is no such model or no key; the turn then fails with that reason. */
  resolve(turn: TurnRow): Promise<TurnDeps>;
  /** A turn has begun: somebody must look after it, should this memory be lost. */
  onBusy(): void;
  /** Nothing is done any more: no turn runs, and none is in line or it waits for a report. */
  onIdle(): void;
}

const maxQueuedTurns = 1000;

/** The turns of one agent, one at a time: admission, running, cancelling, and going on after a crash. */
export class TurnQueue {
  readonly #options: TurnQueueOptions;
  readonly #waiters = new Map<string, ((outcome: Outcome) => void)[]>();
  #running: RunningTurn | undefined;
  #currentRunId: string | undefined;
  /** May a turn be open that nobody works on? Unknown after a wake; then as long as something was put in line. */
  #mayHaveOpenTurns = true;

  constructor(options: TurnQueueOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#currentRunId !== undefined;
  }

  /** The one admission, for every source. Durable before its answer leaves, because the answer waits for the disk. */
  admit({ key, messages, mode, from, props }: Input): Admission {
    const { store, recorder } = this.#options;
    const before = store.turns.findAdmission(key);
    if (before) return { ...this.#createAdmission(before.turn, before.message), duplicate: true };
    const current = this.#currentRunId ?? (this.#mayHaveOpenTurns ? store.turns.getPaused()?.id : undefined);
    const queued = current ? store.turns.countQueued() : 0;
    if (queued >= maxQueuedTurns) {
      throw fail("conflict", `${maxQueuedTurns} messages are waiting for this agent already. Wait, or cancel some.`);
    }
    const joined = mode === "steer" ? current : undefined;
    if (joined && props) {
      throw fail(
        "bad_request",
        "A message that joins a running turn cannot bring props. Send it with the mode “queue” or “interrupt”.",
      );
    }
    const runId = joined ?? crypto.randomUUID();
    // The turn that is interrupted is still there when this is said.
    const position = !current || joined ? 0 : mode === "interrupt" ? 1 : queued + 1;
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
    if (joined) this.#running?.join();
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
      // Ended after the new turn is in line, so that it is the next and not one that waited longer.
      if (mode === "interrupt" && current) this.#end(current, { status: "canceled", reason: "interrupted" });
      else this.wake();
    }
    return this.#createAdmission(runId, messages.at(-1)?.id ?? "");
  }

  /** Ends the running turn, or the one that is named, if it is not over. */
  cancel(runId: string | undefined, reason: string): TurnRow | undefined {
    const { store } = this.#options;
    const turn = runId ? store.turns.get(runId) : store.turns.getNext();
    if (turn && !isOver(turn)) this.#end(turn.id, { status: "canceled", reason });
    return turn && store.turns.get(turn.id);
  }

  /** Takes up whatever there is to do. Safe to call at any time; the only way a turn starts or goes on. */
  wake(): void {
    if (this.#currentRunId || !this.#mayHaveOpenTurns) return;
    const turn = this.#options.store.turns.getNext();
    if (!turn) this.#mayHaveOpenTurns = false;
    // One that waits goes on when it is reported to, and the others after it.
    else if (turn.status !== "paused") this.#begin(turn, turn.status === "running" ? "recovered" : "waited");
  }

  /** The answer of a call that was deferred. Told twice, it is the same; the last one lets its turn go on. */
  async resolveToolCall(report: ToolReport): Promise<Run> {
    const { store, blobs, recorder, boot } = this.#options;
    const found = findReportedCall(store, report.callId);
    if (found.isAnswered) return toRun(found.turn);
    const event = await createResultEvent(report, found, blobs);
    // While its output was stored, another may have reported the same, or the turn may have ended.
    const { turn, isAnswered } = findReportedCall(store, report.callId);
    if (isAnswered) return toRun(turn);
    if (turn.status === "paused" && store.ledger.listDeferred(turn.id).length === 1) {
      recorder.record(event, {
        type: "run.resumed",
        data: { runId: turn.id, reason: "resolved", attempt: 0, crashes: 0, boot: boot.id },
      });
      this.#begin(turn, "resolved");
    } else recorder.record(event);
    return toRun(store.turns.get(turn.id) ?? turn);
  }

  /** Lets go of the running turn: whatever it still does is heard by nobody. */
  halt(): void {
    this.#running?.abandon();
    this.#currentRunId = undefined;
    this.#running = undefined;
    this.#mayHaveOpenTurns = true;
  }

  /** Every now and then while a turn runs. */
  checkProgress(now: number): void {
    const runId = this.#currentRunId;
    const failure = runId ? this.#running?.checkProgress(now) : undefined;
    if (runId && failure) this.#end(runId, { status: "error", failure });
  }

  /** Resolves with how the turn ended, now or later. */
  async waitForOutcome(runId: string): Promise<Outcome> {
    const turn = this.#options.store.turns.get(runId);
    if (turn && isOver(turn)) return createOutcome(this.#options.store, this.#options.agent, turn);
    return new Promise((resolve) => {
      this.#waiters.set(runId, [...(this.#waiters.get(runId) ?? []), resolve]);
    });
  }

  #begin(turn: TurnRow, from: "admitted" | "waited" | "recovered" | "resolved"): void {
    this.#currentRunId = turn.id;
    this.#options.onBusy();
    void this.#run(turn, from);
  }

  async #run(turn: TurnRow, from: "admitted" | "waited" | "recovered" | "resolved"): Promise<void> {
    const { agent, store, blobs, recorder, boot, limits } = this.#options;
    const runId = turn.id;
    const again = from === "recovered" || from === "resolved" ? from : undefined;
    try {
      if (again === "recovered") {
        const { events, failure } = recover(turn, boot, limits);
        recorder.record(...events);
        if (failure) return this.#end(runId, { status: "error", failure });
      }
      // After a crash it may have been its own middleware that never came back. So that it is not begun for ever, it
      // is begun, and that is on the disk, before anything of its own runs.
      const startsEarly = from === "waited" && boot.after === "crash";
      if (startsEarly) recorder.record(...createStartEvents(runId, "", boot));
      if (startsEarly || again) await new Promise((resolve) => setTimeout(resolve, 0));
      const deps = await this.#options.resolve(turn).catch((error: unknown) => {
        if (!again && store.turns.get(runId)?.status === "queued")
          recorder.record(...createStartEvents(runId, "", boot));
        throw error;
      });
      // It may have been canceled meanwhile.
      if (this.#currentRunId !== runId) return;
      const startEvents = again || startsEarly ? [] : createStartEvents(runId, deps.modelId, boot);
      const running = new RunningTurn({ agent, runId, store, blobs, recorder, deps, startEvents });
      this.#running = running;
      if (from === "waited") await running.flush();
      if (again) await running.resume(again);
      const outcome = await deps.driver.run(running);
      // After its end a turn's last words are not news.
      if (this.#currentRunId !== runId) return;
      if (outcome === "completed") this.#end(runId, { status: "completed" });
      else this.#pause(running);
    } catch (error) {
      // After its end a turn's own complaints are not news.
      if (this.#currentRunId !== runId) return;
      try {
        this.#end(runId, { status: "error", failure: toFailure(error) });
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
    this.#currentRunId = undefined;
    this.#running = undefined;
    this.#mayHaveOpenTurns = true;
    this.#options.onIdle();
  }

  #end(runId: string, ending: Ending): void {
    const { store, recorder, agent } = this.#options;
    // What had joined it may be in line now.
    if (ending.status !== "completed") this.#mayHaveOpenTurns = true;
    if (this.#currentRunId === runId && this.#running) this.#running.end(ending);
    else if (ending.status !== "completed") recorder.record(...createEndEvents(store, runId, ending));
    if (this.#currentRunId === runId) {
      this.#currentRunId = undefined;
      this.#running = undefined;
    }
    const waiters = this.#waiters.get(runId);
    const turn = waiters && store.turns.get(runId);
    this.#waiters.delete(runId);
    if (turn) for (const tell of waiters) tell(createOutcome(store, agent, turn));
    this.wake();
    if (!this.#currentRunId) this.#options.onIdle();
  }

  #createAdmission(runId: string, messageId: string): Admission {
    // One that is first in line starts before this answer is read.
    if (this.#currentRunId === runId) return { runId, messageId, status: "running", position: 0 };
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
