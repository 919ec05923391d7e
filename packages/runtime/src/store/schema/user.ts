import type { Migrations } from "../migrate.ts";
import { accountTables } from "./accounts.ts";

export const userMigrations: Migrations = [
  `
  CREATE TABLE agencies (
    id TEXT PRIMARY KEY COLLATE NOCASE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    agents INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL CHECK (state IN ('creating', 'ready', 'deleting'))
  );
  CREATE TABLE credentials (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('token', 'login', 'code')),
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER
  );
  CREATE INDEX credentials_expiry ON credentials (expires_at) WHERE expires_at IS NOT NULL;
  `,
  // `metered`: the agency has been told that there is a budget.
  `
  ALTER TABLE agencies ADD COLUMN metered INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE preferences (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    data TEXT NOT NULL
  );
  ${accountTables}
  `,
  // A page login is bound to a secret that only the page's origin can read. Tickets open one path once.
  `
  ALTER TABLE credentials ADD COLUMN page_hash TEXT;
  CREATE TABLE tickets (
    hash TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    scopes TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    credential TEXT
  );
  `,
  // Objects with open sockets or streams, by the credential that opened them.
  `
  CREATE TABLE connection_holders (
    hash TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (hash, kind, name)
  ) WITHOUT ROWID;
  `,
  // users is only used in the object of the host's owner.
  `
  CREATE TABLE users (
    name TEXT PRIMARY KEY COLLATE NOCASE,
    created_at INTEGER NOT NULL,
    limits TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('creating', 'ready', 'deleting'))
  );
  CREATE TABLE limits (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    data TEXT NOT NULL
  );
  CREATE TABLE turn_leases (
    agent TEXT PRIMARY KEY,
    until INTEGER NOT NULL
  ) WITHOUT ROWID;
  `,
  // What the user's agents occupy, as they last reported it.
  `
  CREATE TABLE disk_usage (
    agent TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL
  ) WITHOUT ROWID;
  `,
  // What the user's agents wait for a person to answer, as each last sent it.
  `
  CREATE TABLE inbox (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    kind TEXT NOT NULL,
    pending INTEGER NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    value TEXT NOT NULL
  );
  CREATE INDEX inbox_agent ON inbox (agent);
  CREATE INDEX inbox_pending ON inbox (created_at) WHERE pending = 1;
  `,
  // Workflows by name, and the runs of workflows in the user's agencies, as each last reported itself.
  `
  CREATE TABLE workflows (
    name TEXT PRIMARY KEY COLLATE NOCASE,
    definition TEXT NOT NULL,
    updated_at INTEGER NOT NULL
  );
  CREATE TABLE workflow_runs (
    agency TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    run TEXT NOT NULL,
    started_at INTEGER NOT NULL
  );
  CREATE INDEX workflow_runs_started ON workflow_runs (started_at);
  `,
];
