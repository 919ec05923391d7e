import { DurableObject } from "cloudflare:workers";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { Registry } from "../../packages/runtime/src/store/registry.ts";
import { userMigrations } from "../../packages/runtime/src/store/schema/user.ts";
import { AgencyRegistry } from "../../packages/runtime/src/user/agencies.ts";

type Row = { name: string; colour: string };

/** An object with a registry, driven step by step so that a test can stop in the middle, as a crash would. */
export class RegistryObject extends DurableObject {
  readonly #registry: Registry<Row>;

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS things (name TEXT PRIMARY KEY, colour TEXT, state TEXT)");
    this.#registry = new Registry<Row>(ctx.storage.sql, "things", "name");
  }

  override async fetch(request: Request): Promise<Response> {
    const {
      step,
      name = "",
      limit = 100,
      after,
      fails = [],
      onRefusal = "delete",
    } = (await request.json()) as {
      step: string;
      name?: string;
      limit?: number;
      after?: string;
      fails?: string[];
      onRefusal?: "release" | "delete";
    };
    const registry = this.#registry;
    const calls: string[] = [];
    const recordCall = (action: string) => async (row: Row | string) => {
      const key = typeof row === "string" ? row : `${row.name}:${row.colour}`;
      if (fails.some((name) => key.startsWith(name))) throw new Error("unavailable");
      calls.push(`${action} ${key}`);
    };
    const steps: Record<string, () => unknown> = {
      add: () => registry.add({ name, colour: "red" }, async () => {}, "delete"),
      refuse: async () => {
        const refuse = () => Promise.reject(new Error("no"));
        return registry.add({ name, colour: "red" }, refuse, onRefusal).catch((error: Error) => error.message);
      },
      reserve: () => registry.reserve({ name, colour: "red" }),
      confirm: () => registry.confirm(name),
      markDeleting: () => registry.markDeleting(name),
      remove: () => registry.remove(name, async () => {}),
      state: () => registry.find(name)?.state ?? null,
      fillAgencies: () => this.#fillAgencies(),
      page: () => registry.page({ limit, ...(after ? { after } : {}) }),
      settle: async () => ({
        settled: await registry.settle(recordCall("create"), recordCall("erase")),
        calls: calls.sort(),
      }),
    };
    return Response.json((await steps[step]?.()) ?? null);
  }

  /** Adds agencies until that fails, then one in place of another. */
  async #fillAgencies() {
    migrate(this.ctx.storage, { user: userMigrations });
    const agencies = new AgencyRegistry(this.ctx.storage.sql, "bob");
    const add = (id: string) => {
      const agency = { id, name: id, owner: "bob", createdAt: new Date().toISOString() };
      return agencies.add(agency, async () => {}).catch((error: { code: string }) => error.code);
    };
    for (let count = 0; count < 2000; count++) {
      const code = await add(`agency-${count}`);
      if (code === undefined) continue;
      await agencies.remove("agency-0", async () => {});
      return { count, code, afterRemoval: (await add("other")) ?? null };
    }
    return undefined;
  }
}

export default {
  fetch(
    request: Request,
    env: { RegistryObject: DurableObjectNamespace<RegistryObject> },
  ): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.RegistryObject.getByName(new URL(request.url).pathname).fetch(request);
  },
};
