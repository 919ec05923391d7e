import type { WebhookReceipt } from "@thinkery/sdk";

export interface StoredWebhook {
  name: string;
  /** The secret is derived from it. A webhook that is created again has another. */
  salt: string;
  createdAt: number;
  createdBy: string;
  lastDeliveryAt: number | undefined;
}

export interface StoredDelivery {
  signature: string;
  webhook: string;
  /** The sender's idempotency key. */
  key: string | undefined;
  /** When neither the signature nor the key can be used again. */
  forgetAt: number;
}

interface Row extends Record<string, SqlStorageValue> {
  name: string;
  salt: string;
  created_at: number;
  created_by: string;
  last_delivery_at: number | null;
}

interface DeliveryRow extends Record<string, SqlStorageValue> {
  status: WebhookReceipt["status"];
  turn: string;
}

/** An agent's webhooks, and what they received recently. Their tables are created with the first webhook. */
export class Webhooks {
  readonly #sql: SqlStorage;
  readonly #createTables: () => void;
  #hasTables: boolean | undefined;

  constructor(sql: SqlStorage, createTables: () => void) {
    this.#sql = sql;
    this.#createTables = createTables;
  }

  list(): StoredWebhook[] {
    if (!this.#checkTables()) return [];
    return this.#sql.exec<Row>("SELECT * FROM webhooks ORDER BY name").toArray().map(toWebhook);
  }

  find(name: string): StoredWebhook | undefined {
    if (!this.#checkTables()) return undefined;
    const [row] = this.#sql.exec<Row>("SELECT * FROM webhooks WHERE name = ?", name).toArray();
    return row && toWebhook(row);
  }

  add({ name, salt, createdAt, createdBy }: Omit<StoredWebhook, "lastDeliveryAt">): void {
    if (!this.#checkTables()) this.#createTables();
    this.#hasTables = true;
    this.#sql.exec(
      "INSERT INTO webhooks (name, salt, created_at, created_by) VALUES (?, ?, ?, ?)",
      name,
      salt,
      createdAt,
      createdBy,
    );
  }

  /** Deletes a webhook. Its deliveries are of no use without its secret. */
  remove(name: string): void {
    this.#sql.exec("DELETE FROM webhooks WHERE name = ?", name);
    this.#sql.exec("DELETE FROM webhook_deliveries WHERE webhook = ?", name);
  }

  isUsed(signature: string): boolean {
    return this.#sql.exec("SELECT 1 FROM webhook_deliveries WHERE signature = ?", signature).toArray().length > 0;
  }

  findByKey(webhook: string, key: string): WebhookReceipt | undefined {
    const [row] = this.#sql
      .exec<DeliveryRow>(
        "SELECT status, turn FROM webhook_deliveries WHERE webhook = ? AND key = ? LIMIT 1",
        webhook,
        key,
      )
      .toArray();
    return row && { status: row.status, runId: row.turn };
  }

  /** Notes that a signature was used, and forgets those that cannot be used any more. */
  addDelivery(
    { signature, webhook, key, forgetAt }: StoredDelivery,
    { status, runId }: WebhookReceipt,
    now: number,
  ): void {
    this.#sql.exec("DELETE FROM webhook_deliveries WHERE forget_at <= ?", now);
    this.#sql.exec(
      "INSERT INTO webhook_deliveries (signature, webhook, key, status, turn, forget_at) VALUES (?, ?, ?, ?, ?, ?)",
      signature,
      webhook,
      key ?? null,
      status,
      runId,
      forgetAt,
    );
    this.#sql.exec("UPDATE webhooks SET last_delivery_at = ? WHERE name = ?", now, webhook);
  }

  #checkTables(): boolean {
    this.#hasTables ??=
      this.#sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'webhooks'").toArray().length > 0;
    return this.#hasTables;
  }
}

function toWebhook(row: Row): StoredWebhook {
  return {
    name: row.name,
    salt: row.salt,
    createdAt: row.created_at,
    createdBy: row.created_by,
    lastDeliveryAt: row.last_delivery_at ?? undefined,
  };
}
