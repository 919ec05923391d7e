import { endpoints, fail, type Health, ownerUser } from "@thinkery/sdk";
import type { HostStatus } from "@thinkery/sdk/internal";
import type { Hono } from "hono";
import { openHost } from "../../host/host.ts";
import { openModels } from "../../model/catalogue.ts";
import type { Env } from "../../objects/env.ts";
import { createSlotClient } from "../../sandbox/open.ts";
import type { Caller } from "../authenticate.ts";
import { type HonoEnv, route } from "../route.ts";

export function addHostRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.health, ({ env, caller }) => (caller ? readHealth(env, caller) : { status: "ok" as const }));

  route(app, endpoints.shutdown, async ({ env }) => {
    const host = openHost(env.HOST);
    if (!host) throw fail("unavailable", "This Worker was not started by a daemon, so it cannot be stopped.");
    await host.shutdown();
    return { status: "stopping" as const };
  });

  route(app, endpoints.collectBlobs, ({ env, body: { dryRun, id } }) =>
    env.User.getByName(ownerUser).collections.collect({ ...(dryRun ? { dryRun } : {}), ...(id ? { id } : {}) }),
  );

  route(app, endpoints.openapi, async () => {
    const { createOpenApi } = await import("../openapi.ts");
    return createOpenApi();
  });
}

async function readHealth(env: Env, caller: Caller): Promise<Health> {
  const models = openModels(env);
  const [{ agencies, agents }, host, defaultModel, localServers] = await Promise.all([
    env.User.getByName(caller.user).getTotals(),
    openHost(env.HOST)?.status(),
    models.getDefaultModel(),
    models.listLocalServers(),
  ]);
  return {
    status: "ok",
    version: env.VERSION,
    uptime: Math.max(0, Math.round((Date.now() - Date.parse(host?.startedAt ?? env.STARTED_AT)) / 1000)),
    agencies,
    agents,
    models: { configured: [...new Set([...env.PROVIDERS, ...localServers])], default: defaultModel },
    ...(host ? { pid: host.pid, restarts: host.main.restarts, ...(await readSandboxes(env, host, caller)) } : {}),
    ...(host?.main.worker ? { worker: host.main.worker } : {}),
  };
}

/** Joins the daemon's view of the sandbox processes with the pool's. Only the owner sees whose code runs in them. */
async function readSandboxes(
  env: Env,
  { slots }: HostStatus,
  { user }: Caller,
): Promise<Pick<Health, "sandboxes" | "waitingRuns">> {
  const pools = await Promise.all([createSlotClient(env)?.status(), createSlotClient(env, "agents")?.status()]);
  const runsBySlot = pools
    .flatMap((pool) => pool?.slots ?? [])
    .map(({ runs, agent }) => ({
      runs,
      ...(agent && user === ownerUser ? { agent } : {}),
    }));
  return {
    sandboxes: slots
      .map((slot, index) => ({ ...slot, ...runsBySlot[index] }))
      // Those for user agents, until one needs them.
      .filter(({ state }) => state !== "unused"),
    waitingRuns: pools.reduce((sum, pool) => sum + (pool?.waiting ?? 0), 0),
  };
}
