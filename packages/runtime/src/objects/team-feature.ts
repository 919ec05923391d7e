import type { AgentAddress, AgentEvent, EventData, FailureCode } from "@thinkery/sdk";
import type { AgentActivity } from "../agency/team/agent-activity.ts";
import type { Delivery, DeliveryReport } from "../agency/team/deliveries.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { RecordedEvent } from "../store/log.ts";
import { TeamTurns } from "../store/team-turns.ts";
import { getTurnUsage } from "../store/turn-usage.ts";
import { isOver, type TurnRow } from "../store/turns.ts";
import { quietTools } from "../tools/team/quiet-tools.ts";
import { createInput } from "../turn/admission/input.ts";
import type { TurnQueue } from "../turn/admission/turn-queue.ts";
import type { AgentFeature } from "./feature.ts";
import type { Registration } from "./registration.ts";
import { RepeatableWork } from "./subagents/repeatable-work.ts";
import { describeActivity } from "./team/describe-activity.ts";
import type { TurnLease } from "./turn-lease.ts";

/** What an agent calls on its agency. */
export interface TeamStub {
  settle(report: DeliveryReport): Promise<void>;
  noteActivity(agent: string, activity: AgentActivity): Promise<void>;
}

interface TeamFeatureOptions {
  address: AgentAddress;
  storage: DurableObjectStorage;
  createTable(): void;
  store: AgentStore;
  blobs: Blobs;
  registration: Registration;
  queue(): TurnQueue;
  turnLease: TurnLease;
  agency(): TeamStub;
  /** Whether the agency wants to know what the agent does. */
  isWatched(): boolean;
  updateTimer(): Promise<void>;
  waitUntil(work: Promise<unknown>): void;
}

const retryMs = 5000;
/** First the turn begins, or ends, and then others hear of it. */
const activityDelayMs = 20;
const minActivityIntervalMs = 200;

/** Errors that another attempt would meet again. */
const finalFailures: readonly FailureCode[] = ["budget", "no_model", "model_auth"];

const activityEvents: ReadonlySet<AgentEvent["type"]> = new Set([
  "request.accepted",
  "run.started",
  "run.paused",
  "run.resumed",
  "tool.started",
  "tool.output",
  "tool.error",
  "agent.completed",
  "agent.error",
  "run.canceled",
  "agent.stopped",
  "agent.resumed",
  "subagent.spawned",
  "subagent.completed",
]);

/**
 * An agent as a member of its team: it handles the messages that its agency delivers, reports how their turns ended
 * until the agency knows, and shows what it does while somebody watches.
 */
export class TeamFeature implements AgentFeature {
  readonly #options: TeamFeatureOptions;
  /** The agent's name in its agency. */
  readonly #name: string;
  /** A sub-agent is no member of the team. */
  readonly #isMember: boolean;
  readonly #turns: TeamTurns<DeliveryReport>;
  readonly #sending = new RepeatableWork(() => this.#sendReports());
  #retryAt: number | undefined;
  /** While it runs, the agency is about to be told, or was a moment ago. */
  #activityTimer: ReturnType<typeof setTimeout> | undefined;
  #hasNewActivity = false;

  constructor(options: TeamFeatureOptions) {
    this.#options = options;
    this.#name = options.address.path[0];
    this.#isMember = options.address.path.length === 1;
    this.#turns = new TeamTurns(options.storage.sql, () => options.createTable());
  }

  /** Admits the messages of a delivery as one turn. The same delivery again is the same turn. */
  async deliver({ number, text, messages, channel, from }: Delivery): Promise<{ runId: string }> {
    const { store, blobs, registration, queue, turnLease } = this.#options;
    const key = `inbox:${number}`;
    const known = store.turns.findAdmission(key);
    if (known) return this.#track(number, known.turn);
    // Before it may be refused: the agency waits to hear that the agent was started.
    this.#turns.markUsed();
    const context = { inbox: messages.join(" "), channel, from };
    const sender = { user: registration.get().agent.owner, context };
    return turnLease.acquireFor(async () => {
      const input = await createInput({ message: text, mode: "queue", idempotencyKey: key }, sender, blobs);
      const { runId } = queue().admit(input);
      // In the same event-loop turn, so that both are on disk or neither.
      return this.#track(number, runId);
    });
  }

