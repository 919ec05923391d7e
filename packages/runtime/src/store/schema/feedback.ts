import type { Migrations } from "../migrate.ts";

/** What the agents and people of an agency think of how things go. */
export const feedbackMigrations: Migrations = [
  `
  CREATE TABLE feedback (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT UNIQUE,
    author TEXT NOT NULL,
    author_kind TEXT NOT NULL CHECK (author_kind IN ('agent', 'user')),
    message TEXT NOT NULL,
    rating INTEGER,
    run_id TEXT,
    created_at INTEGER NOT NULL
  );
  `,
];
