import type { AgentEvent, StoredApp, Todo } from "@thinkery/sdk";
import { positionsPerEvent } from "@thinkery/sdk/internal";

/** What became of a conversation that was too long. */
export interface Compaction {
  /** The place in the conversation at which it happened. */
  at: number;
  runId: string;
  /** Tool results up to this place are told by their beginning. */
  shortened: number;
  /** What stands up to this place is not told any more; the summary is, and what the turn was asked to do. */
  upTo?: number;
  summary?: string;
  request?: string;
  /** About how many tokens were left of it. */
  after: number;
}

/** Small things an agent knows about itself: its title, its todos, its app, how long a conversation it can hold. */
export class AgentFacts {
  readonly #sql: SqlStorage;
  /** Asked for in every step, so it is kept; `undefined` is not known yet, `null` is that there is none. */
  #compaction: Compaction | null | undefined;

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
    if (event.type === "history.cleared") {
      this.empty();
      if (event.data.app) this.#put("app", event.data.app);
    }
  }

  empty(): void {
    this.#sql.exec("DELETE FROM facts");
    this.#compaction = undefined;
  }

  /** The last compaction of the conversation. */
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

  /** Where the latest request came from. */
  getRequestContext(): Record<string, string> {
    return (this.#get("request") as Record<string, string> | undefined) ?? {};
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

// A socket says where it comes from once, when it connects, and a message over it nothing new.
const hasEntries = (context: Record<string, string>) => Object.keys(context).length > 0;
