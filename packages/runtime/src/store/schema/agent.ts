import type { Migrations } from "../migrate.ts";

/** The agent's registration, its log, and the tables derived from the log. */
export const agentMigrations: Migrations = [
  `
  CREATE TABLE registration (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    agent TEXT NOT NULL,
    props TEXT
  );
  `,
  // The log is the source of truth; every table below it can be rebuilt from it. Events written together share one row
  // as a JSON array, which saves inserts.
  `
  CREATE TABLE log (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    events TEXT NOT NULL
  );
  CREATE TABLE turns (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'error', 'canceled')),
    first INTEGER NOT NULL DEFAULT 0,
    model TEXT,
    step INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    strikes INTEGER NOT NULL DEFAULT 0,
    boot TEXT,
    admitted_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    result TEXT,
    failure TEXT
  );
  CREATE INDEX turns_open ON turns (status) WHERE status IN ('queued', 'running');
  CREATE TABLE inputs (
    key TEXT PRIMARY KEY,
    turn TEXT NOT NULL,
    message TEXT NOT NULL
  );
  CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    position INTEGER UNIQUE,
    turn TEXT NOT NULL,
    step INTEGER,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool')),
    status TEXT NOT NULL,
    content TEXT NOT NULL,
    attachments TEXT,
    tool_calls TEXT,
    tool_result TEXT,
    reasoning TEXT,
    reasoning_full_size INTEGER,
    error TEXT,
    timestamp INTEGER NOT NULL,
    model TEXT,
    tokens_input INTEGER,
    tokens_output INTEGER,
    cost_usd REAL,
    attempt INTEGER NOT NULL DEFAULT 1,
    retry_parent_id TEXT,
    replay TEXT,
    task_id TEXT,
    facet_name TEXT,
    parent_message_id TEXT,
    delegated_task_ids TEXT
  );
  CREATE INDEX messages_turn ON messages (turn);
  CREATE TABLE ledger (
    call TEXT PRIMARY KEY,
    turn TEXT NOT NULL,
    step INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tool TEXT NOT NULL,
    input TEXT NOT NULL,
    repeatable INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'done', 'failed')),
    runs INTEGER NOT NULL DEFAULT 1
  );
  CREATE TABLE actions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    turn TEXT NOT NULL,
    tool TEXT NOT NULL,
    action TEXT NOT NULL,
    input TEXT NOT NULL,
    output_summary TEXT,
    duration_ms INTEGER NOT NULL,
    success INTEGER NOT NULL,
    error TEXT,
    message_id TEXT
  );
  CREATE INDEX actions_timestamp ON actions (timestamp);
  CREATE INDEX actions_tool ON actions (tool, timestamp);
  CREATE INDEX actions_message ON actions (message_id);
  CREATE TABLE model_calls (
    number INTEGER PRIMARY KEY,
    calls INTEGER NOT NULL,
    turn TEXT NOT NULL,
    step INTEGER NOT NULL,
    model TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cost_usd REAL,
    ms INTEGER NOT NULL
  );
  CREATE INDEX model_calls_turn ON model_calls (turn);
  CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  );
  CREATE TABLE blobs (
    hash TEXT PRIMARY KEY,
    media_type TEXT NOT NULL,
    size INTEGER NOT NULL
  );
  `,
  // Adds paused turns, deferred calls, middleware state, and spending by day and model.
  `
  ALTER TABLE turns RENAME TO turns_before;
  DROP INDEX turns_open;
  CREATE TABLE turns (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'paused', 'completed', 'error', 'canceled')),
    first INTEGER NOT NULL DEFAULT 0,
    model TEXT,
    step INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    strikes INTEGER NOT NULL DEFAULT 0,
    boot TEXT,
    admitted_at INTEGER NOT NULL,
    started_at INTEGER,
    paused_at INTEGER,
    paused_ms INTEGER NOT NULL DEFAULT 0,
    paused_for TEXT,
    ended_at INTEGER,
    result TEXT,
    failure TEXT,
    props TEXT
  );
  INSERT INTO turns (id, number, status, first, model, step, attempt, strikes, boot, admitted_at, started_at, ended_at, result, failure)
    SELECT id, number, status, first, model, step, attempt, strikes, boot, admitted_at, started_at, ended_at, result, failure FROM turns_before;
  DROP TABLE turns_before;
  CREATE INDEX turns_open ON turns (status) WHERE status IN ('queued', 'running', 'paused');
  ALTER TABLE ledger RENAME TO ledger_before;
  CREATE TABLE ledger (
    call TEXT PRIMARY KEY,
    turn TEXT NOT NULL,
    step INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tool TEXT NOT NULL,
    input TEXT NOT NULL,
    repeatable INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'deferred', 'done', 'failed')),
    runs INTEGER NOT NULL DEFAULT 1
  );
  INSERT INTO ledger SELECT call, turn, step, number, tool, input, repeatable, state, runs FROM ledger_before;
  DROP TABLE ledger_before;
  CREATE INDEX ledger_deferred ON ledger (turn) WHERE state = 'deferred';
  ALTER TABLE model_calls ADD COLUMN context_used INTEGER;
  ALTER TABLE model_calls ADD COLUMN context_limit INTEGER;
  CREATE TABLE kept (
    middleware TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (middleware, key)
  );
  CREATE TABLE spending (
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    unknown INTEGER NOT NULL,
    ms INTEGER NOT NULL,
    PRIMARY KEY (day, model)
  );
  INSERT INTO spending
    SELECT date(timestamp / 1000, 'unixepoch'), model, sum(calls), sum(input_tokens), sum(output_tokens), sum(cached_tokens),
      sum(reasoning_tokens), coalesce(sum(cost_usd), 0), sum(CASE WHEN cost_usd IS NULL THEN calls ELSE 0 END), sum(ms)
    FROM model_calls GROUP BY 1, 2;
  `,
  // Adds calls made by code that itself runs inside a call.
  `
  ALTER TABLE ledger ADD COLUMN within TEXT;
  CREATE INDEX ledger_within ON ledger (turn) WHERE within IS NOT NULL AND state = 'started';
  `,
  // Renames columns and a table to say what they hold.
  `
  ALTER TABLE turns RENAME COLUMN strikes TO crashes;
  ALTER TABLE ledger RENAME COLUMN repeatable TO idempotent;
  ALTER TABLE ledger RENAME COLUMN within TO parent_call;
  ALTER TABLE kept RENAME TO middleware_state;
  DROP INDEX ledger_within;
  CREATE INDEX ledger_open_children ON ledger (turn) WHERE parent_call IS NOT NULL AND state = 'started';
  `,
  // Adds what a sub-agent works on, what sub-agents did, and messages about them.
  `
  ALTER TABLE registration ADD COLUMN assignment TEXT;
  ALTER TABLE actions ADD COLUMN agent TEXT;
  ALTER TABLE messages ADD COLUMN notice INTEGER;
  `,
];
