import type { Migrations } from "../migrate.ts";

/** The tasks that the members of an agency share. */
export const teamTaskMigrations: Migrations = [
  // `root` is the top of the tree. `claimed_until` is null unless an agent holds the task.
  `
  CREATE TABLE team_tasks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    key TEXT UNIQUE,
    root TEXT NOT NULL,
    parent_id TEXT,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'blocked', 'complete', 'failed', 'cancelled')),
    dependencies TEXT NOT NULL,
    created_by TEXT NOT NULL,
    assigned_to TEXT,
    holder_kind TEXT CHECK (holder_kind IN ('agent', 'user')),
    claimed_until INTEGER,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER,
    description TEXT,
    result TEXT,
    error TEXT
  );
  CREATE INDEX team_tasks_root ON team_tasks (root, number);
  CREATE INDEX team_tasks_status ON team_tasks (status, number);
  CREATE INDEX team_tasks_ended ON team_tasks (completed_at) WHERE completed_at IS NOT NULL;
  CREATE INDEX team_tasks_claims ON team_tasks (claimed_until) WHERE claimed_until IS NOT NULL;
  `,
];
