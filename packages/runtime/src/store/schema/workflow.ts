import type { Migrations } from "../migrate.ts";

export const workflowMigrations: Migrations = [
  // The run of a workflow that an agency is. `ready`: its agents exist, and the kickoff is posted. `reported`: its
  // user knows its status. Its texts may be long, so they are not written again with each turn.
  `
  CREATE TABLE workflow_run (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    run TEXT NOT NULL,
    key TEXT,
    ready INTEGER NOT NULL DEFAULT 0,
    reported INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE workflow_texts (
    name TEXT PRIMARY KEY CHECK (name IN ('definition', 'kickoff', 'result')),
    text TEXT NOT NULL
  );
  `,
];
