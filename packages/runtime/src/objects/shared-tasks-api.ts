import type { NewTeamTask, TaskChange, TeamTask, TeamTaskList, TeamTaskQuery } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { Actor } from "../agency/actor.ts";
import type { TeamTasks } from "../agency/team-tasks.ts";
import { doPiece, runFairly } from "../host/fair-work.ts";

/** One with many dependencies. */
const maxUnitsPerOpenTask = 100;
const unitsPerListedTask = 30;

interface SharedTasksOptions {
  open(): Promise<{ tasks: TeamTasks; owner: string }>;
  /** Returns the name of an agent as it is written. Throws if there is none. */
  getAgentName(name: string): string;
  /** Called before an agent claims a task. */
  expectClaim(): Promise<void>;
}

/** The tasks that the members of an agency share, for requests and for the turns of agents. */
export class SharedTasksApi extends RpcTarget {
  readonly #options: SharedTasksOptions;

  constructor(options: SharedTasksOptions) {
    super();
    this.#options = options;
  }

  async list(query: TeamTaskQuery): Promise<TeamTaskList> {
    const { tasks, owner } = await this.#options.open();
    return runFairly(() => doPiece(query.limit * unitsPerListedTask, () => tasks.list(query)), { owner });
  }

  /** Returns what a model is shown: open tasks, and the latest that ended. */
  async listForAgent(): Promise<TeamTaskList> {
    const { tasks } = await this.#options.open();
    return tasks.listForAgent();
  }

  /** The same key of the same actor is the same task. */
  create(task: NewTeamTask, by: Actor, key?: string): Promise<TeamTask> {
    return this.#change((tasks) =>
      tasks.create(task, by, key === undefined ? undefined : `${by.kind}:${by.name}:${key}`),
    );
  }

  /** Claims a task for who asks, or for an agent. */
  async claim(id: string, by: Actor, agent?: string): Promise<TeamTask> {
    await this.#options.open();
    const agentName = agent === undefined ? undefined : this.#options.getAgentName(agent);
    if (agentName !== undefined || by.kind === "agent") await this.#options.expectClaim();
    return this.#change((tasks) => (agentName === undefined ? tasks.claim(id, by) : tasks.assign(id, agentName, by)));
  }

  update(id: string, change: TaskChange, by: Actor): Promise<TeamTask> {
    return this.#change((tasks) => tasks.update(id, change, by));
  }

  async #change(change: (tasks: TeamTasks) => TeamTask): Promise<TeamTask> {
    const { tasks, owner } = await this.#options.open();
    return runFairly(() => doPiece(tasks.countOpen() * maxUnitsPerOpenTask, () => change(tasks)), { owner });
  }
}
