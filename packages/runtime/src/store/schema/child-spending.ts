import type { Migrations } from "../migrate.ts";

/** What the sub-agents of an agent have spent, and what is leased to them. Derived from its log. */
export const childSpendingTables = `
  CREATE TABLE subagent_spending (
    task TEXT NOT NULL,
    day TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    unknown INTEGER NOT NULL,
    PRIMARY KEY (task, day)
  );
  CREATE TABLE subagent_leases (
    task TEXT PRIMARY KEY,
    steps INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL
  );
`;

export const childSpendingMigrations: Migrations = [childSpendingTables];
