import { DurableObject } from "cloudflare:workers";
import { migrate, type Migrations } from "../../packages/runtime/src/store/migrate.ts";
import { agencyMigrations } from "../../packages/runtime/src/store/schema/agency.ts";
import { thinkMigrations } from "../../packages/runtime/src/store/schema/think.ts";
import { userMigrations } from "../../packages/runtime/src/store/schema/user.ts";

const reals: Record<string, Migrations> = { agency: agencyMigrations, user: userMigrations, think: thinkMigrations };

interface Asked {
  migrations?: string[];
  query: string;
  /** In their place the real ones of an object, with what was stored after so many of them; all, or up to one. */
  real?: string;
  steps?: number;
  stored?: string;
  upTo?: number;
}

/** An object whose migrations come with the request, so that a test can let time pass between releases. */
export class Store extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const { query, real, steps = 0, stored = "", upTo, migrations = [] } = (await request.json()) as Asked;
    const all = real ? (reals[real] ?? []).toSpliced(steps, 0, stored) : migrations;
    const { storage } = this.ctx;
    try {
      migrate(storage, all.slice(0, upTo));
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
