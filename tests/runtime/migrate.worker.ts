import { DurableObject } from "cloudflare:workers";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";

/** An object whose migrations come with the request, so that a test can let time pass between releases. */
export class Store extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const { migrations, query } = (await request.json()) as { migrations: string[]; query: string };
    const { storage } = this.ctx;
    try {
      migrate(storage, migrations);
      return Response.json({ rows: storage.sql.exec(query).toArray() });
    } catch (error) {
      return Response.json({ error: (error as Error).message, tables: tablesOf(storage.sql) });
    }
  }
}

const tablesOf = (sql: SqlStorage) =>
  sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name").toArray().map(({ name }) => name);

export default {
  fetch(request: Request, env: { Store: DurableObjectNamespace<Store> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.Store.getByName(new URL(request.url).pathname).fetch(request);
  },
};
