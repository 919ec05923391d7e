/** Usage totals: an agency's of its agents, and a user's of their agencies. */
export const accountTables = `
  CREATE TABLE books (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    budget TEXT,
    version INTEGER NOT NULL
  );
  INSERT INTO books VALUES (1, NULL, 0);
  CREATE TABLE accounts (
    name TEXT NOT NULL,
    since INTEGER NOT NULL,
    version INTEGER NOT NULL,
    reserved_steps INTEGER NOT NULL,
    reserved_tokens INTEGER NOT NULL,
    reserved_usd REAL NOT NULL,
    PRIMARY KEY (name, since)
  ) WITHOUT ROWID;
  CREATE INDEX accounts_reserved ON accounts (name) WHERE reserved_steps > 0;
  CREATE TABLE account_spending (
    name TEXT NOT NULL,
    since INTEGER NOT NULL,
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
    PRIMARY KEY (name, since, day, model)
  ) WITHOUT ROWID;
  CREATE INDEX account_spending_day ON account_spending (day);
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
  ) WITHOUT ROWID;
`;
