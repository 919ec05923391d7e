import {
  type AgentState,
  type Approval,
  type ApprovalAnswer,
  type EventData,
  fail,
  formatAsk,
  type Question,
} from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import { type StoredContinuation, toContinuation } from "../store/continuations.ts";
import type { RecordedEvent } from "../store/log.ts";
import type { NewGrant } from "../store/pending-grants.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import type { CheckedAnswer, TurnWaits } from "../turn/admission/turn-waits.ts";
import { parseInput } from "../turn/calls/parse-input.ts";
import type { InboxItem } from "../user/inbox.ts";
import type { ExportLists } from "./agent-export.ts";
import type { DueTimer } from "./due-timer.ts";
import type { AgentFeature } from "./feature.ts";
import { shortenApproval } from "./shorten-approval.ts";
import { RepeatableWork } from "./subagents/repeatable-work.ts";

interface WaitsOptions {
  name: string;
  store: AgentStore;
  waits: TurnWaits;
  timer(): DueTimer;
  /** Sends what a person can answer to the inbox of the agent's user. */
  send(items: InboxItem[]): Promise<void>;
  /** Returns the agent's tools. */
  resolveTools(): Promise<Toolbox>;
  /** Stores grants for calls like those that were approved. */
  addGrants(grants: NewGrant[]): Promise<void>;
  waitUntil(work: Promise<unknown>): void;
}

/** Answered approvals that the inbox shows, besides those that are pending. */
const maxAnswered = 20;
const retryMs = 5000;

const waitEvents: ReadonlySet<string> = new Set([
  "hitl.interrupt",
  "hitl.resume",
  "continuation.created",
  "continuation.resolved",
  "history.cleared",
]);
const endEvents: ReadonlySet<string> = new Set(["agent.completed", "agent.error", "run.canceled"]);

