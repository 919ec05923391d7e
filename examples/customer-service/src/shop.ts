import { type Order, sampleOrders, sampleStock } from "./sample.ts";

/**
 * The shop's books, in the agent's own database: durable, gone when the agent is deleted, and nothing to install. A
 * real shop would ask its own service in these same places.
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

  /** An order as it is now. Whoever looks at it has seen it, which a refund asks for. */
  lookUp(id: string): Order & { refunded: boolean } {
    const order = this.#order(id);
    this.#sql.exec("UPDATE shop_orders SET looked_up = 1 WHERE id = ?", id);
    return { ...order, refunded: this.#refund(id) !== undefined };
  }

  /** Pays an order back: once, and only where the shop's policy allows it. `call` makes a repeated call the same refund. */
  refund(id: string, reason: string, call: string): { id: string; refundedUsd: number } {
    const order = this.#order(id);
    const before = this.#refund(id);
    if (before && before.call !== call) throw new Error(`Order ${id} was refunded already.`);
    if (!this.#seen(id)) throw new Error(`Order ${id} has not been looked up. Look at it before money is paid back.`);
    if (order.status !== "delivered")
      throw new Error(`Order ${id} is ${order.status}; only delivered orders are refunded. Offer to cancel it.`);
    if (!before)
      this.#sql.exec(
        "INSERT INTO shop_refunds (id, call, usd, reason) VALUES (?, ?, ?, ?)",
        id,
        call,
        order.totalUsd,
        reason,
      );
    return { id, refundedUsd: order.totalUsd };
  }

  inventory(sku: string): { sku: string; count: number } {
    const [row] = this.#sql.exec<{ count: number }>("SELECT count FROM shop_stock WHERE sku = ?", sku).toArray();
    if (!row) throw new Error(`The shop does not sell ${sku}. It sells ${Object.keys(sampleStock).join(", ")}.`);
    return { sku, count: row.count };
  }

  #order(id: string): Order {
    const [row] = this.#sql.exec<{ data: string }>("SELECT data FROM shop_orders WHERE id = ?", id).toArray();
    if (!row) throw new Error(`There is no order ${id}. Ask the customer for the number on the receipt.`);
    return JSON.parse(row.data) as Order;
  }

  #seen(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM shop_orders WHERE id = ? AND looked_up = 1", id).toArray().length > 0;
  }

  #refund(id: string): { call: string } | undefined {
    return this.#sql.exec<{ call: string }>("SELECT call FROM shop_refunds WHERE id = ?", id).toArray()[0];
  }
}
