import type { NewTask, Task, TaskChange, TaskList, TaskQuery } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import { runFairly, type Work } from "../host/fair-work.ts";
import type { AgentParts } from "./assemble-agent.ts";
import type { TasksFeature } from "./tasks-feature.ts";

/** The tasks of an agent, for users' requests. */
export class TasksApi extends RpcTarget {
  readonly #open: () => Promise<AgentParts>;

  constructor(open: () => Promise<AgentParts>) {
    super();
    this.#open = open;
  }

  list(query: TaskQuery): Promise<TaskList> {
    return this.#run((tasks) => tasks.list(query));
  }

  create(task: NewTask): Promise<Task> {
    return this.#run((tasks) => tasks.create(task));
  }

  update(id: string, change: TaskChange): Promise<Task> {
    return this.#run((tasks) => tasks.update(id, change));
  }

  async #run<T>(start: (tasks: TasksFeature) => Work<T>): Promise<T> {
    const { tasks, registration } = await this.#open();
    return runFairly(() => start(tasks), { owner: registration.get().agent.owner });
  }
}
