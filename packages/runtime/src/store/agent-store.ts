import type { AgentEvent, Context, NewEvent } from "@thinkery/sdk";
import { positionsPerEvent, type Redactor } from "@thinkery/sdk/internal";
import { Actions } from "./actions.ts";
import { Approvals } from "./approvals.ts";
import { BlobReferences } from "./blob-references.ts";
import { ChildSpending } from "./child-spending.ts";
import { Continuations } from "./continuations.ts";
import { AgentFacts } from "./facts.ts";
import { InboxSync } from "./inbox-sync.ts";
import { Ledger } from "./ledger.ts";
import { Log, type RecordedEvent } from "./log.ts";
import { Messages } from "./messages.ts";
import { MiddlewareState } from "./middleware-state.ts";
import { ModelCalls } from "./model-calls.ts";
import { PendingGrants } from "./pending-grants.ts";
import { Spending } from "./spending.ts";
import { Subagents } from "./subagents.ts";
import { Tasks } from "./tasks.ts";
import { Turns } from "./turns.ts";
import { VersionEvents } from "./version-events.ts";

interface Projection {
  apply(event: AgentEvent): void;
  empty(): void;
}

/** Informational events: a turn may have many of them, and no projection uses them. */
const unprojectedTypes: ReadonlySet<AgentEvent["type"]> = new Set([
  "middleware.before_model",
  "middleware.after_model",
]);

/** Everything one agent stores: the log and its projections. */
export class AgentStore {
  readonly log: Log;
  readonly turns: Turns;
  readonly messages: Messages;
  readonly ledger: Ledger;
  readonly actions: Actions;
  readonly tasks: Tasks;
  readonly approvals: Approvals;
  readonly continuations: Continuations;
  readonly inboxSync: InboxSync;
  readonly pendingGrants: PendingGrants;
  readonly calls: ModelCalls;
  readonly spending: Spending;
  readonly facts: AgentFacts;
  readonly blobs: BlobReferences;
  readonly middlewareState: MiddlewareState;
  readonly subagents: Subagents;
  readonly childSpending: ChildSpending;
  readonly #storage: DurableObjectStorage;
  readonly #projections: readonly Projection[];

  constructor(storage: DurableObjectStorage, agent: string, redactor: Redactor) {
    const { sql } = storage;
    this.#storage = storage;
    this.log = new Log(sql, agent, redactor);
    this.turns = new Turns(sql);
    this.messages = new Messages(sql);
    this.ledger = new Ledger(sql);
    this.actions = new Actions(sql, agent, redactor.redactLog);
    this.tasks = new Tasks(sql);
    this.approvals = new Approvals(sql, agent);
    this.continuations = new Continuations(sql);
    this.inboxSync = new InboxSync(sql);
    this.pendingGrants = new PendingGrants(sql);
    this.calls = new ModelCalls(sql);
    this.spending = new Spending(sql);
    this.facts = new AgentFacts(sql);
    this.blobs = new BlobReferences(sql);
    this.middlewareState = new MiddlewareState(sql);
    this.subagents = new Subagents(sql);
    this.childSpending = new ChildSpending(sql);
    // Order matters: actions read what messages and ledger stored about a call.
    this.#projections = [
      this.turns,
      this.messages,
      this.ledger,
      this.actions,
      this.tasks,
      this.approvals,
      this.continuations,
      this.calls,
      this.spending,
      this.facts,
      this.blobs,
      this.middlewareState,
      this.subagents,
      this.childSpending,
      new VersionEvents(sql),
    ];
  }

  /** Appends events and applies them to all projections in one transaction. */
  record(events: readonly NewEvent[]): RecordedEvent[] {
    const { last } = this.log;
    try {
      return this.#storage.transactionSync(() => {
        const recorded = this.log.append(events, Date.now());
        for (const { event } of recorded) this.#apply(event);
        return recorded;
      });
    } catch (error) {
      this.log.revert(last);
      this.spending.revert();
      this.messages.revert();
      this.subagents.revert();
      this.childSpending.revert();
      this.tasks.revert();
      this.approvals.revert();
      this.continuations.revert();
      throw error;
    }
  }

  /** Returns how full the model's context is: as last counted, or as estimated by a later compaction. */
  getContext(): Context | undefined {
    const context = this.calls.getContext();
    if (!context) return undefined;
    const { number, used, limit, model } = context;
    const compaction = this.facts.getCompaction();
    return { used: compaction && compaction.at > number * positionsPerEvent ? compaction.after : used, limit, model };
  }

  /** Clears the conversation and its log. Usage is kept, and so is the app, which others may be using. */
  clear(by: string): RecordedEvent[] {
    return this.#storage.transactionSync(() => {
      this.log.forget();
      const app = this.facts.getApp();
      const stoppedBy = this.facts.getStoppedBy();
      return this.record([
        {
          type: "history.cleared",
          data: {
            by,
            usage: this.spending.createClearedUsage(),
            ...(this.childSpending.isEmpty ? {} : { subagents: this.childSpending.readDays() }),
            ...(app ? { app } : {}),
            ...(stoppedBy ? { stoppedBy } : {}),
          },
        },
      ]);
    });
  }

  /** Rebuilds all projections from the log. */
  rebuild(): void {
    this.#storage.transactionSync(() => {
      for (const projection of this.#projections) projection.empty();
      for (let after = 0; ;) {
        const events = this.log.read(after, 500);
        if (events.length === 0) return;
        for (const event of events) this.#apply(event);
        after = events.at(-1)?.seq ?? after;
      }
    });
  }

  #apply(event: AgentEvent): void {
    if (unprojectedTypes.has(event.type)) return;
    for (const projection of this.#projections) projection.apply(event);
  }
}
