import { globalAgency } from "../protocol/defaults.ts";
import { parseAgencyId, parseAgentTarget } from "../protocol/target.ts";
import { type AgentHandle, createAgentHandle } from "./agent.ts";
import { type Agents, createAgents } from "./agents.ts";
import { type Caller, toCaller } from "./caller.ts";
import { createEndpointFetch, type RequestOptions, createHostFetch } from "./request.ts";

export { fail, isThinkeryError } from "../protocol/errors.ts";

export type { AgentHandle, EventsOptions, NewMessage } from "./agent.ts";
export type { Agents } from "./agents.ts";
export { type Capability, reduceCapability } from "./capability.ts";
export { type Caller, createCaller } from "./caller.ts";
export type { AgentFiles, DeleteOptions, FilePlace, OpenFile, PutOptions } from "./files.ts";
export { findOutcome } from "./outcome.ts";
export { withRetry as persist } from "./with-retry.ts";
export {
  type AgentSocket as Talk,
  openAgentSocket as talk,
  type ClientFrameInput as TalkFrame,
  type AgentSocketOptions as TalkOptions,
  type AgentSocketState as TalkState,
} from "./agent-socket.ts";
export type { Turn, TurnEvent } from "./turn.ts";
export { watch, type WatchOptions } from "./watch.ts";

export interface ClientOptions extends RequestOptions {
  /** So long agents' handles wait for a host that went away, in milliseconds; a minute if nothing is said. */
  retryTimeoutMs?: number;
}

export interface Client extends Caller {
  /** One agent: `client.agent("alice")`, `client.agent("alice@review:pr-123")`. Nothing is asked of the host yet. */
  agent(target: string): AgentHandle;
  /** The agents of an agency, the global one if nothing is said. */
  agents(agency?: string): Agents;
}

export function createClient({ retryTimeoutMs = 60_000, ...options }: ClientOptions): Client {
  const fetchEndpoint = createEndpointFetch(options);
  const { call } = toCaller(fetchEndpoint);
  const transport = { fetchEndpoint, fetchHost: createHostFetch(options), call, retryTimeoutMs };
  return {
    call,
    agent: (target) => createAgentHandle(transport, parseAgentTarget(target)),
    agents: (agency = globalAgency) => createAgents(transport, parseAgencyId(agency)),
  };
}
