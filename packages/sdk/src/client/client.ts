import { globalAgency } from "../protocol/defaults.ts";
import { parseAgencyId, parseAgentTarget } from "../protocol/target.ts";
import { type AgentHandle, createAgentHandle } from "./agent.ts";
import { type Agents, createAgents } from "./agents.ts";
import { type Caller, toCaller } from "./caller.ts";
import { createAsk, type RequestOptions, createSend } from "./request.ts";

export { fail, isThinkeryError } from "../protocol/errors.ts";

export type { AgentHandle, EventsOptions, ToSend } from "./agent.ts";
export type { Agents } from "./agents.ts";
export { type Capability, capabilityAfter } from "./capability.ts";
export { type Caller, createCaller } from "./caller.ts";
export type { AgentFiles, DeleteOptions, FilePlace, OpenFile, PutOptions } from "./files.ts";
export { outcomeIn } from "./outcome.ts";
export { persist } from "./persist.ts";
export { type Talk, talk, type TalkFrame, type TalkOptions, type TalkState } from "./talk.ts";
export type { Turn, TurnEvent } from "./turn.ts";
export { watch, type WatchOptions } from "./watch.ts";

export interface ClientOptions extends RequestOptions {
  /** So long agents' handles wait for a host that went away, in milliseconds; a minute if nothing is said. */
  patience?: number;
}

export interface Client extends Caller {
  /** One agent: `client.agent("alice")`, `client.agent("alice@review:pr-123")`. Nothing is asked of the host yet. */
  agent(target: string): AgentHandle;
  /** The agents of an agency, the global one if nothing is said. */
  agents(agency?: string): Agents;
}

export function createClient({ patience = 60_000, ...options }: ClientOptions): Client {
  const ask = createAsk(options);
  const { call } = toCaller(ask);
  const reach = { ask, send: createSend(options), call, patience };
  return {
    call,
    agent: (target) => createAgentHandle(reach, parseAgentTarget(target)),
    agents: (agency = globalAgency) => createAgents(reach, parseAgencyId(agency)),
  };
}
