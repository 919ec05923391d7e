import type { TaskStatus } from "../protocol/choices.ts";
import type { Task } from "../protocol/task.ts";

/** Tasks by id. Immutable: every change returns a new graph, or the error that prevents it. */
export interface TaskGraph {
  readonly tasks: ReadonlyMap<string, Task>;
}

export interface TaskError {
  code:
    | "duplicate"
    | "no_parent"
    | "no_dependency"
    | "total"
    | "depth"
    | "subtasks"
    | "cycle"
    | "not_found"
    | "finished"
    | "waits"
    | "not_allowed";
  message: string;
}

/** What changed in a task, as `task.updated` events record it. */
export type TaskPatch = { taskId: string } & Partial<
  Pick<Task, "status" | "result" | "error" | "assignedTo" | "dependencies" | "startedAt" | "completedAt">
>;

export const taskLimits = {
  /** Levels of a tree, including its root. */
  maxDepth: 3,
  /** Children of one task. */
  maxSubtasks: 10,
  /** Tasks of one tree, including its root. */
  maxTotalTasks: 50,
};

export const isTaskError = (result: TaskGraph | TaskError): result is TaskError => "code" in result;

/** Whether a status is final. */
export function isFinished(status: TaskStatus): boolean {
  return status === "complete" || status === "failed" || status === "cancelled";
}

/** A task created to delegate work to a sub-agent. The limits on subtasks and tasks of a tree do not apply to it. */
export const isDelegated = ({ metadata }: Pick<Task, "metadata">) => metadata?.delegated === true;

/** Creates a graph of valid tasks, such as stored ones. Parents and dependencies may be missing: they are elsewhere. */
export function createTaskGraph(tasks: readonly Task[] = []): TaskGraph {
  return { tasks: new Map(tasks.map((task) => [task.id, task])) };
}

export function serializeGraph({ tasks }: TaskGraph): Task[] {
  return [...tasks.values()];
}

export const deserializeGraph: (tasks: readonly Task[]) => TaskGraph = createTaskGraph;

/** Adds a task. If it depends on a task that cannot be completed as things are, it is blocked from the start. */
export function addTask(graph: TaskGraph, task: Task): TaskGraph | TaskError {
  const { id, parentId, dependencies } = task;
  if (graph.tasks.has(id)) return fail("duplicate", `Task “${id}” already exists.`);
  if (parentId !== undefined && !graph.tasks.has(parentId)) {
    return fail("no_parent", `There is no task “${parentId}” to be the parent.`);
  }
  const error = checkDependencies(graph, dependencies) ?? checkLimits(graph, task);
  if (error) return error;
  const added = { tasks: new Map(graph.tasks).set(id, task) };
  return checkCycle(added, task) ?? (task.status === "pending" ? blockIfNeeded(added, id) : added);
}

/** Replaces the dependencies of an unfinished task, which may block or unblock it. */
export function setDependencies(graph: TaskGraph, id: string, dependencies: readonly string[]): TaskGraph | TaskError {
  const task = findOpen(graph, id);
  if ("message" in task) return task;
  const changed = { ...task, dependencies: [...new Set(dependencies)] };
  const error = checkDependencies(graph, dependencies) ?? checkCycle(graph, changed);
  if (error) return error;
  if (task.status === "in_progress") return put(graph, changed);
  return blockIfNeeded(put(graph, { ...changed, status: "pending" }), id);
}

/** Starts a pending task whose dependencies are complete. */
export function startTask(
  graph: TaskGraph,
  id: string,
  { assignedTo, now }: { assignedTo?: string; now: number },
): TaskGraph | TaskError {
  const task = findOpen(graph, id);
  if ("message" in task) return task;
  const missing = task.dependencies.filter((dependency) => graph.tasks.get(dependency)?.status !== "complete");
  if (missing.length > 0) return fail("waits", `Task “${id}” waits for ${missing.join(", ")}.`);
  if (task.status !== "pending") return failTransition(task, "started");
  return put(graph, { ...task, status: "in_progress", startedAt: now, ...(assignedTo ? { assignedTo } : {}) });
}

/** Completes a task. Blocked tasks whose dependencies are now all complete become pending. */
export function completeTask(
  graph: TaskGraph,
  id: string,
  { result, now }: { result?: string; now: number },
): TaskGraph | TaskError {
  const task = findOpen(graph, id);
  if ("message" in task) return task;
  const outcome = result === undefined ? {} : { result };
  const done = put(graph, { ...task, status: "complete", completedAt: now, ...outcome });
  return listDependents(done, id)
    .filter((other) => other.status === "blocked" && areDependenciesSatisfied(done, other))
    .reduce((all, other) => put(all, { ...other, status: "pending" }), done);
}

