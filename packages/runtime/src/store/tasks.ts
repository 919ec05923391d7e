import {
  type AgentEvent,
  createTaskGraph,
  type EventData,
  type Task,
  type TaskGraph,
  type TaskList,
  type TaskProgress,
  type TaskQuery,
  type TaskStatus,
  toProgress,
} from "@thinkery/sdk";
import { openTask, readConnected } from "./read-connected.ts";
import { countRootTasks, readRootTasks } from "./root-tasks.ts";
import { rowToTask, type TaskRow, taskToRow } from "./task-row.ts";
import type { TurnStatus } from "./turns.ts";

/** These finished trees are listed with the open ones; older ones are the archive. */
const maxRecentTrees = 20;
/** Messages between objects are limited in size. */
const maxPageChars = 4_000_000;

const maxStoredPerRead = 20;

/** Must match the condition of the index exactly; otherwise SQLite scans the table. */
const openTurn = "status IN ('queued', 'running', 'paused')";

const rootsWithOpenTasks = `SELECT root FROM tasks WHERE ${openTask}`;
/** The roots of trees: turns, and tasks without a parent. Numbers of both are positions in the log. */
const openRoots = `
  SELECT id, number FROM turns WHERE ${openTurn}
  UNION SELECT id, number FROM turns WHERE id IN (${rootsWithOpenTasks})
  UNION SELECT id, number FROM tasks WHERE id IN (${rootsWithOpenTasks})`;
const finishedRoots = `
  SELECT id, number FROM turns WHERE NOT ${openTurn} AND id NOT IN (${rootsWithOpenTasks})
  UNION ALL SELECT id, number FROM tasks WHERE parent_id IS NULL AND id NOT IN (${rootsWithOpenTasks})`;
/** The trees that a query lists; `?1` is the number of the newest archived tree. */
const listedRoots = {
  current: `SELECT * FROM (${openRoots}) UNION ALL SELECT * FROM (${finishedRoots}) WHERE number > ?1`,
  archived: `SELECT * FROM (${finishedRoots}) WHERE number <= ?1`,
};

