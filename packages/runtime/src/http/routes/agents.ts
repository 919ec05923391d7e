import { type Agent, endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgency, forgetAgent, requireAgent } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";
import { readSubPath } from "../sub-path.ts";

export function addAgentRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listAgents, async ({ env, caller, params, query }) => {
    const { agents, ...page } = await (await enterAgency(env, caller.user, params.agency)).listAgents(query);
    return { agents: agents.map((agent) => toSeen(params, agent)), ...page };
  });

  route(app, endpoints.createAgent, async ({ env, caller, params, body }) => {
    return toSeen(params, await (await enterAgency(env, caller.user, params.agency)).createAgent(body));
  });

  route(app, endpoints.getAgent, async (call) => {
    const { env, caller, params, request } = call;
    const isSubagent = readSubPath(request).length > 0;
    const agent = isSubagent
      ? await (await requireAgent(call)).conversation.getAgent()
      : await (await enterAgency(env, caller.user, params.agency)).getAgent(params.agent);
    return toSeen(params, agent);
  });

  route(app, endpoints.deleteAgent, async (call) => {
    const { env, caller, params } = call;
    const sub = readSubPath(call.request);
    const name = sub.pop();
    if (name !== undefined) {
      await (await requireAgent(call, sub)).subagents.removeByName(name);
      return undefined;
    }
    const agency = await enterAgency(env, caller.user, params.agency);
    forgetAgent(caller.user, params.agency, params.agent);
    await agency.deleteAgent(params.agent);
    forgetAgent(caller.user, params.agency, params.agent);
    return undefined;
  });
}

/** Returns an agent with the name that the caller uses for its agency, such as `review@bob`. */
const toSeen = ({ agency }: { agency: string }, agent: Agent): Agent => ({ ...agent, agency });
