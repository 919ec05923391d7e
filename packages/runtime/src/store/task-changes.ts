import {
  diffGraphs,
  fail,
  isTaskError,
  type NewEvent,
  type NewTask,
  noteOutcome,
  startTask,
  type Task,
  type TaskChange,
  type TaskGraph,
} from "@thinkery/sdk";
import { changeTask, createTask, requireGraph, setStatus } from "./change-graph.ts";
import type { Tasks } from "./tasks.ts";

interface ChangeOptions {
  /** The turn that makes the change, if one does. */
  runId?: string;
  now: number;
}

/** Events that create or change tasks. They are not recorded yet, so that others can be recorded with them. */
export interface PlannedTask {
  task: Task;
  /** Other tasks that were blocked or unblocked. */
  affected: Task[];
  events: NewEvent[];
}

/** Plans a new task. Throws an error for the model or the client if it is not valid. */
export function planTask(
  tasks: Tasks,
  newTask: NewTask,
  { metadata, runId, now }: ChangeOptions & { metadata?: Record<string, unknown> },
): PlannedTask {
  const task = createTask(tasks, newTask, { now, owner: "This agent", metadata });
  checkNoTurns(tasks, task.dependencies);
  return { task, affected: [], events: [{ type: "task.created", data: { task, ...(runId ? { runId } : {}) } }] };
}

/** Plans what a person or a model changes in a task. */
export function planChange(tasks: Tasks, id: string, change: TaskChange, options: ChangeOptions): PlannedTask {
  const task = findStored(tasks, id);
  if (task.status === "in_progress" && task.assignedTo !== undefined) {
    throw fail("conflict", `Task “${id}” is being worked on by ${task.assignedTo}; cancel it there or wait.`);
  }
  if (change.dependencies) checkNoTurns(tasks, change.dependencies);
  const { before, after } = changeTask(tasks, id, change, options);
  return createPlan(before, after, id, options);
}

/** Plans that a sub-agent starts to work on a task. */
export function planStart(tasks: Tasks, id: string, assignedTo: string, options: ChangeOptions): PlannedTask {
  findStored(tasks, id);
  const before = tasks.loadGraph([id]);
  return createPlan(before, requireGraph(startTask(before, id, { assignedTo, now: options.now })), id, options);
}

/** Plans the end of a task that a sub-agent worked on. Plans nothing if the task is over or gone. */
export function planEnd(
  tasks: Tasks,
  id: string,
  end: { status: "complete" | "failed" | "cancelled"; result?: string | undefined; error?: string | undefined },
  options: ChangeOptions,
): NewEvent[] {
  const before = tasks.loadGraph([id]);
  const { status, result, error } = end;
  const noted = result === undefined ? before : noteOutcome(before, id, { result });
  const graph = isTaskError(noted) ? noted : setStatus(noted, id, status, { error, now: options.now });
  return isTaskError(graph) ? [] : createPlan(before, graph, id, options).events;
}

function findStored(tasks: Tasks, id: string): Task {
  const task = tasks.get(id);
  if (!task) throw fail("not_found", `There is no task “${id}”.`);
  if (tasks.isTurn(id)) throw fail("conflict", `“${id}” is the message of a turn; cancel the turn instead.`);
  return task;
}

/** Nothing would unblock such a task: the end of a turn changes no tasks. */
function checkNoTurns(tasks: Tasks, dependencies: readonly string[]): void {
  const turn = dependencies.find((id) => tasks.isTurn(id));
  if (turn !== undefined) {
    throw fail("bad_request", `“${turn}” is the message of a turn; a task cannot depend on it.`);
  }
}

function createPlan(before: TaskGraph, after: TaskGraph, id: string, { runId }: ChangeOptions): PlannedTask {
  const patches = diffGraphs(before, after);
  const events = patches.map((patch): NewEvent => {
    const defined = Object.entries(patch).filter(([, value]) => value !== undefined);
    return {
      type: "task.updated",
      data: { ...Object.fromEntries(defined), taskId: patch.taskId, ...(runId ? { runId } : {}) },
    };
  });
  const others = patches.filter(({ taskId }) => taskId !== id);
  return { task: after.tasks.get(id)!, affected: others.map(({ taskId }) => after.tasks.get(taskId)!), events };
}
