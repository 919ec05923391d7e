import { endpoints, fail } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import type { Hono } from "hono";
import { openModels } from "../../model/catalogue.ts";
import { type HonoEnv, route } from "../route.ts";

export function addModelRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listProviders, async ({ env }) => {
    const models = openModels(env);
    const [providers, defaultModel] = await Promise.all([models.list(), models.getDefaultModel()]);
    return { providers, default: defaultModel };
  });

  route(app, endpoints.listModels, async ({ env, query }) => {
    const models = openModels(env);
    const [providers, defaultModel] = await Promise.all([models.list(), models.getDefaultModel()]);
    const names = providers.map(({ name }) => name);
    if (query.provider && !names.includes(query.provider)) {
      const suggestion = findNearest(query.provider, names);
      const advice = suggestion ? `Did you mean “${suggestion}”?` : `Known providers: ${names.join(", ")}.`;
      throw fail("not_found", `Unknown provider “${query.provider}”. ${advice}`, suggestion ? { suggestion } : {});
    }
    // Providers that are not ready are only listed if requested by name.
    const selected = providers.filter(({ name, status }) =>
      query.provider ? name === query.provider : status === "ready",
    );
    return { models: selected.flatMap((provider) => provider.models), default: defaultModel };
  });
}
