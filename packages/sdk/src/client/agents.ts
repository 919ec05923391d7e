import type { Agent } from "../protocol/agent.ts";
import type { BodyIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import { type AgentHandle, createAgentHandle, type Transport } from "./agent.ts";

/** The agents of one agency. */
export interface Agents {
  /** All of them, however many pages that takes. */
  list(): AsyncGenerator<Agent>;
  create(agent?: BodyIn<Endpoints["createAgent"]>): Promise<AgentHandle>;
}

export function createAgents(reach: Transport, agency: string): Agents {
  const params = { agency };
  return {
    async *list() {
      let after: string | undefined;
      do {
        const { agents, next } = await reach.call("listAgents", {
          params,
          query: { limit: 500, ...(after === undefined ? {} : { after }) },
        });
        yield* agents;
        after = next;
      } while (after !== undefined);
    },
    async create(agent = {}) {
      const { name } = await reach.call("createAgent", { params, body: agent });
      return createAgentHandle(reach, { kind: "agent", agency, agent: name });
    },
  };
}
