import type { AgentLogLine, AgentLogQuery, LogLevel } from "@thinkery/sdk";

export interface NewLogLine {
  level: LogLevel;
  text: string;
}

interface Row extends Record<string, SqlStorageValue> {
  seq: number;
  at: number;
  level: LogLevel;
  text: string;
  version: number;
  turn: string | null;
}

/** Of an agent's log the latest lines are kept. */
const maxLines = 2000;
const maxPageChars = 1_000_000;

/** What an agent's code logged, and its errors. */
export class CodeLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add(lines: readonly NewLogLine[], version: number, turn: string | undefined): void {
    for (const { level, text } of lines.slice(-maxLines)) {
      this.#sql.exec(
        "INSERT INTO code_log (at, level, text, version, turn) VALUES (?, ?, ?, ?, ?)",
        Date.now(),
        level,
        text,
        version,
        turn ?? null,
      );
    }
    this.#sql.exec("DELETE FROM code_log WHERE seq <= (SELECT max(seq) FROM code_log) - ?", maxLines);
  }

  /** Returns the lines after `after`, or the latest ones; oldest first. */
  read({ after, limit, level }: AgentLogQuery): { logs: AgentLogLine[]; last: number } {
    const filter = level === undefined ? "" : "AND level = ?";
    const bindings = [after ?? 0, ...(level === undefined ? [] : [level]), limit];
    const rows = this.#sql
      .exec<Row>(
        `SELECT * FROM code_log WHERE seq > ? ${filter} ORDER BY seq ${after === undefined ? "DESC" : "ASC"} LIMIT ?`,
        ...bindings,
      )
      .toArray();
    const logs = takeFitting(rows).map(toLine);
    if (after === undefined) logs.reverse();
    return { logs, last: logs.at(-1)?.seq ?? after ?? 0 };
  }
}

function takeFitting(rows: readonly Row[]): Row[] {
  let chars = 0;
  const end = rows.findIndex(({ text }, index) => (chars += text.length) > maxPageChars && index > 0);
  return end < 0 ? [...rows] : rows.slice(0, end);
}

function toLine({ seq, at, level, text, version, turn }: Row): AgentLogLine {
  return { seq, at: new Date(at).toISOString(), level, text, version, ...(turn === null ? {} : { runId: turn }) };
}
