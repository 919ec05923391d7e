import type { AgentEvent, NewEvent } from "@thinkery/sdk";
import type { Redactor } from "@thinkery/sdk/internal";

interface Row extends Record<string, SqlStorageValue> {
  first: number;
  last: number;
  events: string;
}

/** Maximum characters per read by default: messages between objects are limited in size. */
const defaultPageChars = 4_000_000;

/** An event with its stored JSON, so that it need not be serialized again. */
export interface RecordedEvent {
  event: AgentEvent;
  text: string;
}

/** The numbered events of one agent. Append-only, except that it can be cleared. */
export class Log {
  readonly #sql: SqlStorage;
  readonly #agent: string;
  readonly #redactor: Redactor;
  #last: number;

  constructor(sql: SqlStorage, agent: string, redactor: Redactor) {
    this.#sql = sql;
    this.#agent = agent;
    this.#redactor = redactor;
    this.#last = sql.exec<{ last: number }>("SELECT last FROM log ORDER BY first DESC LIMIT 1").toArray()[0]?.last ?? 0;
  }

  get last(): number {
    return this.#last;
  }

  append(events: readonly NewEvent[], at: number): RecordedEvent[] {
    const ts = new Date(at).toISOString();
    const first = this.#last + 1;
    // The same output as JSON.stringify, but the fields that all events share are serialized only once.
    const sharedFields = `,"ts":"${ts}","threadId":${JSON.stringify(this.#agent)},"data":`;
    const recorded = events.map(({ type, data: original }, index) => {
      const seq = first + index;
      const { data, json } = this.#redact(original);
      const event = { type, seq, ts, threadId: this.#agent, data } as AgentEvent;
      return { event, text: `{"type":"${type}","seq":${seq}${sharedFields}${json}}` };
    });
    this.#sql.exec(
      "INSERT INTO log (first, last, events) VALUES (?, ?, ?)",
      first,
      first + events.length - 1,
      `[${recorded.map(({ text }) => text).join(",")}]`,
    );
    this.#last = first + events.length - 1;
    return recorded;
  }

  /** Returns the events after `after`: at most `limit` events and `maxChars` characters, but at least one if any. */
  read(after: number, limit: number, maxChars = defaultPageChars): AgentEvent[] {
    const events: AgentEvent[] = [];
    let size = 0;
    // Row by row: rows can be large, and a reader may want few events. The first row may begin before `after`.
    const rows = this.#sql.exec<Row>(
      "SELECT * FROM log WHERE first >= coalesce((SELECT max(first) FROM log WHERE first <= ?), 0) AND last > ? ORDER BY first",
      after + 1,
      after,
    );
    for (const row of rows) {
      if (events.length >= limit || (size > 0 && size + row.events.length > maxChars)) break;
      size += row.events.length;
      for (const event of JSON.parse(row.events) as AgentEvent[]) {
        if (event.seq > after && events.length < limit) events.push(event);
      }
    }
    return events;
  }

  /** Everything that people read about an agent is made from its events, so no secret gets past here. */
  #redact(data: NewEvent["data"]): { data: NewEvent["data"]; json: string } {
    const json = JSON.stringify(data);
    if (this.#redactor.redact(json) === json) return { data, json };
    const redacted = this.#redactor.redactValue(data);
    return { data: redacted, json: JSON.stringify(redacted) };
  }

  /** Resets the last number after a transaction was rolled back. */
  revert(last: number): void {
    this.#last = last;
  }

  /** Deletes all events. Numbering continues, so that numbers stay unique. */
  forget(): void {
    this.#sql.exec("DELETE FROM log");
  }
}
