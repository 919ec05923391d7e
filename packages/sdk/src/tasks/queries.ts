import type { TaskStatus } from "../protocol/choices.ts";
import type { Task, TaskProgress } from "../protocol/task.ts";
import { areDependenciesSatisfied, groupByParent, listDescendants, type TaskGraph } from "./graph.ts";

/** A task with its subtasks. The depth of a root is 0. */
export interface TaskTreeNode {
  task: Task;
  children: TaskTreeNode[];
  depth: number;
}

/** Returns the tasks that can be started, oldest first. */
export function listReadyTasks(graph: TaskGraph): Task[] {
  return listByStatus(graph, "pending")
    .filter((task) => areDependenciesSatisfied(graph, task))
    .sort((a, b) => a.createdAt - b.createdAt);
}

export function listActiveTasks(graph: TaskGraph): Task[] {
  return listByStatus(graph, "in_progress");
}

export function listBlockedTasks(graph: TaskGraph): Task[] {
  return listByStatus(graph, "blocked");
}

/** Builds the trees of a graph. A task whose parent is not in the graph is a root. */
export function buildTaskTree(graph: TaskGraph): TaskTreeNode[] {
  const byParent = groupByParent(graph);
  const build = (task: Task, depth: number): TaskTreeNode => ({
    task,
    children: (byParent.get(task.id) ?? []).map((child) => build(child, depth + 1)),
    depth,
  });
  return [...graph.tasks.values()]
    .filter(({ parentId }) => parentId === undefined || !graph.tasks.has(parentId))
    .map((task) => build(task, 0));
}

export function getProgress({ tasks }: TaskGraph): TaskProgress {
  return countProgress(tasks.values());
}

/** Returns the progress of a task and everything below it. */
export function getSubtreeProgress(graph: TaskGraph, id: string): TaskProgress {
  const root = graph.tasks.get(id);
  return countProgress(root ? [root, ...listDescendants(graph, id)] : []);
}

/** Computes the progress from the number of tasks in each status. */
export function toProgress(counts: Partial<Record<TaskStatus, number>>): TaskProgress {
  const { pending = 0, in_progress: inProgress = 0, blocked = 0, complete = 0, failed = 0, cancelled = 0 } = counts;
  const total = pending + inProgress + blocked + complete + failed + cancelled;
  const percentComplete = total === 0 ? 0 : Math.round((complete / total) * 100);
  return { total, pending, inProgress, blocked, complete, failed, cancelled, percentComplete };
}

function countProgress(tasks: Iterable<Task>): TaskProgress {
  const counts: Partial<Record<TaskStatus, number>> = {};
  for (const { status } of tasks) counts[status] = (counts[status] ?? 0) + 1;
  return toProgress(counts);
}

function listByStatus({ tasks }: TaskGraph, status: TaskStatus): Task[] {
  return [...tasks.values()].filter((task) => task.status === status);
}