/** An agent's task graph: a projection of its log. The root task of a message is derived from its turn. */
export class Tasks {
  readonly #sql: SqlStorage;
  /** Whether a stored task is open. Cached, because every turn asks; undefined if not read yet. */
  #hasOpen: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    if (event.type === "task.created") this.#insert(event.data.task, event.seq);
    else if (event.type === "task.updated") this.#update(event.data);
    else if (event.type === "history.cleared") this.empty();
  }

  empty(): void {
    this.#hasOpen = undefined;
    this.#sql.exec("DELETE FROM tasks");
    this.#sql.exec("DELETE FROM task_dependencies");
  }

  /** Drops what is cached in memory after a transaction was rolled back. */
  revert(): void {
    this.#hasOpen = undefined;
  }

  get hasOpen(): boolean {
    this.#hasOpen ??= this.#sql.exec(`SELECT 1 FROM tasks WHERE ${openTask} LIMIT 1`).toArray().length > 0;
    return this.#hasOpen;
  }

  countOpen(): number {
    return this.#sql.exec<{ n: number }>(`SELECT count(*) AS n FROM tasks WHERE ${openTask}`).one().n;
  }

  get(id: string): Task | undefined {
    const [row] = this.#sql.exec<TaskRow>("SELECT * FROM tasks WHERE id = ?", id).toArray();
    return row ? rowToTask(row) : readRootTasks(this.#sql, [id])[0];
  }

  /** Whether this is the root task of a message. */
  isTurn(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM turns WHERE id = ?", id).toArray().length > 0;
  }

  /** Loads the trees of these tasks, and what they are connected to. */
  loadGraph(ids: readonly string[], dependencies: readonly string[] = []): TaskGraph {
    const { roots, rows } = readConnected<TaskRow>(this.#sql, "tasks", ids, dependencies);
    const turns = [...roots, ...ids, ...dependencies];
    return createTaskGraph([...readRootTasks(this.#sql, [...new Set(turns)]), ...rows.map(rowToTask)]);
  }

  /** Returns whole trees, newest first, and the progress of all that the query lists. */
  page({ archived, after, limit }: TaskQuery): TaskList {
    const filter = listedRoots[archived ? "archived" : "current"];
    const boundary = this.#findArchiveBoundary();
    const roots = this.#sql
      .exec<{ id: string; number: number }>(
        `SELECT id, number FROM (${filter}) WHERE number < ?2 ORDER BY number DESC LIMIT ?3`,
        boundary,
        toNumber(after),
        limit + 1,
      )
      .toArray();
    const tasks: Task[] = [];
    let size = 0;
    let last: number | undefined;
    for (const { id, number } of roots.slice(0, limit)) {
      const tree = this.#readTree(id);
      size += countChars(tree);
      if (last !== undefined && size > maxPageChars) break;
      tasks.push(...tree);
      last = number;
    }
    const isComplete = last === roots.at(-1)?.number;
    const next = last !== undefined && !isComplete ? { next: String(last) } : {};
    return { tasks, progress: this.#countProgress(filter, boundary), ...next };
  }

  /** Returns the open trees, newest first. */
  listOpenTrees(limit: number): Task[] {
    return this.#sql
      .exec<{ id: string }>(`SELECT id FROM (${openRoots}) ORDER BY number DESC LIMIT ?`, limit)
      .toArray()
      .flatMap(({ id }) => this.#readTree(id));
  }

  /** Returns the tasks in the tree of a turn, oldest first, without its root. */
  listByTurn(turn: string): Task[] {
    return this.#readRows(turn).map(rowToTask);
  }

  get hasStored(): boolean {
    return this.#sql.exec("SELECT 1 FROM tasks LIMIT 1").toArray().length > 0;
  }

  /** Reads the tasks that are stored by now, oldest first. */
  *readStored(): Generator<Task[]> {
    const ids = this.#sql.exec<{ id: string }>("SELECT id FROM tasks ORDER BY number").toArray();
    for (let from = 0; from < ids.length; from += maxStoredPerRead) {
      const page = ids.slice(from, from + maxStoredPerRead).map(({ id }) => id);
      yield this.#sql
        .exec<TaskRow>(
          "SELECT * FROM tasks WHERE id IN (SELECT value FROM json_each(?)) ORDER BY number",
          JSON.stringify(page),
        )
        .toArray()
        .map(rowToTask);
    }
  }

  #readTree(root: string): Task[] {
    return [...readRootTasks(this.#sql, [root]), ...this.#readRows(root).map(rowToTask)];
  }

  #readRows(root: string): TaskRow[] {
    return this.#sql.exec<TaskRow>("SELECT * FROM tasks WHERE root = ? ORDER BY number", root).toArray();
  }

  /** Returns the number of the newest tree in the archive, or 0 if it is empty. */
  #findArchiveBoundary(): number {
    const [row] = this.#sql
      .exec<{ number: number }>(
        `SELECT number FROM (${finishedRoots}) ORDER BY number DESC LIMIT 1 OFFSET ${maxRecentTrees}`,
      )
      .toArray();
    return row?.number ?? 0;
  }

  #countProgress(filter: string, boundary: number): TaskProgress {
    const count = <Status extends string>(table: string, key: string) =>
      Object.fromEntries(
        this.#sql
          .exec<{ status: Status; n: number }>(
            `SELECT status, count(*) AS n FROM ${table} WHERE ${key} IN (SELECT id FROM (${filter})) GROUP BY status`,
            boundary,
          )
          .toArray()
          .map(({ status, n }) => [status, n]),
      ) as Partial<Record<Status, number>>;
    const counts: Partial<Record<TaskStatus, number>> = count<TaskStatus>("tasks", "root");
    for (const [status, n] of Object.entries(countRootTasks(count<TurnStatus>("turns", "id")))) {
      counts[status as TaskStatus] = (counts[status as TaskStatus] ?? 0) + n;
    }
    return toProgress(counts);
  }

  #insert(task: Task, number: number): void {
    this.#hasOpen = undefined;
    const row = taskToRow(task);
    const root = task.parentId === undefined ? task.id : this.#findRoot(task.parentId);
    const columns = { ...row, number, root };
    const names = Object.keys(columns);
    this.#sql.exec(
      `INSERT INTO tasks (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
      ...Object.values(columns),
    );
    this.#insertDependencies(task.id, task.dependencies);
  }

  #update({ taskId, status, result, error, assignedTo, dependencies, startedAt, completedAt }: Update): void {
    this.#hasOpen = undefined;
    // A task that waits again has neither begun nor is anybody working on it.
    const restarts = status === "pending" || status === "blocked";
    const values = {
      ...(restarts ? { started_at: null, assigned_to: null } : {}),
      ...(status === undefined ? {} : { status }),
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
      ...(assignedTo === undefined ? {} : { assigned_to: assignedTo }),
      ...(startedAt === undefined ? {} : { started_at: startedAt }),
      ...(completedAt === undefined ? {} : { completed_at: completedAt }),
      ...(dependencies === undefined ? {} : { dependencies: JSON.stringify(dependencies) }),
    };
    const assignments = Object.keys(values).map((name) => `${name} = ?`);
    if (assignments.length === 0) return;
    this.#sql.exec(`UPDATE tasks SET ${assignments.join(", ")} WHERE id = ?`, ...Object.values(values), taskId);
    if (dependencies === undefined) return;
    this.#sql.exec("DELETE FROM task_dependencies WHERE task = ?", taskId);
    this.#insertDependencies(taskId, dependencies);
  }

  #insertDependencies(task: string, dependencies: readonly string[]): void {
    if (dependencies.length === 0) return;
    this.#sql.exec(
      "INSERT OR IGNORE INTO task_dependencies (dependency, task) SELECT value, ? FROM json_each(?)",
      task,
      JSON.stringify(dependencies),
    );
  }

  #findRoot(parentId: string): string {
    const [parent] = this.#sql.exec<{ root: string }>("SELECT root FROM tasks WHERE id = ?", parentId).toArray();
    return parent?.root ?? parentId;
  }
}

type Update = EventData["task.updated"];

const toNumber = (after: string | undefined) => (after === undefined ? Number.MAX_SAFE_INTEGER : Number(after) || 0);

function countChars(tasks: readonly Task[]): number {
  return tasks.reduce((sum, { title, description = "", result = "", error = "" }) => {
    return sum + 300 + title.length + description.length + result.length + error.length;
  }, 0);
}
