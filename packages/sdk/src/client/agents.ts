import type { Agent } from "../protocol/agent.ts";
import type { BodyIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import { type AgentHandle, createAgentHandle } from "./agent.ts";
import type { Transport } from "./transport.ts";

/** The agents of one agency. */
export interface Agents {
  /** Iterates over all agents, loading pages as needed. */
  list(): AsyncGenerator<Agent>;
  /** Creates an agent and returns its handle. */
  create(agent?: BodyIn<Endpoints["createAgent"]>): Promise<AgentHandle>;
}

export function createAgents(transport: Transport, agency: string): Agents {
  const params = { agency };
  return {
    async *list() {
      let after: string | undefined;
      do {
        const { agents, next } = await transport.call("listAgents", {
          params,
          query: { limit: 500, ...(after === undefined ? {} : { after }) },
        });
        yield* agents;
        after = next;
      } while (after !== undefined);
    },
    async create(agent = {}) {
      const { name } = await transport.call("createAgent", { params, body: agent });
      return createAgentHandle(transport, { kind: "agent", agency, agent: name });
    },
  };
}
