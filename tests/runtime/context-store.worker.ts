import { DurableObject } from "cloudflare:workers";
import { SqlContextStore } from "../../packages/runtime/src/agency/team/sql-context-store.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { teamMigrations } from "../../packages/runtime/src/store/schema/team.ts";
import { runSteps, type Step } from "./context-store-steps.ts";

/** Channels and inboxes in SQLite, by themselves. Each request opens them again, as after a crash. */
export class StoreObject extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const { steps } = (await request.json()) as { steps: Step[] };
    migrate(this.ctx.storage, { team: teamMigrations });
    const meter = new SqlMeter(this.ctx.storage);
    const outcomes = runSteps(new SqlContextStore(meter.storage), steps);
    return Response.json({ outcomes, rows: meter.countRows(), plans: meter.explain() });
  }
}

/** Records the queries of a store, and how many rows they read and write. */
class SqlMeter {
  readonly storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  readonly #values = new Map<string, SqlStorageValue[]>();

  constructor(storage: DurableObjectStorage) {
    const { sql } = storage;
    this.#sql = sql;
    this.storage = {
      sql: {
        exec: (query: string, ...values: SqlStorageValue[]) => {
          const cursor = sql.exec(query, ...values);
          this.#cursors.push(cursor);
          this.#values.set(query, values);
          return cursor;
        },
      },
      transactionSync: <T>(work: () => T) => storage.transactionSync(work),
    } as unknown as DurableObjectStorage;
  }

  countRows(): number {
    return this.#cursors.reduce((sum, { rowsRead, rowsWritten }) => sum + rowsRead + rowsWritten, 0);
  }

  /** Returns how SQLite runs each query. */
  explain(): { query: string; plan: string[] }[] {
    return [...this.#values].map(([query, values]) => {
      const rows = this.#sql.exec<{ detail: string }>(`EXPLAIN QUERY PLAN ${query}`, ...values).toArray();
      return { query, plan: rows.map(({ detail }) => detail) };
    });
  }
}

export default {
  fetch(request: Request, env: { StoreObject: DurableObjectNamespace<StoreObject> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.StoreObject.getByName(new URL(request.url).pathname).fetch(request);
  },
};
