import type { Migrations } from "../migrate.ts";

/** The channels of an agency, and the inboxes of its agents. */
export const teamMigrations: Migrations = [
  // `clock` is the latest time of this message and all before it, so that a date leads to a number although clocks may
  // be set back. Replies are counted in a table of their own, so that a long message is not written again with each.
  // `due_at` is 0 if an item waits for nothing. A hidden channel is being deleted. `inbox_counts` has no rows for statuses never seen.
  `
  CREATE TABLE channels (
    name TEXT PRIMARY KEY COLLATE NOCASE,
    kind TEXT NOT NULL CHECK (kind IN ('channel', 'direct')),
    description TEXT,
    members TEXT,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    messages INTEGER NOT NULL DEFAULT 0,
    last_message_at INTEGER,
    hidden INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX channels_hidden ON channels (name) WHERE hidden = 1;
  CREATE TABLE channel_messages (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    channel TEXT NOT NULL COLLATE NOCASE,
    sender TEXT NOT NULL,
    sender_kind TEXT NOT NULL CHECK (sender_kind IN ('agent', 'user', 'host')),
    recipients TEXT NOT NULL,
    thread INTEGER,
    priority INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    clock INTEGER NOT NULL,
    key TEXT,
    resource TEXT,
    size INTEGER,
    content TEXT NOT NULL
  );
  CREATE INDEX channel_messages_channel ON channel_messages (channel, number);
  CREATE INDEX channel_messages_thread ON channel_messages (thread, number) WHERE thread IS NOT NULL;
  CREATE INDEX channel_messages_clock ON channel_messages (clock, number);
  CREATE UNIQUE INDEX channel_messages_key ON channel_messages (key) WHERE key IS NOT NULL;
  CREATE TABLE channel_threads (
    message INTEGER PRIMARY KEY,
    replies INTEGER NOT NULL
  );
  CREATE TABLE inbox_items (
    message INTEGER NOT NULL,
    agent TEXT NOT NULL COLLATE NOCASE,
    status TEXT NOT NULL CHECK (status IN ('pending', 'seen', 'deferred', 'acked', 'given_up')),
    priority INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    delivery INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (message, agent)
  ) WITHOUT ROWID;
  CREATE INDEX inbox_items_status ON inbox_items (agent, status, message);
  CREATE INDEX inbox_items_waiting ON inbox_items (agent, due_at, priority DESC, message)
    WHERE status IN ('pending', 'deferred');
  CREATE INDEX inbox_items_due ON inbox_items (due_at) WHERE status IN ('pending', 'deferred');
  CREATE TABLE inbox_counts (
    agent TEXT NOT NULL COLLATE NOCASE,
    status TEXT NOT NULL,
    items INTEGER NOT NULL,
    PRIMARY KEY (agent, status)
  ) WITHOUT ROWID;
  CREATE INDEX inbox_counts_open ON inbox_counts (agent, status, items)
    WHERE items > 0 AND status IN ('pending', 'seen', 'deferred');
  CREATE TABLE inbox_deliveries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL COLLATE NOCASE,
    messages TEXT NOT NULL,
    run_id TEXT,
    started_at INTEGER NOT NULL
  );
  CREATE INDEX inbox_deliveries_agent ON inbox_deliveries (agent, number);
  CREATE TABLE team_agents (
    agent TEXT PRIMARY KEY COLLATE NOCASE,
    note TEXT,
    task TEXT,
    turns_without_progress INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  `,
];
