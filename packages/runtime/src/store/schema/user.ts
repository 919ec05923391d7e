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
    expires_at INTEGER NOT NULL
  );
  `,
];
