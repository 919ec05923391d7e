import { DurableObject } from "cloudflare:workers";
import { migrate, type Migrations, type Schema } from "../../packages/runtime/src/store/migrate.ts";
import { agencyMigrations } from "../../packages/runtime/src/store/schema/agency.ts";
import { agentMigrations } from "../../packages/runtime/src/store/schema/agent.ts";
import { formerThinkSteps, thinkSchema, thinkTables } from "../../packages/runtime/src/store/schema/think.ts";
import { userMigrations } from "../../packages/runtime/src/store/schema/user.ts";

const realMigrations: Record<string, Migrations> = {
  agency: agencyMigrations,
  user: userMigrations,
  think: agentMigrations,
};

interface MigrateRequest {
  migrations?: string[];
  query: string;
  /** Uses an object's real migrations instead, running `stored` after `steps` of them; all, or the first `upTo`. */
  real?: string;
  steps?: number;
  stored?: string;
  upTo?: number;
  /** Uses an agent's whole schema, on data of a release whose single counter was at this number. */
  formerSteps?: number;
  /** Uses an agent's whole schema for a new object: with its current tables, or by replaying all steps. */
  created?: boolean;
  /** Migrations of several features. */
  schema?: Schema;
  optional?: string[];
}

/** An object whose migrations come with the request, so that a test can simulate several releases. */
export class Store extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const {
      query,
      real,
      steps = 0,
      stored = "",
      upTo,
      migrations = [],
      formerSteps,
      created,
      schema,
      optional,
    } = (await request.json()) as MigrateRequest;
    const all = real ? (realMigrations[real] ?? []).toSpliced(steps, 0, stored) : migrations;
    const { storage } = this.ctx;
    try {
      if (formerSteps !== undefined) {
        storage.sql.exec("CREATE TABLE thinkery_schema (version INTEGER NOT NULL)");
        storage.sql.exec("INSERT INTO thinkery_schema VALUES (?)", formerSteps);
        for (const step of Object.values(thinkSchema)
          .flatMap((steps, index) => steps.slice(0, index === 0 ? 4 : 2))
          .slice(0, formerSteps))
          storage.sql.exec(step);
        migrate(storage, thinkSchema, { formerSteps: formerThinkSteps });
      } else if (created !== undefined) migrate(storage, thinkSchema, created ? { tables: thinkTables } : {});
      else migrate(storage, schema ?? { test: all.slice(0, upTo) }, optional ? { optional } : {});
      return Response.json({ rows: storage.sql.exec(query).toArray() });
    } catch (error) {
      return Response.json({ error: (error as Error).message, tables: listTables(storage.sql) });
    }
  }
}

const listTables = (sql: SqlStorage) =>
  sql
    .exec<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name",
    )
    .toArray()
    .map(({ name }) => name);

export default {
  fetch(request: Request, env: { Store: DurableObjectNamespace<Store> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.Store.getByName(new URL(request.url).pathname).fetch(request);
  },
};
