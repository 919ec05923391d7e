import type { Budget, UserLimitsUpdate } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AgencyRegistry } from "../user/agencies.ts";
import type { Limits } from "../user/limits.ts";

interface LimitsParts {
  limits: Limits;
  agencies: AgencyRegistry;
  usage: { budget: Budget | undefined };
  /** Called when the budget has changed. */
  onBudget(): Promise<void>;
}

/** What a user's agencies and agents ask for before they use what is limited, and the host's owner to change it. */
export class LimitsApi extends RpcTarget {
  readonly #open: () => Promise<LimitsParts>;

  constructor(open: () => Promise<LimitsParts>) {
    super();
    this.#open = open;
  }

  /** Changes the limits; called by the owner's object. */
  async update(changes: UserLimitsUpdate): Promise<void> {
    const { limits, usage, onBudget } = await this.#open();
    usage.budget = limits.update(changes, usage.budget);
    await onBudget();
  }

  /** Counts an agent that is about to be created. Throws if there are as many as allowed. */
  async reserveAgent(): Promise<void> {
    const { limits, agencies } = await this.#open();
    limits.reserveAgent(agencies.getTotals().agents);
  }

  async releaseAgent(agency: string, agents: number): Promise<void> {
    const { limits, agencies } = await this.#open();
    agencies.setAgentCount(agency, agents);
    limits.releaseAgent();
  }

  /** Counts a request that came without a credential. Throws if there were too many. */
  async takeRequest(key: string): Promise<void> {
    (await this.#open()).limits.takeRequest(key);
  }

  async leaseTurn(agent: string, until: number, isRunning: boolean): Promise<void> {
    (await this.#open()).limits.leaseTurn(agent, until, isRunning);
  }

  /** Records what an agent or an agency occupies and is about to store. Returns what the user has left then, if it is limited. */
  async reportDisk(
    agent: string,
    bytes: number,
    newBytes: number,
  ): Promise<{ freeBytes: number | undefined; hasRoom: boolean }> {
    return (await this.#open()).limits.reportDisk(agent, bytes, newBytes);
  }

  /** Called when an agent was deleted, with its sub-agents. */
  async forgetDisk(agent: string): Promise<void> {
    (await this.#open()).limits.forgetDiskUsage(agent);
  }

  async releaseTurn(agent: string): Promise<void> {
    (await this.#open()).limits.releaseTurn(agent);
  }
}
