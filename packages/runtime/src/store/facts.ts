import type { AgentEvent, Todo } from "@thinkery/sdk";

/** Small things an agent knows about itself: its title, its todos. */
export class Facts {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    if (event.type === "title.set") this.#put("title", event.data.title);
    if (event.type === "request.accepted" && isTold(event.data.from.context)) this.#put("request", event.data.from.context);
    if (event.type === "todos.written") this.#put("todos", event.data.todos);
    if (event.type === "history.cleared") this.empty();
  }

  empty(): void {
    this.#sql.exec("DELETE FROM facts");
  }

  title(): string | undefined {
    return this.#get("title") as string | undefined;
  }

  todos(): Todo[] {
    return (this.#get("todos") as Todo[] | undefined) ?? [];
  }

  /** Where the latest request came from. */
  request(): Record<string, string> {
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
const isTold = (context: Record<string, string>) => Object.keys(context).length > 0;
