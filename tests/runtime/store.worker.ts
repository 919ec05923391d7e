import type { AgentEvent, NewEvent } from "@thinkery/sdk";
import { Redactor } from "@thinkery/sdk/internal";
import { DurableObject } from "cloudflare:workers";
import { AgentStore } from "../../packages/runtime/src/store/agent-store.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { thinkSchema } from "../../packages/runtime/src/store/schema/think.ts";
import { summarizeUsage } from "../../packages/runtime/src/store/usage.ts";
import { measureElapsed } from "../../packages/runtime/src/turn/budget/turn-budget.ts";

const projections = [
  "turns",
  "inputs",
  "messages",
  "ledger",
  "actions",
  "model_calls",
  "spending",
  "facts",
  "blobs",
  "middleware_state",
  "tasks",
  "task_dependencies",
  "subagents",
  "subagent_spending",
  "subagent_leases",
  "approvals",
  "continuations",
];

interface StoreRequest {
  step: string;
  events?: NewEvent[];
  log?: AgentEvent[];
  agent?: string;
  id?: string;
  after?: number;
  limit?: number;
}

/** An agent's store by itself, driven step by step by a test. */
export class StoreObject extends DurableObject {
  #store: AgentStore;

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    migrate(ctx.storage, thinkSchema);
    this.#store = new AgentStore(ctx.storage, "global~test", new Redactor([]));
  }

  override async fetch(request: Request): Promise<Response> {
    const {
      step,
      events = [],
      log = [],
      agent = "global~test",
      id = "",
      after = 0,
      limit = 100,
    } = (await request.json()) as StoreRequest;
    const steps: Record<string, () => unknown> = {
      record: () => this.#store.record(events).map(({ event }) => event),
      rebuild: () => this.#store.rebuild(),
      clear: () => this.#store.clear("owner").map(({ event }) => event),
      tables: () => this.#readTables(),
      draft: () => this.#store.messages.draft,
      message: () => this.#store.messages.get(id),
      read: () => this.#store.log.read(after, limit),
      usage: () => summarizeUsage(this.#store.spending.readRows()),
      app: () => this.#store.facts.getApp(),
      blobs: () => this.ctx.storage.sql.exec("SELECT hash, media_type FROM blobs ORDER BY hash").toArray(),
      elapsed: () => measureElapsed(this.#store, "t"),
      // As cached in memory, and as stored.
      totals: () =>
        [this.#store.spending.getTotals(), this.#store.spending.readTotal()].map(({ calls, ms }) => ({ calls, ms })),
      // As after a crash: only what is on disk.
      reopen: () => {
        this.#store = new AgentStore(this.ctx.storage, agent, new Redactor([]));
      },
      // Loads another agent's log and returns what is derived from it.
      load: () => {
        for (const event of log)
          this.ctx.storage.sql.exec(
            "INSERT INTO log (first, last, events) VALUES (?, ?, ?)",
            event.seq,
            event.seq,
            JSON.stringify([event]),
          );
        this.#store = new AgentStore(this.ctx.storage, agent, new Redactor([]));
        this.#store.rebuild();
        const { messages, actions, turns, spending, facts, tasks } = this.#store;
        const all = Number.MAX_SAFE_INTEGER - 1;
        return {
          messages: messages.page({ limit: all }, all).messages,
          actions: actions.page({ limit: all }).actions,
          run: turns.getRun(agent),
          todos: facts.getTodos(),
          ...(tasks.hasStored ? { tasks: [...tasks.readStored()].flat() } : {}),
          title: facts.getTitle(),
          usage: {
            ...summarizeUsage(spending.readRows()),
            turns: turns.countByStatus(),
            messages: messages.count(),
            events: this.#store.log.last,
          },
        };
      },
    };
    return Response.json((await steps[step]?.()) ?? null);
  }

  #readTables(): Record<string, unknown> {
    return Object.fromEntries(
      projections.map((name) => [
        name,
        this.ctx.storage.sql
          // Tables without row ids have no other order.
          .exec(`SELECT ${name.startsWith("task") ? "0" : "rowid"} AS position, * FROM ${name} ORDER BY 2, 3`)
          .toArray()
          .map(normalizePosition(name)),
      ]),
    );
  }
}

// Row order is significant only for messages; there it has to be the same after a rebuild.
function normalizePosition(table: string) {
  let order: number[] | undefined;
  return ({ position, ...row }: Record<string, unknown>, _: number, rows: Record<string, unknown>[]) => {
    order ??= rows.map((other) => Number(other.position)).sort((a, b) => a - b);
    return table === "messages" ? { ...row, position: order.indexOf(Number(position)) } : row;
  };
}

export default {
  fetch(request: Request, env: { StoreObject: DurableObjectNamespace<StoreObject> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.StoreObject.getByName(new URL(request.url).pathname).fetch(request);
  },
};
