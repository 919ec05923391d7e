import type { Migrations } from "../migrate.ts";

export const blobIndexMigrations: Migrations = [
  // A released owner was deleted: its name may belong to a new one while its references are removed in the background.
  // unreferenced lists blobs that nobody needs and whose bytes are still to be deleted. `visit` numbers collections:
  // the last one that found an owner, and that saw it need a blob.
  `
  CREATE TABLE owners (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    object TEXT NOT NULL,
    blobs INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    visit INTEGER NOT NULL DEFAULT 0,
    released INTEGER NOT NULL DEFAULT 0
  );
  CREATE UNIQUE INDEX owners_key ON owners (key) WHERE released = 0;
  CREATE INDEX owners_released ON owners (id) WHERE released = 1;
  CREATE TABLE refs (
    hash TEXT NOT NULL,
    owner INTEGER NOT NULL,
    size INTEGER NOT NULL,
    reserved_at INTEGER NOT NULL,
    visit INTEGER NOT NULL DEFAULT 0,
    unused_at_visit INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (hash, owner)
  ) WITHOUT ROWID;
  CREATE INDEX refs_owner ON refs (owner, hash);
  CREATE TABLE unreferenced (
    hash TEXT PRIMARY KEY,
    size INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE blob_index (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    visit INTEGER NOT NULL
  );
  INSERT INTO blob_index VALUES (1, 0);
  `,
];
