import { endpoints, fail, ToolError } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import { type AgentLinux, openLinux } from "../../sandbox/linux.ts";
import type { Caller } from "../authenticate.ts";
import { enterAgent, requireAgent } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";
import { readSubPath } from "../sub-path.ts";

/** The background processes of an agent's Linux sandbox. Answered by the daemon, without waking the agent. */
export function addProcessRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listProcesses, (call) => callLinux(call, async (linux) => ({ processes: await linux.list() })));

  route(app, endpoints.getProcess, (call) => callLinux(call, (linux) => linux.read(call.params.id, call.query.after)));

  route(app, endpoints.stopProcess, (call) => callLinux(call, (linux) => linux.stop(call.params.id)));
}

interface AgentCall {
  env: Env;
  caller: Caller;
  request: Request;
  params: { agency: string; agent: string };
}

async function callLinux<T>(
  { env, caller, request, params }: AgentCall,
  run: (linux: AgentLinux) => Promise<T>,
): Promise<T> {
  const name = await enterAgent(env, caller.user, params.agency, params.agent);
  const sub = readSubPath(request);
  if (sub.length > 0) await requireAgent({ env, caller, request, params });
  try {
    return await run(openLinux(env, [name, ...sub].join("/")));
  } catch (error) {
    throw error instanceof ToolError ? fail("unavailable", error.message) : error;
  }
}
