import type { Feedback, NewFeedback, PageQuery } from "@thinkery/sdk";
import { readCursor, takePage } from "../store/page.ts";
import type { Actor } from "./actor.ts";

/** More than anybody reads; the oldest are dropped. */
const maxFeedback = 10_000;

interface Row extends Record<string, SqlStorageValue> {
  number: number;
  author: string;
  author_kind: Actor["kind"];
  message: string;
  rating: number | null;
  run_id: string | null;
  created_at: number;
}

/** Identifies feedback, so that it is stored once. */
interface FeedbackSource {
  key?: string | undefined;
  /** The turn of the agent that left it. */
  runId?: string | undefined;
}

/** What the agents and people of an agency think of how things go. */
export class FeedbackLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns feedback, newest first. */
  list({ limit, after }: PageQuery): { feedback: Feedback[]; next?: string } {
    const rows = this.#sql.exec<Row>(
      "SELECT * FROM feedback WHERE number < ? ORDER BY number DESC LIMIT ?",
      readCursor(after, Number.MAX_SAFE_INTEGER),
      limit + 1,
    );
    const { items, ...next } = takePage(rows, {
      limit,
      toItem: toFeedback,
      countChars: ({ message }) => 200 + message.length,
      toCursor: ({ number }) => String(number),
    });
    return { feedback: items, ...next };
  }

  /** Stores feedback. The same key again returns what is stored, and `isNew` is false. */
  add(
    { message, rating }: NewFeedback,
    by: Actor,
    { key, runId }: FeedbackSource = {},
  ): { feedback: Feedback; isNew: boolean } {
    const known = key === undefined ? undefined : this.#find("key = ?", key);
    if (known) return { feedback: toFeedback(known), isNew: false };
    const { number } = this.#sql
      .exec<{ number: number }>(
        `INSERT INTO feedback (key, author, author_kind, message, rating, run_id, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number`,
        key ?? null,
        by.name,
        by.kind,
        message,
        rating ?? null,
        runId ?? null,
        Date.now(),
      )
      .one();
    this.#sql.exec("DELETE FROM feedback WHERE number <= ?", number - maxFeedback);
    return { feedback: toFeedback(this.#find("number = ?", number)!), isNew: true };
  }

  #find(where: string, value: SqlStorageValue): Row | undefined {
    return this.#sql.exec<Row>(`SELECT * FROM feedback WHERE ${where}`, value).toArray()[0];
  }
}

function toFeedback(row: Row): Feedback {
  return {
    id: `feedback-${row.number}`,
    from: row.author,
    fromKind: row.author_kind,
    message: row.message,
    ...(row.rating === null ? {} : { rating: row.rating }),
    ...(row.run_id === null ? {} : { runId: row.run_id }),
    createdAt: new Date(row.created_at).toISOString(),
  };
}
