import type { Env } from "../packages/runtime/src/objects/env.ts";

export { Agency } from "../packages/runtime/src/objects/agency.ts";
export { Think } from "../packages/runtime/src/objects/think.ts";
export { User } from "../packages/runtime/src/objects/user.ts";

/** The same object asked the same thing, with nothing in front of it. */
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const agency = env.Agency.getByName("global");
    if (request.method === "POST") return Response.json(await agency.createAgent("owner", { name: "alice" }));
    if (request.url.endsWith("/agent")) return Response.json(await agency.getAgent("alice"));
    return new Response("alive");
  },
};
