import type { NewTask, Task, TaskChange } from "../protocol/task.ts";

/** The agent's tasks, as a tool sees them. Invalid changes throw an error whose message is meant for the model. */
export interface Tasks {
  /** The id of the root task: the message that the turn works on. */
  readonly rootId: string;
  /** Creates a task, below the root unless it names another parent. The same call gets the same task again. */
  create(task: Omit<NewTask, "type"> & Partial<Pick<NewTask, "type">>): Task;
  /** Changes a task. Returns it, and the other tasks that were blocked or unblocked by that. */
  update(id: string, change: TaskChange): { task: Task; affected: Task[] };
  /** Returns the open trees, newest first, each with its root. */
  list(): Task[];
}
