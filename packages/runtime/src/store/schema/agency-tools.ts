import type { Migrations } from "../migrate.ts";

/** Tools that were given to the agents of an agency. `agent` is empty if all of them have it. */
export const agencyToolMigrations: Migrations = [
  `
  CREATE TABLE agency_tools (
    name TEXT NOT NULL,
    agent TEXT NOT NULL COLLATE NOCASE,
    is_mock INTEGER NOT NULL,
    definition TEXT NOT NULL,
    added_by TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    PRIMARY KEY (name, agent, is_mock)
  ) WITHOUT ROWID;
  `,
];
