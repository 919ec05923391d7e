import type { Migrations } from "../migrate.ts";

export const thinkMigrations: Migrations = [
  `
  CREATE TABLE registration (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    agent TEXT NOT NULL,
    props TEXT
  );
  `,
];