/** Fails a task. Pending tasks that depend on it, directly or not, become blocked. */
export function failTask(
  graph: TaskGraph,
  id: string,
  { error, now }: { error: string; now: number },
): TaskGraph | TaskError {
  const task = findOpen(graph, id);
  if ("message" in task) return task;
  return blockDependents(put(graph, { ...task, status: "failed", error, completedAt: now }), id);
}

/** Cancels a task. Pending tasks that depend on it, directly or not, become blocked. */
export function cancelTask(graph: TaskGraph, id: string, { now }: { now: number }): TaskGraph | TaskError {
  const task = findOpen(graph, id);
  if ("message" in task) return task;
  return blockDependents(put(graph, { ...task, status: "cancelled", completedAt: now }), id);
}

/** Holds a task back. Pending tasks that depend on it, directly or not, become blocked too. */
export function blockTask(graph: TaskGraph, id: string): TaskGraph | TaskError {
  const task = findOpen(graph, id);
  if ("message" in task) return task;
  if (task.status === "blocked") return graph;
  return blockDependents(put(graph, { ...dropStart(task), status: "blocked" }), id);
}

/** Makes a blocked or started task pending again. */
export function releaseTask(graph: TaskGraph, id: string): TaskGraph | TaskError {
  const task = findOpen(graph, id);
  if ("message" in task) return task;
  const hurdles = listHurdles(graph, task);
  if (hurdles.length > 0) return fail("waits", `Task “${id}” waits for ${hurdles.join(", ")}.`);
  return put(graph, { ...dropStart(task), status: "pending" });
}

/** Notes a result or an error without changing the status. */
export function noteOutcome(
  graph: TaskGraph,
  id: string,
  outcome: Pick<Task, "result" | "error">,
): TaskGraph | TaskError {
  const task = findOpen(graph, id);
  return "message" in task ? task : put(graph, { ...task, ...outcome });
}

/** Returns what changed in tasks that are in both graphs. */
export function diffGraphs(before: TaskGraph, after: TaskGraph): TaskPatch[] {
  const patches: TaskPatch[] = [];
  for (const task of after.tasks.values()) {
    const old = before.tasks.get(task.id);
    if (!old || old === task) continue;
    const patch: Record<string, unknown> = {};
    for (const key of patchedKeys) if (old[key] !== task[key]) patch[key] = task[key];
    if (Object.keys(patch).length > 0) patches.push({ taskId: task.id, ...patch });
  }
  return patches;
}

const patchedKeys = [
  "status",
  "result",
  "error",
  "assignedTo",
  "dependencies",
  "startedAt",
  "completedAt",
] as const satisfies readonly (keyof Task)[];

export function areDependenciesSatisfied(graph: TaskGraph, { dependencies }: Task): boolean {
  return dependencies.every((id) => graph.tasks.get(id)?.status === "complete");
}

/** Returns the ancestors of a task, its parent first. */
export function listAncestors(graph: TaskGraph, id: string): Task[] {
  const ancestors: Task[] = [];
  const seen = new Set([id]);
  for (let parentId = graph.tasks.get(id)?.parentId; parentId !== undefined && !seen.has(parentId);) {
    seen.add(parentId);
    const parent = graph.tasks.get(parentId);
    if (!parent) break;
    ancestors.push(parent);
    parentId = parent.parentId;
  }
  return ancestors;
}

/** Returns everything below a task, parents before their children. */
export function listDescendants(graph: TaskGraph, id: string): Task[] {
  const byParent = groupByParent(graph);
  const descendants: Task[] = [...(byParent.get(id) ?? [])];
  // The list grows while it is iterated.
  for (const { id: parent } of descendants) descendants.push(...(byParent.get(parent) ?? []));
  return descendants;
}

/** Groups tasks by their parent; the roots of trees are under `undefined`. */
export function groupByParent({ tasks }: TaskGraph): Map<string | undefined, Task[]> {
  const groups = new Map<string | undefined, Task[]>();
  for (const task of tasks.values()) {
    const group = groups.get(task.parentId);
    if (group) group.push(task);
    else groups.set(task.parentId, [task]);
  }
  return groups;
}

function checkDependencies(graph: TaskGraph, dependencies: readonly string[]): TaskError | undefined {
  const missing = dependencies.find((id) => !graph.tasks.has(id));
  return missing === undefined ? undefined : fail("no_dependency", `There is no task “${missing}” to depend on.`);
}

