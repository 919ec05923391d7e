import type { Migrations } from "../migrate.ts";

/** The workspace's files, versions and branches, and its live documents. */
export const fileMigrations: Migrations = [
  // A file is a row with its text or the hash of a blob. A change stores a patch that works in both directions, and
  // from time to time a full copy is stored by its hash. Rows on Cloudflare are limited in size, so large values are
  // split into parts. Columns that can be long come last, so that the others can be read without them.
  `
  CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    branch TEXT NOT NULL,
    path TEXT NOT NULL,
    folded TEXT NOT NULL,
    hash TEXT NOT NULL,
    size INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    blob TEXT,
    version INTEGER NOT NULL,
    modified_at INTEGER NOT NULL,
    patches INTEGER NOT NULL DEFAULT 0,
    content TEXT,
    CHECK ((content IS NULL) <> (blob IS NULL))
  );
  CREATE UNIQUE INDEX files_path ON files (branch, path);
  CREATE UNIQUE INDEX files_folded ON files (branch, folded);
  CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    branch TEXT NOT NULL,
    at INTEGER NOT NULL,
    until INTEGER NOT NULL,
    joins INTEGER NOT NULL,
    event INTEGER,
    turn TEXT,
    tool_call TEXT,
    origin TEXT NOT NULL,
    reverts TEXT,
    merges TEXT
  );
  CREATE INDEX versions_branch ON versions (branch, id);
  CREATE INDEX versions_turn ON versions (turn) WHERE turn IS NOT NULL;
  CREATE INDEX versions_tool_call ON versions (tool_call) WHERE tool_call IS NOT NULL;
  CREATE TABLE changes (
    version INTEGER NOT NULL,
    branch TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('add', 'edit', 'delete', 'move', 'moved')),
    other TEXT,
    before TEXT,
    after TEXT,
    before_copy TEXT,
    after_copy TEXT,
    patch TEXT
  );
  CREATE UNIQUE INDEX changes_version ON changes (version, path);
  CREATE INDEX changes_path ON changes (branch, path, version);
  CREATE INDEX changes_before_copy ON changes (before_copy) WHERE before_copy IS NOT NULL;
  CREATE INDEX changes_after_copy ON changes (after_copy) WHERE after_copy IS NOT NULL;
  CREATE TABLE copies (
    hash TEXT PRIMARY KEY,
    content TEXT NOT NULL
  );
  CREATE TABLE branches (
    name TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    at INTEGER NOT NULL,
    base_branch TEXT NOT NULL,
    base_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    merged_at INTEGER,
    origin TEXT NOT NULL
  );
  CREATE TABLE seen (
    branch TEXT NOT NULL,
    path TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (branch, path)
  );
  CREATE TABLE live_docs (
    branch TEXT PRIMARY KEY,
    client INTEGER NOT NULL
  );
  CREATE TABLE live_snapshots (
    branch TEXT NOT NULL,
    part INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (branch, part)
  );
  CREATE TABLE live_updates (
    number INTEGER PRIMARY KEY,
    branch TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    data BLOB NOT NULL
  );
  CREATE INDEX live_updates_branch ON live_updates (branch, number);
  `,
  // The version of the files that a snapshot was taken of: while it is the latest, the two need not be compared. The
  // index finds where files were moved to, to rebase edits onto them.
  `
  ALTER TABLE live_docs ADD COLUMN version INTEGER;
  CREATE INDEX changes_moved ON changes (branch, other, version) WHERE kind = 'move';
  `,
  // An idempotency key, so that a commit sent twice is applied once.
  `
  ALTER TABLE versions ADD COLUMN key TEXT;
  CREATE UNIQUE INDEX versions_key ON versions (key) WHERE key IS NOT NULL;
  `,
  // The last merge that was made with an idempotency key, and what it returned.
  `
  ALTER TABLE branches ADD COLUMN merge_key TEXT;
  ALTER TABLE branches ADD COLUMN merge_result TEXT;
  `,
  // What it took to place the edits of a live document, and takes again whenever it is opened.
  `
  ALTER TABLE live_docs ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;
  `,
];
