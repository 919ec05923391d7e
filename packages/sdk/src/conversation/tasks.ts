import type { EventData } from "../protocol/event.ts";
import type { Task } from "../protocol/task.ts";

/** Adds a task that was created, unless it is known. */
export function addTask(tasks: readonly Task[], task: Task): readonly Task[] {
  return tasks.some(({ id }) => id === task.id) ? tasks : [...tasks, task];
}

/** Applies what changed in a task, like the store does. */
export function changeTask(tasks: readonly Task[], change: EventData["task.updated"]): readonly Task[] {
  const { taskId, runId: _, ...fields } = change;
  return tasks.map((task) =>
    task.id === taskId ? { ...(isWaiting(change) ? dropStart(task) : task), ...fields } : task,
  );
}

/** Returns the tasks of a state response as a conversation has them. */
export function fromState(tasks: readonly Task[] = []): readonly Task[] {
  return tasks.filter(({ metadata }) => metadata?.message !== true).sort((a, b) => a.createdAt - b.createdAt);
}

const isWaiting = ({ status }: EventData["task.updated"]) => status === "pending" || status === "blocked";

/** A task that waits again has neither begun nor is anybody working on it. */
function dropStart(task: Task): Task {
  const { startedAt: _, assignedTo: __, ...rest } = task;
  return rest;
}
