import type { Migrations } from "../migrate.ts";
import { accountTables } from "./accounts.ts";

export const agencyMigrations: Migrations = [
  `
  CREATE TABLE agency (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    deleting INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE blueprints (
    name TEXT PRIMARY KEY COLLATE NOCASE,
    data TEXT NOT NULL,
    updated_at INTEGER NOT NULL
  );
  CREATE TABLE agents (
    name TEXT PRIMARY KEY COLLATE NOCASE,
    blueprint TEXT NOT NULL,
    driver TEXT NOT NULL,
    model TEXT,
    system TEXT,
    props TEXT,
    owner TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('creating', 'ready', 'deleting'))
  );
  CREATE INDEX agents_unsettled ON agents (state) WHERE state <> 'ready';
  `,
  // `metered`: the owner has a budget, so the agency must reserve its agents' spending with the owner.
  `
  ALTER TABLE agency ADD COLUMN metered INTEGER NOT NULL DEFAULT 0;
  ${accountTables}
  `,
  // The sub-agents of each parent, for lists: a parent is an agent or a path such as `alice/subagent-x`.
  `
  CREATE TABLE subagent_lists (
    parent TEXT PRIMARY KEY,
    subagents TEXT NOT NULL
  ) WITHOUT ROWID;
  `,
  // Rules for all agents of the agency, and approvals that were given for good.
  `
  CREATE TABLE policy (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    rules TEXT NOT NULL
  );
  CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    match TEXT,
    agent TEXT,
    granted_by TEXT NOT NULL,
    created_at INTEGER NOT NULL
  );
  `,
  // The code of agents, in versions. Source and source map are compressed together.
  `
  CREATE TABLE packages (
    name TEXT PRIMARY KEY COLLATE NOCASE,
    current INTEGER NOT NULL,
    latest INTEGER NOT NULL
  );
  CREATE TABLE package_versions (
    package TEXT NOT NULL COLLATE NOCASE,
    version INTEGER NOT NULL,
    hash TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    manifest TEXT NOT NULL,
    details TEXT NOT NULL,
    content BLOB NOT NULL,
    deployed_at INTEGER NOT NULL,
    deployed_by TEXT NOT NULL,
    PRIMARY KEY (package, version)
  );
  `,
];
