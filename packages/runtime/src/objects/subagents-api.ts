import { fail, type Sender, type Spawn, type SpawnResponse, type Subagent } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
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

  /** Removes a sub-agent by its name. */
  async removeByName(facetName: string): Promise<void> {
    const { subagents, store } = await this.#open();
    const row = store.subagents.findByFacet(facetName);
    if (!row || row.isDeleted) throw fail("not_found", `Sub-agent “${facetName}” not found.`);
    await subagents.remove(row.taskId);
  }
}
