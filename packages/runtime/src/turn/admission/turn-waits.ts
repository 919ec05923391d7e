import {
  type Answer,
  type Approval,
  type ApprovalAnswer,
  type CallDecision,
  type EventData,
  fail,
  type NewEvent,
  type Run,
  type ToolCallResolution,
} from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import type { StoredContinuation } from "../../store/continuations.ts";
import { isOver, toRun, type TurnRow } from "../../store/turns.ts";
import { createResultEvent, findReportedCall } from "../calls/tool-reports.ts";
import type { Recorder } from "../loop/recorder.ts";
import { type AnswerOrigin, checkAnswer, createAnswerEvent, findQuestion } from "./answers.ts";
import { createDecision, createExpiry, findAnswered } from "./decisions.ts";

/** What an answer would decide. */
export interface CheckedAnswer {
  approval: Approval;
  decisions: readonly CallDecision[];
}

interface TurnWaitsOptions {
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  /** Records an event that lets a turn go on, and resumes it if it is paused. */
  resume(turn: TurnRow, ...events: NewEvent[]): void;
}

/** Takes what the turns of an agent wait for: decisions, answers, results of deferred calls, and times. */
export class TurnWaits {
  readonly #options: TurnWaitsOptions;

  constructor(options: TurnWaitsOptions) {
    this.#options = options;
  }

  /**
   * Records the result of a deferred call, and with it what it brings about. Idempotent. The last missing result resumes
   * the turn.
   */
  async resolveToolCall(report: ToolCallResolution, createMore: () => NewEvent[] = () => []): Promise<Run> {
    const { store, blobs, recorder, resume } = this.#options;
    this.#refuseOtherWaits(report.callId);
    const call = findReportedCall(store, report.callId);
    if (call.isAnswered) return toRun(call.turn);
    const event = await createResultEvent(report, call, blobs);
    // While the output was stored, the same result may have been reported elsewhere, or the turn may have ended.
    const { turn, isAnswered } = findReportedCall(store, report.callId);
    if (isAnswered) return toRun(turn);
    const events = [event, ...createMore()];
    if (store.ledger.listDeferred(turn.id).length === 1) resume(turn, ...events);
    else recorder.record(...events);
    return toRun(store.turns.get(turn.id) ?? turn);
  }

  /** Records a person's decision about calls. Once all calls of the approval are decided, the turn goes on. */
  answerApproval(answer: ApprovalAnswer, by: string): Approval {
    const { store } = this.#options;
    const approval = findAnswered(store, answer);
    this.#resolve(approval.turn, createDecision(approval, answer, by));
    return store.approvals.get(approval.id) ?? approval;
  }

  /** Returns what an answer would decide. Throws if it is not valid, or comes too late. */
  checkAnswer(answer: ApprovalAnswer, by: string): CheckedAnswer {
    const approval = findAnswered(this.#options.store, answer);
    return { approval, decisions: createDecision(approval, answer, by).data.decisions };
  }

  /** Records an answer to a question of the agent. */
  answerQuestion(answer: Answer, by: string): Run {
    const question = findQuestion(this.#options.store, answer);
    checkAnswer(question, answer.value);
    return this.#resolve(question.runId, createAnswerEvent(question, answer.value, { by }));
  }

  /** Resolves what a call waits for, other than a question. */
  resolveContinuation(continuation: StoredContinuation, value?: unknown, origin?: AnswerOrigin): void {
    this.#resolve(continuation.runId, createAnswerEvent(continuation, value, origin));
  }

  /** Returns when the next wait ends by itself, if any does. */
  getNextDueAt(): number | undefined {
    const { approvals, continuations } = this.#options.store;
    const times = [
      ...approvals.listPending().map(({ expiresAt }) => Date.parse(expiresAt)),
      ...continuations.listOpen().flatMap(({ dueAtMs }) => dueAtMs ?? []),
    ];
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Ends waits whose time has come: approvals expire, other calls go on without an answer. */
  resolveDue(now: number): void {
    const { approvals, continuations } = this.#options.store;
    for (const approval of approvals.listPending()) {
      if (Date.parse(approval.expiresAt) <= now) this.#resolve(approval.turn, createExpiry(approval));
    }
    for (const continuation of continuations.listOpen()) {
      if ((continuation.dueAtMs ?? Infinity) <= now) this.resolveContinuation(continuation);
    }
  }

  #refuseOtherWaits(callId: string): void {
    const { approvals, continuations } = this.#options.store;
    if (approvals.listPending().some(({ calls }) => calls.some(({ id }) => id === callId))) {
      throw fail("conflict", "This call waits for a person's approval, which needs the scope approve.");
    }
    if (continuations.find(callId)) {
      throw fail("conflict", "This call waits for an answer, a webhook or a time, and takes no result from elsewhere.");
    }
  }

  #resolve(runId: string, event: NewEvent): Run {
    const { store, recorder, resume } = this.#options;
    const turn = store.turns.get(runId);
    if (!turn || isOver(turn)) throw fail("conflict", "The turn is over.");
    const isPartial =
      event.type === "hitl.resume" && !decidesAll(store.approvals.get(event.data.approvalId), event.data);
    if (isPartial) recorder.record(event);
    else resume(turn, event);
    return toRun(store.turns.get(runId) ?? turn);
  }
}

/** Returns whether a decision is the last one that an approval needs. */
function decidesAll(approval: Approval | undefined, { decisions }: EventData["hitl.resume"]): boolean {
  const decided = new Set(decisions.map(({ callId }) => callId));
  return approval?.calls.every(({ id, decision }) => decision !== undefined || decided.has(id)) ?? false;
}
