import type { EventData } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import type { SubagentRow } from "../../store/subagent-row.ts";
import type { UsageReport } from "../../store/usage-totals.ts";
import type { SpendingStatement } from "../../turn/budget/child-leases.ts";
import type { Recorder } from "../../turn/loop/recorder.ts";
import type { ChildClient } from "./child-client.ts";
import type { Forks } from "./forks.ts";

interface ChildRemoverOptions {
  store: AgentStore;
  recorder: Recorder;
  children: ChildClient;
  forks: Forks;
  /** Tells the agency what deleted sub-agents have spent, and deletes their folders. */
  closeAccounts(reports: UsageReport[]): Promise<void>;
}

/** Deletes sub-agents that have finished, with everyone below them. Every step may be repeated after a crash. */
export class ChildRemover {
  readonly #options: ChildRemoverOptions;

  constructor(options: ChildRemoverOptions) {
    this.#options = options;
  }

  /** Also removes its branch, merged or not. */
  async remove(row: SubagentRow): Promise<void> {
    await this.#removeFacet(row);
    await this.#options.forks.remove(row);
  }

  async #removeFacet({ childThreadId, taskId, facetName, token, isDeleted }: SubagentRow): Promise<void> {
    if (isDeleted) return;
    const { children, recorder, closeAccounts } = this.#options;
    const statement = await children.cancel(facetName, token);
    await closeAccounts(await children.retire(facetName));
    await children.delete(facetName);
    recorder.record({
      type: "subagent.deleted",
      data: { childThreadId, taskId, ...(statement ? withoutLease(statement) : {}) },
    });
  }

  async removeAll(): Promise<void> {
    for (const row of this.#options.store.subagents.list(Number.MAX_SAFE_INTEGER)) await this.remove(row);
  }

  /** Removes the oldest if there are more than `max`. Branches that were not merged stay. */
  async removeExcess(max: number): Promise<void> {
    for (const row of this.#options.store.subagents.listExcess(max)) await this.#removeFacet(row);
  }

  /** Stops all for good, because the agent is about to be erased. Returns what each has spent. */
  async retireAll(): Promise<UsageReport[]> {
    const { children } = this.#options;
    const reports: UsageReport[] = [];
    for (const name of children.list()) reports.push(...(await children.retire(name)));
    return reports;
  }
}

/** What it had reserved is not needed any more. */
function withoutLease({ usage, days }: SpendingStatement): Pick<EventData["subagent.deleted"], "usage" | "days"> {
  return { days, ...(usage ? { usage } : {}) };
}
