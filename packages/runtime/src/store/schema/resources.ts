import type { Migrations } from "../migrate.ts";

/** The resources of an agency, whose contents are blobs. */
export const resourceMigrations: Migrations = [
  `
  CREATE TABLE resources (
    number INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    type TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    preview TEXT
  );
  `,
];
