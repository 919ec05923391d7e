import type { AgentEvent, NewEvent } from "@thinkery/sdk";

interface Row extends Record<string, SqlStorageValue> {
  first: number;
  last: number;
  events: string;
}

/** So many characters are read at once where nothing else is said: what crosses to another object is limited. */
const defaultPageChars = 4_000_000;

/** An event with the text it was stored as, so that nobody has to write it out again. */
export interface RecordedEvent {
  event: AgentEvent;
  text: string;
}

/** The numbered facts of one agent. Append only, but for forgetting all of it. */
export class Log {
  readonly #sql: SqlStorage;
  readonly #agent: string;
  #last: number;

  constructor(sql: SqlStorage, agent: string) {
    this.#sql = sql;
    this.#agent = agent;
    this.#last = sql.exec<{ last: number }>("SELECT last FROM log ORDER BY first DESC LIMIT 1").toArray()[0]?.last ?? 0;
  }

  get last(): number {
    return this.#last;
  }

  append(events: readonly NewEvent[], at: number): RecordedEvent[] {
    const ts = new Date(at).toISOString();
    const first = this.#last + 1;
    // As JSON.stringify would write it, but what is the same in every event is not written out each time.
    const between = `,"ts":"${ts}","threadId":${JSON.stringify(this.#agent)},"data":`;
    const recorded = events.map(({ type, data }, index) => {
      const seq = first + index;
      const event = { type, seq, ts, threadId: this.#agent, data } as AgentEvent;
      return { event, text: `{"type":"${type}","seq":${seq}${between}${JSON.stringify(data)}}` };
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

  /** The events after this number, in order, at most so many and so much, but one at least where there is one. */
  read(after: number, limit: number, most = defaultPageChars): AgentEvent[] {
    const events: AgentEvent[] = [];
    let size = 0;
    // Row by row: one can be large, and a reader may want a few events only. The first may begin before the number.
    const rows = this.#sql.exec<Row>(
      "SELECT * FROM log WHERE first >= coalesce((SELECT max(first) FROM log WHERE first <= ?), 0) AND last > ? ORDER BY first",
      after + 1,
      after,
    );
    for (const row of rows) {
      if (events.length >= limit || (size > 0 && size + row.events.length > most)) break;
      size += row.events.length;
      for (const event of JSON.parse(row.events) as AgentEvent[]) {
        if (event.seq > after && events.length < limit) events.push(event);
      }
    }
    return events;
  }

  /** What was appended in a transaction that came to nothing was not appended. */
  revert(last: number): void {
    this.#last = last;
  }

  /** Forgets every event; the numbers go on, so that no number ever means two things. */
  forget(): void {
    this.#sql.exec("DELETE FROM log");
  }
}
