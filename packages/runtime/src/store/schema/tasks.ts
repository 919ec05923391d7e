import type { Migrations } from "../migrate.ts";

/** An agent's tasks, except those that are derived from its turns. */
export const taskMigrations: Migrations = [
  // root is the top of the tree, often a turn. task_dependencies finds what depends on a task.
  `
  CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    root TEXT NOT NULL,
    parent_id TEXT,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'blocked', 'complete', 'failed', 'cancelled')),
    dependencies TEXT NOT NULL,
    assigned_to TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER,
    metadata TEXT,
    description TEXT,
    result TEXT,
    error TEXT
  ) WITHOUT ROWID;
  CREATE INDEX tasks_root ON tasks (root, number);
  CREATE INDEX tasks_open ON tasks (root) WHERE status IN ('pending', 'in_progress', 'blocked');
  CREATE TABLE task_dependencies (
    dependency TEXT NOT NULL,
    task TEXT NOT NULL,
    PRIMARY KEY (dependency, task)
  ) WITHOUT ROWID;
  `,
];