function checkLimits(graph: TaskGraph, task: Task): TaskError | undefined {
  const { parentId } = task;
  const parent = parentId === undefined ? undefined : graph.tasks.get(parentId);
  if (!parent) return undefined;
  const ancestors = listAncestors(graph, parent.id);
  const root = ancestors.at(-1) ?? parent;
  const counted = listDescendants(graph, root.id).filter((other) => !isDelegated(other));
  const { maxDepth, maxSubtasks, maxTotalTasks } = taskLimits;
  if (!isDelegated(task) && counted.length + 1 >= maxTotalTasks) {
    return fail("total", `A tree has at most ${maxTotalTasks} tasks. Work on those it has, or start a new message.`);
  }
  if (ancestors.length + 2 > maxDepth) {
    return fail("depth", `Tasks can be nested ${maxDepth} levels deep; “${parent.id}” is already on the third.`);
  }
  const siblings = counted.filter((other) => other.parentId === parent.id);
  if (!isDelegated(task) && siblings.length >= maxSubtasks) {
    return fail("subtasks", `“${parent.id}” already has ${maxSubtasks} subtasks.`);
  }
  return undefined;
}

/** A task waits for its dependencies and its subtasks. So depending on one's own ancestor is a cycle too. */
function checkCycle(graph: TaskGraph, { id, dependencies }: Task): TaskError | undefined {
  if (dependencies.length === 0) return undefined;
  const byParent = groupByParent(graph);
  const reached = new Set<string>();
  for (const first of dependencies) {
    // What an earlier dependency has reached does not lead back.
    const waiting = [first];
    for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
      if (current === id) return fail("cycle", `“${id}” cannot depend on “${first}”: that would be a cycle.`);
      if (reached.has(current)) continue;
      reached.add(current);
      waiting.push(...(graph.tasks.get(current)?.dependencies ?? []));
      for (const child of byParent.get(current) ?? []) waiting.push(child.id);
    }
  }
  return undefined;
}

function findOpen(graph: TaskGraph, id: string): Task | TaskError {
  const task = graph.tasks.get(id);
  if (!task) return fail("not_found", `There is no task “${id}”.`);
  return isFinished(task.status) ? fail("finished", `Task “${id}” is already ${task.status}.`) : task;
}

function failTransition({ id, status }: Task, change: string): TaskError {
  return fail("not_allowed", `Task “${id}” is ${status.replace("_", " ")} and cannot be ${change}.`);
}

/** Returns the dependencies because of which a task is blocked. */
function listHurdles({ tasks }: TaskGraph, { dependencies }: Task): string[] {
  return dependencies.filter((id) => {
    const { status } = tasks.get(id) ?? {};
    return status === "failed" || status === "cancelled" || status === "blocked";
  });
}

function blockIfNeeded(graph: TaskGraph, id: string): TaskGraph {
  const task = graph.tasks.get(id);
  if (!task || listHurdles(graph, task).length === 0) return graph;
  return blockDependents(put(graph, { ...task, status: "blocked" }), id);
}

/** Blocks the pending tasks that depend on one, directly or not. */
function blockDependents(graph: TaskGraph, id: string): TaskGraph {
  const dependents = groupByDependency(graph);
  const tasks = new Map(graph.tasks);
  const blocked = [id];
  // The list grows while it is iterated.
  for (const current of blocked) {
    for (const dependent of dependents.get(current) ?? []) {
      const task = tasks.get(dependent);
      if (task?.status !== "pending") continue;
      tasks.set(dependent, { ...task, status: "blocked" });
      blocked.push(dependent);
    }
  }
  return { tasks };
}

function groupByDependency({ tasks }: TaskGraph): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { id, dependencies } of tasks.values()) {
    for (const dependency of dependencies) {
      const group = groups.get(dependency);
      if (group) group.push(id);
      else groups.set(dependency, [id]);
    }
  }
  return groups;
}

function listDependents({ tasks }: TaskGraph, id: string): Task[] {
  return [...tasks.values()].filter(({ dependencies }) => dependencies.includes(id));
}

function dropStart(task: Task): Task {
  const { assignedTo: _, startedAt: __, ...rest } = task;
  return rest;
}

function put({ tasks }: TaskGraph, task: Task): TaskGraph {
  return { tasks: new Map(tasks).set(task.id, task) };
}

function fail(code: TaskError["code"], message: string): TaskError {
  return { code, message };
}
