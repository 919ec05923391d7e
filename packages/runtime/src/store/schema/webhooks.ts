import type { Migrations } from "../migrate.ts";

/** Created with an agent's first webhook: most agents have none. */
export const webhookMigrations: Migrations = [
  // Not derived from the log: webhooks outlive the conversation, and who has used a signature must be known until it is
  // too old to be accepted.
  `
  CREATE TABLE webhooks (
    name TEXT PRIMARY KEY,
    salt TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    last_delivery_at INTEGER
  ) WITHOUT ROWID;
  CREATE TABLE webhook_deliveries (
    signature TEXT PRIMARY KEY,
    webhook TEXT NOT NULL,
    key TEXT,
    status TEXT NOT NULL CHECK (status IN ('resumed', 'accepted')),
    turn TEXT NOT NULL,
    forget_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX webhook_deliveries_key ON webhook_deliveries (webhook, key) WHERE key IS NOT NULL;
  CREATE INDEX webhook_deliveries_forget ON webhook_deliveries (forget_at);
  `,
];
