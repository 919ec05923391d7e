/** A request that handles messages of a turn. */
export interface JournalRequest {
  turn: string;
  number: number;
  /** The ids of the messages it handles, the current one last. */
  messages: string[];
  /** Lines that it has logged. */
  logged: number;
}

/** A call that code made: begun, or with its output as JSON. */
export interface JournalCall {
  output: string | undefined;
}

/** How much of a reply is in completed messages. */
export interface JournalReply {
  chars: number;
  segments: number;
}

interface RequestRow extends Record<string, SqlStorageValue> {
  number: number;
  messages: string;
  logged: number;
}

/**
 * What the code of open turns has done. Code that was interrupted, by a crash or because it waits for a person, is run
 * again: calls that it has made return what they returned then, and text that is in the conversation is not repeated.
 */
export class Journal {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns the version of the code that the turn runs, if it has begun. */
  getVersion(turn: string): number | undefined {
    return this.#sql.exec<{ version: number }>("SELECT version FROM code_turns WHERE turn = ?", turn).toArray()[0]
      ?.version;
  }

  pinVersion(turn: string, version: number): void {
    this.#sql.exec("INSERT OR IGNORE INTO code_turns (turn, version) VALUES (?, ?)", turn, version);
  }

  /** Returns the request that was interrupted, if any. */
  findOpenRequest(turn: string): JournalRequest | undefined {
    const [row] = this.#sql
      .exec<RequestRow>("SELECT number, messages, logged FROM code_requests WHERE turn = ? AND is_done = 0", turn)
      .toArray();
    return row && { turn, number: row.number, messages: JSON.parse(row.messages) as string[], logged: row.logged };
  }

  /** Returns the ids of the messages that requests of the turn handle or have handled. */
  listHandled(turn: string): Set<string> {
    const rows = this.#sql.exec<{ messages: string }>("SELECT messages FROM code_requests WHERE turn = ?", turn);
    return new Set(rows.toArray().flatMap(({ messages }) => JSON.parse(messages) as string[]));
  }

  openRequest(turn: string, messages: string[]): JournalRequest {
    const { number } = this.#sql
      .exec<{ number: number }>("SELECT coalesce(max(number), 0) + 1 AS number FROM code_requests WHERE turn = ?", turn)
      .one();
    this.#sql.exec(
      "INSERT INTO code_requests (turn, number, messages) VALUES (?, ?, ?)",
      turn,
      number,
      JSON.stringify(messages),
    );
    return { turn, number, messages, logged: 0 };
  }

  closeRequest({ turn, number }: JournalRequest): void {
    this.#sql.exec("UPDATE code_requests SET is_done = 1 WHERE turn = ? AND number = ?", turn, number);
    for (const table of ["code_calls", "code_replies"])
      this.#sql.exec(`DELETE FROM ${table} WHERE turn = ? AND request = ?`, turn, number);
  }

  noteLogged(request: JournalRequest, logged: number): void {
    const { turn, number } = request;
    // The same request is run again if only its process is lost.
    request.logged = logged;
    this.#sql.exec("UPDATE code_requests SET logged = ? WHERE turn = ? AND number = ?", logged, turn, number);
  }

  findCall({ turn, number }: JournalRequest, key: string): JournalCall | undefined {
    const [row] = this.#sql
      .exec<{ output: string | null }>(
        "SELECT output FROM code_calls WHERE turn = ? AND request = ? AND key = ?",
        turn,
        number,
        key,
      )
      .toArray();
    return row && { output: row.output ?? undefined };
  }

  putCall({ turn, number }: JournalRequest, key: string, output: string | undefined): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO code_calls (turn, request, key, output) VALUES (?, ?, ?, ?)",
      turn,
      number,
      key,
      output ?? null,
    );
  }

  findReply({ turn, number }: JournalRequest, reply: string): JournalReply | undefined {
    return this.#sql
      .exec<Record<string, SqlStorageValue> & JournalReply>(
        "SELECT chars, segments FROM code_replies WHERE turn = ? AND request = ? AND reply = ?",
        turn,
        number,
        reply,
      )
      .toArray()[0];
  }

  putReply({ turn, number }: JournalRequest, reply: string, { chars, segments }: JournalReply): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO code_replies (turn, request, reply, chars, segments) VALUES (?, ?, ?, ?, ?)",
      turn,
      number,
      reply,
      chars,
      segments,
    );
  }

  /** Drops everything about a turn that is over. */
  forget(turn: string): void {
    for (const table of ["code_turns", "code_requests", "code_calls", "code_replies"])
      this.#sql.exec(`DELETE FROM ${table} WHERE turn = ?`, turn);
  }

  clear(): void {
    for (const table of ["code_turns", "code_requests", "code_calls", "code_replies"])
      this.#sql.exec(`DELETE FROM ${table}`);
  }
}
