import type { Migrations } from "../migrate.ts";

const firstTables = `
  CREATE TABLE subagents (
    task TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    facet TEXT NOT NULL,
    child TEXT NOT NULL,
    token TEXT NOT NULL,
    turn TEXT,
    call TEXT,
    message_id TEXT,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    message TEXT NOT NULL,
    sender TEXT NOT NULL,
    wait INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    branch TEXT,
    check_command TEXT,
    streaming INTEGER NOT NULL,
    timeout_ms INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'complete', 'failed', 'cancelled', 'interrupted')),
    delivered INTEGER NOT NULL DEFAULT 0,
    closed INTEGER NOT NULL DEFAULT 1,
    deleted INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER,
    result TEXT,
    result_blob TEXT,
    error TEXT,
    usage TEXT,
    steps INTEGER,
    merge TEXT,
    action_number INTEGER NOT NULL DEFAULT 0,
    activity TEXT
  );
  CREATE INDEX subagents_active ON subagents (number) WHERE state IN ('queued', 'running');
  CREATE INDEX subagents_open ON subagents (number) WHERE delivered = 0 OR closed = 0;
  CREATE INDEX subagents_turn ON subagents (turn);
  CREATE INDEX subagents_call ON subagents (call) WHERE call IS NOT NULL;
`;

/** The report of a sub-agent whose fork is being merged. */
const reportedColumn = "ALTER TABLE subagents ADD COLUMN reported TEXT;";

/** What a sub-agent waits for a person to give. */
const waitingColumn = "ALTER TABLE subagents ADD COLUMN waiting_for TEXT;";

export const subagentMigrations: Migrations = [firstTables, reportedColumn, waitingColumn];

/** The sub-agents of an agent. Derived from its log, like all tables of an agent. */
export const subagentTables = subagentMigrations.join("\n");
