import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { readCallerContext } from "../caller-context.ts";
import { requireAgent } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

/** The sub-agents of one agent. */
export function addSubagentRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.spawnSubagent, async (call) => {
    const from = { user: call.caller.user, context: readCallerContext(call.request) };
    return (await requireAgent(call)).subagents.spawn(call.body, from);
  });

  route(app, endpoints.listSubagents, async (call) => ({
    subagents: await (await requireAgent(call)).subagents.list(),
  }));

  route(app, endpoints.getSubagent, async (call) => (await requireAgent(call)).subagents.get(call.params.task));

  route(app, endpoints.deleteSubagent, async (call) => {
    await (await requireAgent(call)).subagents.remove(call.params.task);
    return undefined;
  });
}
