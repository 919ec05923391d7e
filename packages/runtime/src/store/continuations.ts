import { type AgentEvent, type Continuation, type EventData, toWait } from "@thinkery/sdk";

type Created = EventData["continuation.created"];

interface Row extends Record<string, SqlStorageValue> {
  id: string;
  turn: string;
  call: string;
  state: "open" | "resolved";
  data: string;
  created_at: number;
  due_at: number | null;
  answer: string | null;
}

/** What a call of an open turn waits for, or waited for. */
export interface StoredContinuation extends Created {
  createdAt: number;
  dueAtMs: number | undefined;
  /** How it was resolved, once it is. */
  answer: { value?: unknown; by?: string } | undefined;
}

/** What the calls of an agent's open turns wait for: a projection of its log. */
export class Continuations {
  readonly #sql: SqlStorage;
  /** Those of open turns by call, read once per wake: nearly always there are none. */
  #current: Map<string, StoredContinuation> | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    switch (event.type) {
      case "continuation.created":
        return this.#add(event.seq, Date.parse(event.ts), event.data);
      case "continuation.resolved": {
        const { continuationId, callId, value, by } = event.data;
        const answer = { ...(value === undefined ? {} : { value }), ...(by === undefined ? {} : { by }) };
        this.#sql.exec(
          "UPDATE continuations SET state = 'resolved', due_at = NULL, answer = ? WHERE id = ? AND state = 'open'",
          JSON.stringify(answer),
          continuationId,
        );
        const current = this.#current?.get(callId);
        if (current) this.#current?.set(callId, { ...current, dueAtMs: undefined, answer });
        return;
      }
      // A call that goes on may wait again, for something else.
      case "tool.deferred":
      case "tool.output":
      case "tool.error":
        return this.#close(event.data.callId);
      case "history.cleared":
        return this.empty();
      default:
    }
  }

  empty(): void {
    this.#current = undefined;
    this.#sql.exec("DELETE FROM continuations");
  }

  /** Drops what is cached in memory after a transaction was rolled back. */
  revert(): void {
    this.#current = undefined;
  }

  find(callId: string): StoredContinuation | undefined {
    return this.#getCurrent().get(callId);
  }

  /** Returns those without an answer, oldest first. */
  listOpen(): StoredContinuation[] {
    return [...this.#getCurrent().values()].filter(({ answer }) => answer === undefined);
  }

  /** Returns the ids of a turn's calls that have no answer yet. */
  listOpenCalls(turn: string): string[] {
    return this.listOpen()
      .filter(({ runId }) => runId === turn)
      .map(({ callId }) => callId);
  }

  #add(number: number, at: number, data: Created): void {
    const dueAtMs = data.dueAt === undefined ? undefined : Date.parse(data.dueAt);
    this.#sql.exec(
      `INSERT INTO continuations (id, number, turn, call, kind, state, data, created_at, due_at)
       VALUES (?, ?, ?, ?, ?, 'open', ?, ?, ?)`,
      data.continuationId,
      number,
      data.runId,
      data.callId,
      data.kind,
      JSON.stringify(data),
      at,
      dueAtMs ?? null,
    );
    this.#current?.set(data.callId, { ...data, createdAt: at, dueAtMs, answer: undefined });
  }

  #close(callId: string): void {
    if (!this.#getCurrent().delete(callId)) return;
    this.#sql.exec("UPDATE continuations SET state = 'over', due_at = NULL WHERE call = ?", callId);
  }

  #getCurrent(): Map<string, StoredContinuation> {
    this.#current ??= new Map(
      this.#sql
        .exec<Row>("SELECT * FROM continuations WHERE state <> 'over' ORDER BY number")
        .toArray()
        .map((row) => [
          row.call,
          {
            ...(JSON.parse(row.data) as Created),
            createdAt: row.created_at,
            dueAtMs: row.due_at ?? undefined,
            answer: row.answer === null ? undefined : (JSON.parse(row.answer) as StoredContinuation["answer"]),
          },
        ]),
    );
    return this.#current;
  }
}

/** Returns what clients see. */
export function toContinuation(stored: StoredContinuation): Continuation {
  return toWait(stored, new Date(stored.createdAt).toISOString());
}
