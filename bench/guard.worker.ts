import type { Env } from "../packages/runtime/src/objects/env.ts";

export { Agency, Think, User } from "../packages/runtime/src/main.ts";

/** Reads the same object without guard, router and schemas. */
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const agency = env.Agency.getByName("global");
    if (request.method === "POST") return Response.json(await agency.createAgent({ name: "alice" }));
    if (request.url.endsWith("/agent")) return Response.json(await agency.getAgent("alice"));
    return new Response("alive");
  },
};
