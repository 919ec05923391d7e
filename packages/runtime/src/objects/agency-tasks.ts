import type { AgencySettings, TeamTask } from "@thinkery/sdk";
import type { Actor } from "../agency/actor.ts";
import { TeamTasks } from "../agency/team-tasks.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import { SharedTasksApi } from "./shared-tasks-api.ts";

interface AgencyTasksOptions extends AgencyContext {
  getSettings(): AgencySettings;
  /** Asks an agent whether it works, or waits for a person who lets it go on. */
  isBusy(agent: string): Promise<boolean>;
  /** Called when a person gives a task to an agent. What it writes is stored with the claim. */
  onAssigned(agent: string, task: TeamTask, by: Actor): void;
}

/** The tasks that the members of an agency share. */
export class AgencyTasks implements AgencyFeature {
  readonly api: SharedTasksApi;
  readonly #tasks: TeamTasks;
  readonly #options: AgencyTasksOptions;
  /** Up to when the claims were that an agent was last asked about. */
  readonly #asked = new Map<string, number>();

  constructor(options: AgencyTasksOptions) {
    const { storage, redactor, record, agents, getSettings, onAssigned, ...context } = options;
    this.#options = options;
    this.#tasks = new TeamTasks({
      storage,
      getClaimSeconds: () => getSettings().claimSeconds,
      redact: (value) => redactor.redactValue(value),
      onChange: (task) => context.publish(() => ({ type: "task", task })),
      onAssigned,
    });
    this.api = new SharedTasksApi({
      open: async () => {
        await context.open();
        return { tasks: this.#tasks, owner: record.owner };
      },
      getAgentName: (name) => agents.get(name).name,
      // Before the claim is stored: a crash in between must not leave it without a check.
      expectClaim: () => context.updateTimer(this.#tasks.getNextAskTime()),
    });
  }

  /** Called while a turn of an agent runs, and when one ends: its claims go on. */
  renewClaims(agent: string): void {
    this.#tasks.renewClaims(agent);
  }

  forgetAgent(name: string): void {
    this.#tasks.forgetAgent(name);
  }

  nextDueAt(): number | undefined {
    const times = this.#tasks.listHolders().map((holder) => (this.#wasAsked(holder) ? holder.until : holder.askAt));
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Claims go on while their holders work, whatever started that. */
  async runDue(now: number): Promise<void> {
    for (const holder of this.#tasks.listHolders()) {
      if (holder.askAt > now || this.#wasAsked(holder)) continue;
      this.#asked.set(holder.agent, holder.until);
      // One that cannot be asked does not work.
      if (await this.#options.isBusy(holder.agent).catch(() => false)) this.#tasks.renewClaims(holder.agent);
    }
    this.#tasks.releaseExpired();
    const holders = new Set(this.#tasks.listHolders().map(({ agent }) => agent));
    for (const agent of this.#asked.keys()) if (!holders.has(agent)) this.#asked.delete(agent);
  }

  #wasAsked({ agent, until }: { agent: string; until: number }): boolean {
    return this.#asked.get(agent) === until;
  }
}
