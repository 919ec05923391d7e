import { type Order, sampleOrders, sampleStock } from "./sample.ts";

/**
 * The shop's data in the agent's own database: durable, deleted together with the agent, and nothing to install. A real
 * shop would call its own service here instead.
 */
export class Shop {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS shop_orders (id TEXT PRIMARY KEY, data TEXT NOT NULL, looked_up INTEGER NOT NULL DEFAULT 0)",
    );
    sql.exec("CREATE TABLE IF NOT EXISTS shop_stock (sku TEXT PRIMARY KEY, count INTEGER NOT NULL)");
    sql.exec(
      "CREATE TABLE IF NOT EXISTS shop_refunds (id TEXT PRIMARY KEY, call TEXT NOT NULL, usd REAL NOT NULL, reason TEXT NOT NULL)",
    );
    if (sql.exec("SELECT 1 FROM shop_orders LIMIT 1").toArray().length > 0) return;
    for (const order of sampleOrders)
      sql.exec("INSERT INTO shop_orders (id, data) VALUES (?, ?)", order.id, JSON.stringify(order));
    for (const [sku, count] of Object.entries(sampleStock))
      sql.exec("INSERT INTO shop_stock (sku, count) VALUES (?, ?)", sku, count);
  }

  /** Returns an order and marks it as looked up, which a refund requires. */
  lookUp(id: string): Order & { refunded: boolean } {
    const order = this.#getOrder(id);
    this.#sql.exec("UPDATE shop_orders SET looked_up = 1 WHERE id = ?", id);
    return { ...order, refunded: this.#findRefund(id) !== undefined };
  }

  /** Refunds an order once, if the policy allows it. `callId` identifies a repeated call as the same refund. */
  refund(id: string, reason: string, callId: string): { id: string; refundedUsd: number } {
    const order = this.#getOrder(id);
    const existing = this.#findRefund(id);
    if (existing && existing.call !== callId) throw new Error(`Order ${id} has already been refunded.`);
    if (!this.#isLookedUp(id)) throw new Error(`Order ${id} has not been looked up. Look it up before refunding it.`);
    if (order.status !== "delivered")
      throw new Error(`Order ${id} is ${order.status}; only delivered orders can be refunded. Offer to cancel it.`);
    if (!existing)
      this.#sql.exec(
        "INSERT INTO shop_refunds (id, call, usd, reason) VALUES (?, ?, ?, ?)",
        id,
        callId,
        order.totalUsd,
        reason,
      );
    return { id, refundedUsd: order.totalUsd };
  }

  checkInventory(sku: string): { sku: string; count: number } {
    const [row] = this.#sql.exec<{ count: number }>("SELECT count FROM shop_stock WHERE sku = ?", sku).toArray();
    if (!row) throw new Error(`The shop does not sell ${sku}. It sells ${Object.keys(sampleStock).join(", ")}.`);
    return { sku, count: row.count };
  }

  #getOrder(id: string): Order {
    const [row] = this.#sql.exec<{ data: string }>("SELECT data FROM shop_orders WHERE id = ?", id).toArray();
    if (!row) throw new Error(`Order ${id} not found. Ask the customer for the number on the receipt.`);
    return JSON.parse(row.data) as Order;
  }

  #isLookedUp(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM shop_orders WHERE id = ? AND looked_up = 1", id).toArray().length > 0;
  }

  #findRefund(id: string): { call: string } | undefined {
    return this.#sql.exec<{ call: string }>("SELECT call FROM shop_refunds WHERE id = ?", id).toArray()[0];
  }
}
