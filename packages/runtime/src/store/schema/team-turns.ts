import type { Migrations } from "../migrate.ts";

/** Created with the first delivery to an agent: most agents get none. */
export const teamTurnMigrations: Migrations = [
  // The turns that handle messages of the agency, until it knows how they ended. `report` is set when the turn is over.
  `
  CREATE TABLE team_turns (
    delivery INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL,
    report TEXT
  );
  `,
];
