import type { Migrations } from "../migrate.ts";

/** Created when an agent's code first runs: most agents have none. */
export const codeMigrations: Migrations = [
  // Not derived from the log: state, stored values and settings outlive the conversation. The journal has what the code
  // of open turns has done, so that it can be run again.
  `
  CREATE TABLE code (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    version INTEGER,
    settings TEXT NOT NULL,
    figures TEXT NOT NULL,
    last_error TEXT,
    apart TEXT
  );
  CREATE TABLE code_state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    state TEXT NOT NULL
  );
  CREATE TABLE code_values (
    key TEXT PRIMARY KEY,
    chars INTEGER NOT NULL,
    value TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE code_values_total (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    entries INTEGER NOT NULL,
    chars INTEGER NOT NULL
  );
  INSERT INTO code_values_total (only, entries, chars) VALUES (1, 0, 0);
  CREATE TABLE code_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    level TEXT NOT NULL,
    text TEXT NOT NULL,
    version INTEGER NOT NULL,
    turn TEXT
  );
  CREATE TABLE code_turns (
    turn TEXT PRIMARY KEY,
    version INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE code_requests (
    turn TEXT NOT NULL,
    number INTEGER NOT NULL,
    messages TEXT NOT NULL,
    is_done INTEGER NOT NULL DEFAULT 0,
    logged INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (turn, number)
  ) WITHOUT ROWID;
  CREATE TABLE code_calls (
    turn TEXT NOT NULL,
    request INTEGER NOT NULL,
    key TEXT NOT NULL,
    output TEXT,
    PRIMARY KEY (turn, request, key)
  ) WITHOUT ROWID;
  CREATE TABLE code_replies (
    turn TEXT NOT NULL,
    request INTEGER NOT NULL,
    reply TEXT NOT NULL,
    chars INTEGER NOT NULL,
    segments INTEGER NOT NULL,
    PRIMARY KEY (turn, request, reply)
  ) WITHOUT ROWID;
  `,
];
