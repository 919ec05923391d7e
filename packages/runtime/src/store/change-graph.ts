import {
  addTask,
  blockTask,
  cancelTask,
  completeTask,
  type ErrorCode,
  fail,
  failTask,
  isFinished,
  isTaskError,
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

const maxOpenTasks = 1000;
/** Bounds what a change has to look at: the trees of open tasks that depend on each other, with what is finished there. */
const maxConnectedTasks = 2000;

/** Stored tasks: those of an agent, or those that an agency shares. */
export interface TaskSource {
  countOpen(): number;
  /** Loads the trees of these tasks, and what they are connected to. */
  loadGraph(ids: readonly string[], dependencies?: readonly string[]): TaskGraph;
}

interface NewTaskOptions {
  now: number;
  /** Whose tasks these are, for errors: “This agent”. */
  owner: string;
  metadata?: Record<string, unknown> | undefined;
}

/** Returns a new task, which is not stored yet. Throws an error for the model or the client if it is not valid. */
export function createTask(
  source: TaskSource,
  { title, type, description, dependencies = [], parentId }: NewTask,
  { now, owner, metadata }: NewTaskOptions,
): Task {
  if (source.countOpen() >= maxOpenTasks) {
    throw fail("conflict", `${owner} has 1,000 open tasks. Complete or cancel some.`);
  }
  const graph = source.loadGraph(parentId === undefined ? [] : [parentId], dependencies);
  checkSize(graph);
  const id = createTaskId();
  const added = requireGraph(
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
  return added.tasks.get(id)!;
}

/** Applies what a person or a model changes in a task. `assignedTo` is who works on it if it starts. */
export function changeTask(
  source: TaskSource,
  id: string,
  { status, result, error, dependencies }: TaskChange,
  { now, assignedTo }: { now: number; assignedTo?: string },
): { before: TaskGraph; after: TaskGraph } {
  const outcome = { ...(result === undefined ? {} : { result }), ...(error === undefined ? {} : { error }) };
  const before = source.loadGraph([id], dependencies);
  if (dependencies) checkSize(before);
  let after = before;
  if (dependencies) after = requireGraph(setDependencies(after, id, dependencies));
  if (Object.keys(outcome).length > 0) after = requireGraph(noteOutcome(after, id, outcome));
  if (status) after = requireGraph(setStatus(after, id, status, { error, now, assignedTo }));
  return { before, after };
}

/** Whether a change is already made, so that a call that a crash interrupted can be repeated. */
export function isDone(task: Task, { status, result, error }: TaskChange): boolean {
  return (
    isFinished(task.status) &&
    task.status === status &&
    (result ?? task.result) === task.result &&
    (error ?? task.error) === task.error
  );
}

export function setStatus(
  graph: TaskGraph,
  id: string,
  status: Task["status"],
  { error, now, assignedTo }: { error?: string | undefined; now: number; assignedTo?: string | undefined },
): TaskGraph | TaskError {
  switch (status) {
    case "pending":
      return releaseTask(graph, id);
    case "in_progress":
      return startTask(graph, id, { now, ...(assignedTo === undefined ? {} : { assignedTo }) });
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

/** Throws if the result is an error. */
export function requireGraph(result: TaskGraph | TaskError): TaskGraph {
  if (isTaskError(result)) throw fail(codes[result.code], result.message);
  return result;
}

function checkSize({ tasks }: TaskGraph): void {
  if (tasks.size >= maxConnectedTasks)
    throw fail("conflict", "Too many tasks would be connected by dependencies. Complete some, or depend on fewer.");
}

/** Ids are random, so that none is used again after the conversation was cleared, and valid as part of a name. */
function createTaskId(): string {
  const digits = Array.from(crypto.getRandomValues(new Uint32Array(2)), (number) =>
    number.toString(36).padStart(7, "0"),
  );
  return `task-${digits.map((part) => part.slice(-4)).join("")}`;
}
