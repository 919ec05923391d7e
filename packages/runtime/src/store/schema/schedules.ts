import type { Migrations } from "../migrate.ts";

/** The schedules of an agent or of an agency. `next_at` is null while one is paused, and after its last time. */
export const scheduleMigrations: Migrations = [
  `
  CREATE TABLE schedules (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    key TEXT UNIQUE,
    agent TEXT COLLATE NOCASE,
    definition TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    paused INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER
  );
  CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at IS NOT NULL;
  CREATE TABLE schedule_runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    schedule INTEGER NOT NULL,
    key TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'ran', 'missed', 'skipped', 'failed')),
    skips_if_open INTEGER NOT NULL DEFAULT 0,
    run_id TEXT,
    outcome TEXT,
    details TEXT
  );
  CREATE INDEX schedule_runs_of ON schedule_runs (schedule, number);
  CREATE INDEX schedule_runs_pending ON schedule_runs (number) WHERE status = 'pending';
  CREATE INDEX schedule_runs_open ON schedule_runs (number) WHERE run_id IS NOT NULL AND outcome IS NULL;
  `,
];
