import {
  addTask,
  blockTask,
  cancelTask,
  completeTask,
  diffGraphs,
  type ErrorCode,
  fail,
  failTask,
  isTaskError,
  type NewEvent,
  type NewTask,
  noteOutcome,
  releaseTask,
  setDependencies,
  startTask,
  type Task,
  type TaskChange,
  type TaskError,
  type TaskGraph,
} from "@thinkery/sdk";
import type { Tasks } from "./tasks.ts";

const maxOpenTasks = 1000;
/** Bounds what a change has to look at: the trees of open tasks that depend on each other, with what is finished there. */
const maxConnectedTasks = 2000;

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
  { title, type, description, dependencies = [], parentId }: NewTask,
  { metadata, runId, now }: ChangeOptions & { metadata?: Record<string, unknown> },
): PlannedTask {
  if (tasks.countOpen() >= maxOpenTasks) {
    throw fail("conflict", "This agent has 1,000 open tasks. Complete or cancel some.");
  }
  const graph = tasks.loadGraph(parentId === undefined ? [] : [parentId], dependencies);
  checkSize(graph);
  const id = createTaskId();
  const planned = check(
    addTask(graph, {
      id,
      ...(parentId === undefined ? {} : { parentId }),
      type,
      title,
      ...(description ? { description } : {}),
      status: "pending",
      dependencies: [...new Set(dependencies)],
      createdAt: now,
      ...(metadata ? { metadata } : {}),
    }),
  );
  checkNoTurns(tasks, dependencies);
  const task = planned.tasks.get(id)!;
  return { task, affected: [], events: [{ type: "task.created", data: { task, ...(runId ? { runId } : {}) } }] };
}

/** Plans what a person or a model changes in a task. */
export function planChange(tasks: Tasks, id: string, change: TaskChange, options: ChangeOptions): PlannedTask {
  const task = findStored(tasks, id);
  if (task.status === "in_progress" && task.assignedTo !== undefined) {
    throw fail("conflict", `Task “${id}” is being worked on by ${task.assignedTo}; cancel it there or wait.`);
  }
  const { status, result, error, dependencies } = change;
  const outcome = { ...(result === undefined ? {} : { result }), ...(error === undefined ? {} : { error }) };
  if (dependencies) checkNoTurns(tasks, dependencies);
  const before = tasks.loadGraph([id], dependencies);
  if (dependencies) checkSize(before);
  let graph = before;
  if (dependencies) graph = check(setDependencies(graph, id, dependencies));
  if (Object.keys(outcome).length > 0) graph = check(noteOutcome(graph, id, outcome));
  if (status) graph = check(setStatus(graph, id, status, error, options.now));
  return createPlan(before, graph, id, options);
}

/** Plans that a sub-agent starts to work on a task. */
export function planStart(tasks: Tasks, id: string, assignedTo: string, options: ChangeOptions): PlannedTask {
  findStored(tasks, id);
  const before = tasks.loadGraph([id]);
  return createPlan(before, check(startTask(before, id, { assignedTo, now: options.now })), id, options);
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
  const graph = isTaskError(noted) ? noted : setStatus(noted, id, status, error, options.now);
  return isTaskError(graph) ? [] : createPlan(before, graph, id, options).events;
}

function findStored(tasks: Tasks, id: string): Task {
  const task = tasks.get(id);
  if (!task) throw fail("not_found", `There is no task “${id}”.`);
  if (tasks.isTurn(id)) throw fail("conflict", `“${id}” is the message of a turn; cancel the turn instead.`);
  return task;
}

function checkSize({ tasks }: TaskGraph): void {
  if (tasks.size >= maxConnectedTasks)
    throw fail("conflict", "Too many tasks would be connected by dependencies. Complete some, or depend on fewer.");
}

/** Nothing would unblock such a task: the end of a turn changes no tasks. */
function checkNoTurns(tasks: Tasks, dependencies: readonly string[]): void {
  const turn = dependencies.find((id) => tasks.isTurn(id));
  if (turn !== undefined) {
    throw fail("bad_request", `“${turn}” is the message of a turn; a task cannot depend on it.`);
  }
}

function setStatus(graph: TaskGraph, id: string, status: Task["status"], error: string | undefined, now: number) {
  switch (status) {
    case "pending":
      return releaseTask(graph, id);
    case "in_progress":
      return startTask(graph, id, { now });
    case "blocked":
      return blockTask(graph, id);
    case "complete":
      return completeTask(graph, id, { now });
    case "failed":
      return failTask(graph, id, { error: error ?? graph.tasks.get(id)?.error ?? "No reason was given.", now });
    case "cancelled":
      return cancelTask(graph, id, { now });
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

const codes: Record<TaskError["code"], ErrorCode> = {
  duplicate: "conflict",
  no_parent: "bad_request",
  no_dependency: "bad_request",
  cycle: "bad_request",
  total: "conflict",
  depth: "conflict",
  subtasks: "conflict",
  not_found: "not_found",
  finished: "conflict",
  waits: "conflict",
  not_allowed: "conflict",
};

function check(result: TaskGraph | TaskError): TaskGraph {
  if (isTaskError(result)) throw fail(codes[result.code], result.message);
  return result;
}

/** Ids are random, so that none is used again after the conversation was cleared, and valid as part of a name. */
function createTaskId(): string {
  const digits = Array.from(crypto.getRandomValues(new Uint32Array(2)), (number) =>
    number.toString(36).padStart(7, "0"),
  );
  return `task-${digits.map((part) => part.slice(-4)).join("")}`;
}
