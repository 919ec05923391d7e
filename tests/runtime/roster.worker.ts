import { DurableObject } from "cloudflare:workers";
import { Registry } from "../../packages/runtime/src/store/registry.ts";

type Row = { name: string; colour: string };

/** An object with a roster, to be driven step by step and left in the middle, as a crash would. */
export class Keeper extends DurableObject {
  readonly #roster: Registry<Row>;

  constructor(ctx: DurableObjectState, env: object) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS things (name TEXT PRIMARY KEY, colour TEXT, state TEXT)");
    this.#roster = new Registry<Row>(ctx.storage.sql, "things", "name");
  }

  override async fetch(request: Request): Promise<Response> {
    const {
      step,
      name = "",
      limit = 100,
      after,
      fails = [],
      refused = "condemn",
    } = (await request.json()) as {
      step: string;
      name?: string;
      limit?: number;
      after?: string;
      fails?: string[];
      refused?: "give back" | "condemn";
    };
    const roster = this.#roster;
    const told: string[] = [];
    const other = (what: string) => async (row: Row | string) => {
      const key = typeof row === "string" ? row : `${row.name}:${row.colour}`;
      if (fails.some((one) => key.startsWith(one))) throw new Error("not now");
      told.push(`${what} ${key}`);
    };
    const steps: Record<string, () => unknown> = {
      add: () => roster.add({ name, colour: "red" }, async () => {}, "condemn"),
      refuse: async () => {
        const refusal = () => Promise.reject(new Error("no"));
        return roster.add({ name, colour: "red" }, refusal, refused).catch((error: Error) => error.message);
      },
      reserve: () => roster.reserve({ name, colour: "red" }),
      confirm: () => roster.confirm(name),
      condemn: () => roster.markDeleting(name),
      drop: () => roster.remove(name, async () => {}),
      row: () => roster.find(name)?.state ?? null,
      page: () => roster.page({ limit, ...(after ? { after } : {}) }),
      settle: async () => ({ any: await roster.settle(other("create"), other("erase")), told: told.sort() }),
    };
    return Response.json((await steps[step]?.()) ?? null);
  }
}

export default {
  fetch(request: Request, env: { Keeper: DurableObjectNamespace<Keeper> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.Keeper.getByName(new URL(request.url).pathname).fetch(request);
  },
};
