import { endpoints, fail } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import type { Hono } from "hono";
import { openModels } from "../../model/catalogue.ts";
import { type HonoEnv, route } from "../route.ts";

export function addModelRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listProviders, async ({ env }) => {
    const models = openModels(env);
    const [providers, fallback] = await Promise.all([models.list(), models.getDefaultModel()]);
    return { providers, default: fallback };
  });

  route(app, endpoints.listModels, async ({ env, query }) => {
    const models = openModels(env);
    const [providers, fallback] = await Promise.all([models.list(), models.getDefaultModel()]);
    const names = providers.map(({ name }) => name);
    if (query.provider && !names.includes(query.provider)) {
      const suggestion = findNearest(query.provider, names);
      const advice = suggestion ? `did you mean “${suggestion}”?` : `known are ${names.join(", ")}.`;
      throw fail("not_found", `There is no provider “${query.provider}”; ${advice}`, suggestion ? { suggestion } : {});
    }
    // Those that cannot be used now are listed when they are asked for by name.
    const wanted = providers.filter(({ name, status }) =>
      query.provider ? name === query.provider : status === "ready",
    );
    return { models: wanted.flatMap((provider) => provider.models), default: fallback };
  });
}