/** What an agent's turns wait for: tells the inbox of its user, and ends waits whose time has come. */
export class WaitsFeature implements AgentFeature {
  readonly #options: WaitsOptions;
  readonly #sending = new RepeatableWork(() => this.#send());
  #retryAt: number | undefined;
  /** Whether the inbox shows something of this agent as pending. */
  #hasListed: boolean | undefined;

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  /** Called after every write: what changes here must reach the inbox and the timer. */
  noteEvents(events: readonly RecordedEvent[]): void {
    if (!events.some(({ event: { type } }) => waitEvents.has(type) || (endEvents.has(type) && this.#isListed())))
      return;
    const { inboxSync, pendingGrants } = this.#options.store;
    for (const { event } of events) {
      // In one transaction with the decision, so that there are both or neither.
      if (event.type === "hitl.resume") pendingGrants.add(this.#createGrants(event.data));
    }
    this.#hasListed = this.#listItems().some(({ isPending }) => isPending);
    inboxSync.begin(this.#hasListed);
    this.#sendInBackground();
    this.#updateTimer();
  }

  wake(): void {
    // What was sent before the memory was lost may not have arrived.
    if (this.#options.store.inboxSync.isPending) this.#sendInBackground();
  }

  exportLists(): ExportLists {
    const { approvals } = this.#options.store;
    return approvals.list(undefined, 1).length > 0 ? { approvals: approvals.readPages() } : {};
  }

  nextDueAt(): number | undefined {
    const dueAt = this.#options.waits.getNextDueAt();
    if (this.#retryAt === undefined) return dueAt;
    return Math.min(dueAt ?? Infinity, this.#retryAt);
  }

  async runDue(now: number): Promise<void> {
    this.#options.waits.resolveDue(now);
    if (this.#retryAt !== undefined && this.#retryAt <= now) await this.#sending.run();
  }

  halt(): void {
    this.#sending.halt();
  }

  /** Records a person's decision. What is remembered of it holds when this resolves, unless the agency cannot be reached. */
  async answer(answer: ApprovalAnswer, by: string): Promise<Approval> {
    const { waits } = this.#options;
    await this.#checkInputs(waits.checkAnswer(answer, by));
    const approval = waits.answerApproval(answer, by);
    await this.sendGrants();
    return approval;
  }

  /** Sends the agency what was approved for good. Awaited by turns before they read their rules. Repeated if it fails. */
  async sendGrants(): Promise<boolean> {
    const { store, addGrants } = this.#options;
    try {
      const grants = store.pendingGrants.list();
      if (grants.length > 0) await addGrants(grants);
      store.pendingGrants.remove(grants);
      return true;
    } catch (error) {
      console.error("what was approved for good could not be stored; it is tried again", error);
      return false;
    }
  }

  /** Throws if an input that a person wrote does not match its tool's schema, so that the approval stays pending. */
  async #checkInputs({ approval, decisions }: CheckedAnswer): Promise<void> {
    const edited = decisions.filter(({ input }) => input !== undefined);
    if (edited.length === 0) return;
    const tools = await this.#options.resolveTools();
    for (const { callId, input } of edited) {
      const call = approval.calls.find(({ id }) => id === callId);
      // A tool that only this turn has is checked when the call runs.
      const tool = call && tools.find(call.name);
      const parsed = tool ? parseInput(tool, input) : undefined;
      if (!parsed || !("issues" in parsed)) continue;
      const path = ["decisions", decisions.findIndex((decision) => decision.callId === callId), "input"];
      throw fail("bad_request", `Invalid input for ${call?.name}. ${parsed.issues}`, {
        issues: [{ path, message: parsed.issues }],
      });
    }
  }

  /** Calls with another input, or a result in the tool's place, are approved once: nobody saw what would be remembered. */
  #createGrants({ approvalId, decisions, remember = "once", by = "" }: EventData["hitl.resume"]): NewGrant[] {
    if (remember === "once") return [];
    const { store, name } = this.#options;
    const calls = new Map(store.approvals.get(approvalId)?.calls.map((call) => [call.id, call]));
    const agent = remember === "agent" ? { agent: name } : {};
    return decisions.flatMap(({ callId, approved, input, result }) => {
      const call = calls.get(callId);
      if (!call || !approved || input !== undefined || result !== undefined) return [];
      const match = call.remember === undefined ? {} : { match: call.remember };
      return [{ id: `${approvalId}.${callId}`, tool: call.name, ...match, ...agent, by }];
    });
  }

  #isListed(): boolean {
    this.#hasListed ??= this.#options.store.inboxSync.hasPendingItems;
    return this.#hasListed;
  }

  #sendInBackground(): void {
    this.#options.waitUntil(this.#sending.run());
  }

  async #send(): Promise<void> {
    const { store, send } = this.#options;
    const items = this.#listItems();
    this.#retryAt = undefined;
    try {
      if (!(await this.sendGrants())) throw new Error("The agency could not be reached.");
      await send(items);
      // What changed meanwhile is sent by another run.
      if (JSON.stringify(this.#listItems()) === JSON.stringify(items)) store.inboxSync.finish();
    } catch (error) {
      console.error("the inbox could not be updated; it is tried again", error);
      this.#retryAt = Date.now() + retryMs;
      this.#updateTimer();
    }
  }

  #updateTimer(): void {
    const { timer, waitUntil } = this.#options;
    const update = timer()
      .update()
      .catch((error: unknown) => console.error("the end of a wait could not be scheduled", error));
    waitUntil(update);
  }

  #listItems(): InboxItem[] {
    const { store, name } = this.#options;
    const pending = store.approvals.listPending();
    const answered = store.approvals.list(undefined, maxAnswered).filter(({ status }) => status !== "pending");
    return [
      ...[...pending, ...answered].map((approval) => toApprovalItem(approval)),
      ...store.continuations
        .listOpen()
        .filter(({ kind }) => kind === "input")
        .map((question) => toQuestionItem(question, name)),
    ];
  }
}

/** What an agent waits for a person to answer. */
export interface PersonWaits {
  approvals: Approval[];
  questions: Question[];
}

/** Returns what an agent waits for a person to answer, with long inputs cut. */
export function listPersonWaits({ approvals, continuations }: AgentStore, agent: string): PersonWaits {
  return {
    approvals: approvals.listPending().map(shortenApproval),
    questions: continuations
      .listOpen()
      .filter(({ kind }) => kind === "input")
      .map((question) => toQuestion(question, agent)),
  };
}

/** Returns what clients are shown first: an approval, else the oldest wait. */
export function findPendingContinuation({ approvals, continuations }: AgentStore): AgentState["pendingContinuation"] {
  const [approval] = approvals.listPending();
  if (approval) {
    const { id, turn, createdAt, expiresAt: dueAt, calls } = approval;
    return { id, kind: "approval", prompt: formatAsk(calls), turn, createdAt, dueAt };
  }
  const open = continuations.listOpen();
  const first = open.find(({ kind }) => kind === "input") ?? open[0];
  return first && toContinuation(first);
}

function toApprovalItem(approval: Approval): InboxItem {
  const { id, status, createdAt } = approval;
  return { id, kind: "approval", isPending: status === "pending", status, createdAt, value: shortenApproval(approval) };
}

function toQuestionItem(stored: StoredContinuation, agent: string): InboxItem {
  const value = toQuestion(stored, agent);
  const { id, createdAt } = value;
  return { id, kind: "question", isPending: true, status: "pending", createdAt, value };
}

function toQuestion(stored: StoredContinuation, agent: string): Question {
  const { id, prompt, schema, turn, callId, createdAt } = toContinuation(stored);
  return {
    id,
    agent,
    turn,
    createdAt,
    ...(callId === undefined ? {} : { callId }),
    ...(prompt ? { prompt } : {}),
    ...(schema ? { schema } : {}),
  };
}
