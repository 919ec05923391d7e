import type { AgentEvent, StoredApp, Todo } from "@thinkery/sdk";
import { positionsPerEvent } from "@thinkery/sdk/internal";

/** How a conversation that was too long was compacted. */
export interface Compaction {
  /** The position in the conversation at which it happened. */
  at: number;
  runId: string;
  /** Tool results up to this position are truncated. */
  shortened: number;
  /** Messages up to this position are replaced by the summary and the turn's request. */
  upTo?: number;
  summary?: string;
  request?: string;
  /** Estimated tokens after the compaction. */
  after: number;
}

/** Small facts about an agent: its title, todos, app and last compaction. */
export class AgentFacts {
  readonly #sql: SqlStorage;
  /** Cached, because every step reads it. `undefined`: not read yet; `null`: there is none. */
  #compaction: Compaction | null | undefined;
  /** Who stopped the agent. Cached, because every admission and every wake reads it. */
  #stoppedBy: string | null | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    if (event.type === "title.set") this.#put("title", event.data.title);
    if (event.type === "request.accepted" && hasEntries(event.data.from.context))
      this.#put("request", event.data.from.context);
    if (event.type === "todos.updated") this.#put("todos", event.data.todos);
    if (event.type === "context.compacted") {
      const { step: _, before: __, ...rest } = event.data;
      this.#compaction = undefined;
      this.#put("compaction", { at: event.seq * positionsPerEvent, ...rest } satisfies Compaction);
    }
    if (event.type === "app.set") this.#put("app", { ...event.data, updatedAt: event.ts } satisfies StoredApp);
    if (event.type === "app.removed") this.#sql.exec("DELETE FROM facts WHERE name = 'app'");
    if (event.type === "assignment.reported") this.#put("reported", event.data.runId);
    if (event.type === "agent.stopped") this.#setStopped(event.data.by);
    if (event.type === "agent.resumed") this.#setStopped(null);
    if (event.type === "history.cleared") {
      this.empty();
      if (event.data.app) this.#put("app", event.data.app);
      if (event.data.stoppedBy) this.#setStopped(event.data.stoppedBy);
    }
  }

  empty(): void {
    this.#sql.exec("DELETE FROM facts");
    this.#compaction = undefined;
    this.#stoppedBy = undefined;
  }

  /** Returns the last compaction of the conversation. */
  getCompaction(): Compaction | undefined {
    if (this.#compaction === undefined) this.#compaction = (this.#get("compaction") as Compaction | undefined) ?? null;
    return this.#compaction ?? undefined;
  }

  getTitle(): string | undefined {
    return this.#get("title") as string | undefined;
  }

  getTodos(): Todo[] {
    return (this.#get("todos") as Todo[] | undefined) ?? [];
  }

  getApp(): StoredApp | undefined {
    return this.#get("app") as StoredApp | undefined;
  }

  /** Returns who stopped the agent, if it is stopped. */
  getStoppedBy(): string | undefined {
    if (this.#stoppedBy === undefined) this.#stoppedBy = (this.#get("stopped") as string | undefined) ?? null;
    return this.#stoppedBy ?? undefined;
  }

  /** Returns the turn whose report an agent's parent has, if there is one. */
  getReportedTurn(): string | undefined {
    return this.#get("reported") as string | undefined;
  }

  /** Returns the context of the latest request that had one. */
  getRequestContext(): Record<string, string> {
    return (this.#get("request") as Record<string, string> | undefined) ?? {};
  }

  #setStopped(by: string | null): void {
    this.#stoppedBy = undefined;
    if (by === null) this.#sql.exec("DELETE FROM facts WHERE name = 'stopped'");
    else this.#put("stopped", by);
  }

  #put(name: string, value: unknown): void {
    this.#sql.exec(
      "INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      name,
      JSON.stringify(value),
    );
  }

  #get(name: string): unknown {
    const [row] = this.#sql.exec<{ value: string }>("SELECT value FROM facts WHERE name = ?", name).toArray();
    return row && JSON.parse(row.value);
  }
}

// A socket sends its context once, when it connects; the messages sent over it have none.
const hasEntries = (context: Record<string, string>) => Object.keys(context).length > 0;
