/**
 * The agent's tables as all of its migrations leave them. A new agent is created with these: replaying every step costs
 * several times as much. A test compares the two.
 */
export const agentTables = `
  CREATE TABLE registration (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    agent TEXT NOT NULL,
    props TEXT,
    assignment TEXT
  );
  CREATE TABLE log (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    events TEXT NOT NULL
  );
  CREATE TABLE ledger (
    call TEXT PRIMARY KEY,
    turn TEXT NOT NULL,
    step INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tool TEXT NOT NULL,
    input TEXT NOT NULL,
    idempotent INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'deferred', 'done', 'failed')),
    runs INTEGER NOT NULL DEFAULT 1,
    parent_call TEXT
  );
  CREATE TABLE turns (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'paused', 'completed', 'error', 'canceled')),
    first INTEGER NOT NULL DEFAULT 0,
    model TEXT,
    step INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
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
    delegated_task_ids TEXT,
    notice INTEGER
  );
  CREATE TABLE middleware_state (
    middleware TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (middleware, key)
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
    message_id TEXT,
    agent TEXT
  );
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
    ms INTEGER NOT NULL,
    context_used INTEGER,
    context_limit INTEGER
  );
  CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  );
  CREATE TABLE blobs (
    hash TEXT PRIMARY KEY,
    media_type TEXT NOT NULL,
    size INTEGER NOT NULL
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
  CREATE INDEX turns_open ON turns (status) WHERE status IN ('queued', 'running', 'paused');
  CREATE INDEX messages_turn ON messages (turn);
  CREATE INDEX ledger_deferred ON ledger (turn) WHERE state = 'deferred';
  CREATE INDEX actions_timestamp ON actions (timestamp);
  CREATE INDEX actions_tool ON actions (tool, timestamp);
  CREATE INDEX actions_message ON actions (message_id);
  CREATE INDEX model_calls_turn ON model_calls (turn);
  CREATE INDEX ledger_open_children ON ledger (turn) WHERE parent_call IS NOT NULL AND state = 'started';
`;
