import type { AnswerOf } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import { parseAgencyId, parseAgentTarget } from "../protocol/target.ts";
import { globalAgency } from "../protocol/defaults.ts";
import { type AgentHandle, agentHandle } from "./agent.ts";
import { type Agents, agentsIn } from "./agents.ts";
import { type Arguments, asking, type RequestOptions } from "./request.ts";

export { fail, isThinkeryError } from "../protocol/errors.ts";

export type { AgentHandle, EventsOptions, ToSend } from "./agent.ts";
export type { Agents } from "./agents.ts";
export { outcomeIn } from "./outcome.ts";
export { persist } from "./persist.ts";
export { type Talk, talk, type TalkFrame, type TalkOptions, type TalkState } from "./talk.ts";
export type { Turn, TurnEvent } from "./turn.ts";
export { watch, type WatchOptions } from "./watch.ts";

export interface ClientOptions extends RequestOptions {
  /** So long agents' handles wait for a host that went away, in milliseconds; a minute if nothing is said. */
  patience?: number;
}

export interface Client {
  /** Calls one endpoint by its name: `client.call("getAgent", { params: { agency: "global", agent: "alice" } })`. */
  call<Name extends keyof Endpoints>(
    name: Name,
    ...input: Arguments<Endpoints[Name]>
  ): Promise<AnswerOf<Endpoints[Name]>>;
  /** One agent: `client.agent("alice")`, `client.agent("alice@review:pr-123")`. Nothing is asked of the host yet. */
  agent(target: string): AgentHandle;
  /** The agents of an agency, the global one if nothing is said. */
  agents(agency?: string): Agents;
}

export function createClient({ patience = 60_000, ...options }: ClientOptions): Client {
  const ask = asking(options);
  const call: Client["call"] = async (name, ...[input]) => {
    const response = await ask(name, input ?? {}, "application/json");
    return (response.status === 204 ? undefined : await response.json()) as never;
  };
  return {
    call,
    agent: (target) => agentHandle({ ask, call, patience }, parseAgentTarget(target)),
    agents: (agency = globalAgency) => agentsIn({ ask, call, patience }, parseAgencyId(agency)),
  };
}
