import { type CancelResponse, fail, type Sender, type Spawn, type SpawnResponse, type Subagent } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AgentStore } from "../store/agent-store.ts";
import type { SubagentRow } from "../store/subagent-row.ts";
import type { AgentParts } from "./assemble-agent.ts";

/** The sub-agents of an agent, for clients. */
export class SubagentsApi extends RpcTarget {
  readonly #open: () => Promise<AgentParts>;

  constructor(open: () => Promise<AgentParts>) {
    super();
    this.#open = open;
  }

  async spawn(spawn: Spawn, from: Sender): Promise<SpawnResponse> {
    const { subagents, recorder, store } = await this.#open();
    if (store.facts.getStoppedBy() !== undefined)
      throw fail("conflict", "The agent is stopped and delegates nothing. Start it first: `thinkery start <agent>`.");
    const source = { from, record: recorder.record.bind(recorder) };
    const { taskId, facetName, status } = await subagents.delegate({ ...spawn, wait: false }, source);
    return { facetName, taskId, status };
  }

  async list(): Promise<Subagent[]> {
    return (await this.#open()).subagents.list();
  }

  async get(taskId: string): Promise<Subagent> {
    return (await this.#open()).subagents.get(taskId);
  }

  async remove(taskId: string): Promise<void> {
    await (await this.#open()).subagents.remove(taskId);
  }

  /**
   * Cancels the work of a sub-agent, or one of its turns. Work can be left when its turn is over, and before it exists:
   * its own sub-agents, the merge of its fork, a place in the queue.
   */
  async cancel(facetName: string, runId?: string): Promise<CancelResponse> {
    const { subagents, children, store } = await this.#open();
    const { taskId } = requireByName(store, facetName);
    const status = await children.describe(facetName).catch(() => undefined);
    const isWork = runId === undefined || runId === status?.runId;
    if (isWork && (await subagents.cancel(taskId)))
      return { ...(status?.runId === undefined ? {} : { runId: status.runId }), status: "canceled" };
    const response = await children.forward(facetName, [], {
      feature: "conversation",
      method: "cancel",
      args: [runId],
    });
    return response as CancelResponse;
  }

  /** Removes a sub-agent by its name. */
  async removeByName(facetName: string): Promise<void> {
    const { subagents, store } = await this.#open();
    await subagents.remove(requireByName(store, facetName).taskId);
  }
}

function requireByName({ subagents }: AgentStore, facetName: string): SubagentRow {
  const row = subagents.findByFacet(facetName);
  if (!row || row.isDeleted) throw fail("not_found", `Sub-agent “${facetName}” not found.`);
  return row;
}