  /** Called after every write. What ends a turn and its report are written together. */
  noteEvents(events: readonly RecordedEvent[]): void {
    if (!this.#isMember) return;
    let hasReport = false;
    let isActive = false;
    for (const { event } of events) {
      isActive ||= activityEvents.has(event.type);
      if (event.type === "agent.completed" || event.type === "agent.error" || event.type === "run.canceled")
        hasReport = this.#report(event) || hasReport;
    }
    if (hasReport) this.#sendInBackground();
    if (isActive) this.showActivityIfUsed();
  }

  wake(): void {
    if (this.#isMember && this.#turns.listReports().length > 0) this.#sendInBackground();
  }

  /** Tells the agency what the agent does, if it wants to know. Nothing is lost if that fails: it can ask. */
  showActivityIfUsed(): void {
    if (!this.#isMember || !(this.#turns.isUsed || this.#options.isWatched())) return;
    if (this.#activityTimer) {
      this.#hasNewActivity = true;
      return;
    }
    this.#activityTimer = setTimeout(() => {
      this.#hasNewActivity = false;
      this.#sendActivity();
      this.#activityTimer = setTimeout(() => {
        this.#activityTimer = undefined;
        if (this.#hasNewActivity) this.showActivityIfUsed();
      }, minActivityIntervalMs);
    }, activityDelayMs);
  }

  getActivity(): AgentActivity {
    return describeActivity(this.#options.store);
  }

  nextDueAt(): number | undefined {
    return this.#retryAt;
  }

  async runDue(): Promise<void> {
    await this.#sending.run();
  }

  halt(): void {
    clearTimeout(this.#activityTimer);
    this.#sending.halt();
  }

  #sendActivity(): void {
    const { agency, waitUntil } = this.#options;
    const sent = agency()
      .noteActivity(this.#name, this.getActivity())
      .catch((error: unknown) => console.error("an agency was not told what its agent does", error));
    waitUntil(sent);
  }

  #track(delivery: number, runId: string): { runId: string } {
    if (this.#turns.has(delivery)) return { runId };
    this.#turns.add({ delivery, runId });
    const turn = this.#options.store.turns.get(runId);
    if (turn && isOver(turn)) {
      this.#turns.setReport({ delivery, runId }, this.#createReport(delivery, turn, undefined));
      this.#sendInBackground();
    }
    return { runId };
  }

  /** Stores the report of a turn that the agency waits for. Returns whether it does. */
  #report({ type, data }: Extract<AgentEvent, { type: "agent.completed" | "agent.error" | "run.canceled" }>): boolean {
    const { runId } = data;
    const delivery = this.#turns.findDelivery(runId);
    const turn = delivery === undefined ? undefined : this.#options.store.turns.get(runId);
    if (delivery === undefined || !turn) return false;
    const reason = type === "run.canceled" ? (data as EventData["run.canceled"]).reason : undefined;
    this.#turns.setReport({ delivery, runId }, this.#createReport(delivery, turn, reason));
    return true;
  }

  #createReport(delivery: number, turn: TurnRow, cancelReason: string | undefined): DeliveryReport {
    const { store } = this.#options;
    const { inputTokens, outputTokens, costUsd } = getTurnUsage(store, turn.id);
    const isCanceled = turn.status === "canceled";
    const error = isCanceled ? "The turn was canceled." : turn.failure?.message;
    const isPutBack = cancelReason === "stopped" || cancelReason === "interrupted";
    return {
      delivery,
      agent: this.#name,
      runId: turn.id,
      status: turn.status === "completed" ? "completed" : isCanceled ? "canceled" : "error",
      ...(turn.status === "completed" || error === undefined ? {} : { error }),
      ...(turn.failure ? { code: turn.failure.code } : {}),
      ...(isCanceled || (turn.failure && finalFailures.includes(turn.failure.code)) ? { isFinal: true } : {}),
      ...(isPutBack ? { isPutBack } : {}),
      result: turn.result ?? store.messages.getLastText(turn.id),
      hasProgress: store.ledger.hasOtherResult(turn.id, quietTools),
      usage: { inputTokens, outputTokens, costUsd },
    };
  }

  #sendInBackground(): void {
    this.#options.waitUntil(this.#sending.run());
  }

  async #sendReports(): Promise<void> {
    const { agency, updateTimer } = this.#options;
    this.#retryAt = undefined;
    try {
      for (const report of this.#turns.listReports()) {
        await agency().settle(report);
        this.#turns.remove(report.delivery);
      }
    } catch (error) {
      console.error("an agency was not told how a turn ended; it is tried again", error);
      this.#retryAt = Date.now() + retryMs;
      await updateTimer();
    }
  }
}
