import { type AgencySettings, type TeamTask } from "@thinkery/sdk";
import type { Actor } from "../agency/actor.ts";
import { TeamTasks } from "../agency/team-tasks.ts";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import { SharedTasksApi } from "./shared-tasks-api.ts";

interface AgencyTasksOptions extends AgencyContext {
  getSettings(): AgencySettings;
  /** Called when a person gives a task to an agent. What it writes is stored with the claim. */
  onAssigned?(agent: string, task: TeamTask, by: Actor): void;
}

/** The tasks that the members of an agency share. */
export class AgencyTasks implements AgencyFeature {
  readonly api: SharedTasksApi;
  readonly #tasks: TeamTasks;

  constructor({ storage, redactor, record, agents, getSettings, onAssigned, ...context }: AgencyTasksOptions) {
    const getClaimSeconds = () => getSettings().claimSeconds;
    this.#tasks = new TeamTasks({
      storage,
      getClaimSeconds,
      redact: (value) => redactor.redactValue(value),
      onChange: (task) => context.publish(() => ({ type: "task", task })),
      ...(onAssigned ? { onAssigned } : {}),
    });
    this.api = new SharedTasksApi({
      open: async () => {
        await context.open();
        return { tasks: this.#tasks, owner: record.owner };
      },
      getAgentName: (name) => agents.get(name).name,
      // Before the claim is stored: a crash in between must not leave it without a check.
      expectClaim: () => context.updateTimer(Date.now() + getClaimSeconds() * 1000),
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
    return this.#tasks.getNextExpiry();
  }

  runDue(): void {
    this.#tasks.releaseExpired();
  }
}
