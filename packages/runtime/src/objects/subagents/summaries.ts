import type { AgentAddress, SubagentSummary } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import { isActive, toSubagent } from "../../store/subagent-row.ts";
import type { AgentFeature } from "../feature.ts";

interface SummariesOptions {
  address: AgentAddress;
  store: AgentStore;
  /** Tells the agency which sub-agents there are, for its lists. */
  send(parent: string, summaries: SubagentSummary[]): Promise<void>;
  waitUntil(work: Promise<unknown>): void;
}

/** Finished sub-agents that lists show, besides those that work. */
const maxFinished = 20;
const sendDelayMs = 200;

/** Keeps the agency's list of an agent's sub-agents up to date. A lost summary is made up for by the next one. */
export class SubagentSummaries implements AgentFeature {
  readonly #options: SummariesOptions;
  #sentChanges = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SummariesOptions) {
    this.#options = options;
  }

  /** Called after every change of the store. */
  noteChange(): void {
    if (this.#options.store.subagents.changes !== this.#sentChanges) this.#sendSoon();
  }

  /** Called when the agent wakes: the last summary may have been lost with the memory. */
  wake(): void {
    if (this.#options.store.subagents.list(1).length > 0) this.#sendSoon();
  }

  halt(): void {
    clearTimeout(this.#timer);
  }

  #sendSoon(): void {
    this.#sentChanges = this.#options.store.subagents.changes;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const { address, send, waitUntil } = this.#options;
      const failed = (error: unknown) => console.error("sub-agents could not be listed in the agency", error);
      waitUntil(send(address.path.join("/"), this.#list()).catch(failed));
    }, sendDelayMs);
  }

  #list(): SubagentSummary[] {
    const { subagents } = this.#options.store;
    const rows = subagents.list().filter(({ isDeleted }) => !isDeleted);
    const finished = rows.filter((row) => !isActive(row)).slice(0, maxFinished);
    return rows
      .filter((row) => isActive(row) || finished.includes(row))
      .map(toSubagent)
      .map(({ facetName, agentType, title, status, waitingFor, createdAt }) => ({
        name: facetName,
        blueprint: agentType,
        title,
        status,
        ...(waitingFor === undefined ? {} : { waitingFor }),
        createdAt: new Date(createdAt).toISOString(),
      }));
  }
}
