import type { AgentState, NewTask, Task, TaskChange, TaskList, TaskQuery } from "@thinkery/sdk";
import { doPiece, type Work } from "../host/fair-work.ts";
import { planChange, planTask } from "../store/task-changes.ts";
import type { Tasks } from "../store/tasks.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import type { ExportLists } from "./agent-export.ts";
import type { AgentFeature } from "./feature.ts";

/** One with many dependencies. */
const maxUnitsPerOpenTask = 100;
/** Trees are read one by one. */
const unitsPerListedTask = 200;
/** The state shows at most this many open trees. */
const maxTreesInState = 10;

/** An agent's task graph, for people and programs. Its tools use it through their context. */
export class TasksFeature implements AgentFeature {
  readonly #tasks: Tasks;
  readonly #recorder: Recorder;

  constructor(tasks: Tasks, recorder: Recorder) {
    this.#tasks = tasks;
    this.#recorder = recorder;
  }

  *list(query: TaskQuery): Work<TaskList> {
    const page = this.#tasks.page(query);
    yield page.tasks.length * unitsPerListedTask;
    return page;
  }

  create(input: NewTask): Work<Task> {
    return this.#pace(() => {
      const { task, events } = planTask(this.#tasks, input, { now: Date.now() });
      this.#recorder.record(...events);
      return this.#read(task);
    });
  }

  update(id: string, change: TaskChange): Work<Task> {
    return this.#pace(() => {
      const { task, events } = planChange(this.#tasks, id, change, { now: Date.now() });
      if (events.length > 0) this.#recorder.record(...events);
      return this.#read(task);
    });
  }

  state(): Partial<AgentState> {
    return this.#tasks.hasOpen ? { tasks: this.#tasks.listOpenTrees(maxTreesInState) } : {};
  }

  exportLists(): ExportLists {
    return this.#tasks.hasStored ? { tasks: this.#tasks.readStored() } : {};
  }

  /** A change looks at open tasks that depend on each other, and a refused one does so, too. */
  #pace<T>(change: () => T): Work<T> {
    return doPiece(this.#tasks.countOpen() * maxUnitsPerOpenTask, change);
  }

  /** Returns the task as it is stored: without secrets. */
  #read(planned: Task): Task {
    return this.#tasks.get(planned.id) ?? planned;
  }
}
