import type { Migrations } from "../migrate.ts";

/** What the agent's turns wait for: approvals of calls, and continuations of other calls. Derived from the log. */
export const waitMigrations: Migrations = [
  `
  CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    turn TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired')),
    calls TEXT NOT NULL,
    digest TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    answered_at INTEGER,
    answered_by TEXT,
    reason TEXT
  );
  CREATE INDEX approvals_number ON approvals (number);
  CREATE INDEX approvals_turn ON approvals (turn);
  CREATE TABLE continuations (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    turn TEXT NOT NULL,
    call TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'resolved', 'over')),
    data TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER,
    answer TEXT
  );
  CREATE INDEX continuations_open ON continuations (number) WHERE state <> 'over';
  CREATE TABLE inbox_sync (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    is_pending INTEGER NOT NULL,
    has_items INTEGER NOT NULL
  );
  `,
  "CREATE TABLE pending_grants (id TEXT PRIMARY KEY, value TEXT NOT NULL);",
];

export const waitTables = waitMigrations.join("\n");
