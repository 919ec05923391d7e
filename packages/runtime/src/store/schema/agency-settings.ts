import type { Migrations } from "../migrate.ts";

/** The settings and variables of an agency, where they differ from the defaults. */
export const agencySettingsMigrations: Migrations = [
  `
  CREATE TABLE agency_settings (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    settings TEXT NOT NULL,
    vars TEXT NOT NULL
  );
  `,
];
