import type { AgencyTool, AgencyToolDefinition, AgencyToolQuery, AgentTool } from "../protocol/agency-tool.ts";
import type { Transport } from "./transport.ts";
import { withRetry } from "./with-retry.ts";

/** The tools that are given to the agents of an agency. */
export interface AgencyTools {
  list(): Promise<AgencyTool[]>;
  /** Returns every tool that an agent has, where it comes from, and whether its model is offered it now. */
  listOf(agent: string): Promise<AgentTool[]>;
  /**
   * Gives a tool to all agents, or to one, from their next turns on. Throws `conflict` if they have another one with this
   * name. A mock takes the place of any tool.
   *
   * ```ts
   * await client.tools("review").put({ name: "fetch", mock: { status: 200, body: "Hello" } }, { agent: "alice" });
   * ```
   */
  put(tool: AgencyToolDefinition, options?: { agent?: string }): Promise<AgencyTool>;
  /** Deletes a mock if there is one with this name, otherwise the tool. */
  delete(name: string, options?: AgencyToolQuery): Promise<void>;
}

export function createAgencyTools(
  { call, retryTimeoutMs }: Pick<Transport, "call" | "retryTimeoutMs">,
  agency: string,
): AgencyTools {
  const params = { agency };
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>) => withRetry(request, { retryTimeoutMs });
  return {
    list: async () => (await retry((signal) => call("listAgencyTools", { params, signal }))).tools,
    listOf: async (agent) =>
      (await retry((signal) => call("listAgentTools", { params: { agency, agent }, signal }))).tools,
    put: (tool, options = {}) =>
      retry((signal) => {
        const body = { tool, ...options };
        return call("putAgencyTool", { params: { agency, tool: tool.name }, body, signal });
      }),
    delete: async (tool, query = {}) => void (await call("deleteAgencyTool", { params: { agency, tool }, query })),
  };
}
