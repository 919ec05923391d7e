import type { Migrations } from "../migrate.ts";

/** In an agency: the users of the host that its owner lets use it. */
export const memberMigrations: Migrations = [
  `
  CREATE TABLE members (
    name TEXT PRIMARY KEY,
    scopes TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('creating', 'ready', 'deleting'))
  ) WITHOUT ROWID;
  `,
];

/** In the object of a user: the agencies of others that the user is a member of, named `review@bob`. */
export const sharedAgencyMigrations: Migrations = [
  `
  CREATE TABLE shared_agencies (
    ref TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    scopes TEXT NOT NULL
  ) WITHOUT ROWID;
  `,
];
