import { AgentSystem } from "@thinkery/runtime";
import { defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";

// Agents that talk to facets of their own class. Unlike sub-agents, these have no tasks, budgets or results: the tests
// only check that the object knows its address and works there.

const system = new AgentSystem({ defaultModel: "scripted:default" }).defaults().export();

export const { Agency, User, Supervision, handler } = system;
export default handler;

export class Think extends system.Think {
  protected override getCustomTools(): readonly Tool[] {
    return [this.#createAskFacetTool()];
  }

  #createAskFacetTool(): Tool {
    return defineTool(
      {
        name: "ask_facet",
        description: "Asks a facet.",
        inputSchema: z.object({ name: z.string(), message: z.string() }),
        idempotent: true,
      },
      async ({ name, message }, { runId }) => {
        // The SDK's stub type has methods only, not the features behind getters.
        const facet = (await this.dynamicAgents.get(Think, name)) as unknown as Pick<
          Think,
          "register" | "conversation"
        >;
        const { driver: _, ...info } = await this.describe();
        await facet.register({ ...info, name });
        const { conversation } = facet;
        const from = { user: "owner", context: {} };
        const admission = await conversation.admit(
          { message, mode: "queue", idempotencyKey: `${runId}-${message}` },
          from,
        );
        const result = await conversation.waitForOutcome(admission.runId);
        const { state } = await conversation.getState();
        return JSON.stringify({ address: state.threadId, content: "outcome" in result ? result.outcome.content : "" });
      },
    );
  }
}
