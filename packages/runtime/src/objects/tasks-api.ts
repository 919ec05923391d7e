import type { NewTask, Task, TaskChange, TaskList, TaskQuery } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import { runFairly } from "../host/fair-work.ts";
import type { TasksFeature } from "./tasks-feature.ts";

/** The tasks of an agent, for users' requests. */
export class TasksApi extends RpcTarget {
  readonly #open: () => Promise<TasksFeature>;

  constructor(open: () => Promise<TasksFeature>) {
    super();
    this.#open = open;
  }

  async list(query: TaskQuery): Promise<TaskList> {
    const tasks = await this.#open();
    return runFairly(() => tasks.list(query));
  }

  async create(task: NewTask): Promise<Task> {
    const tasks = await this.#open();
    return runFairly(() => tasks.create(task));
  }

  async update(id: string, change: TaskChange): Promise<Task> {
    const tasks = await this.#open();
    return runFairly(() => tasks.update(id, change));
  }
}
