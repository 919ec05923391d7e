import {
  createTaskGraph,
  type Task,
  type TaskGraph,
  type TaskProgress,
  type TaskStatus,
  type TeamTask,
  toProgress,
} from "@thinkery/sdk";
import { openTask, readConnected } from "../store/read-connected.ts";
import { rowToTask, type StoredTaskRow, taskToRow } from "../store/task-row.ts";
import type { Actor } from "./actor.ts";

interface Row extends StoredTaskRow {
  number: number;
  created_by: string;
  /** What `assigned_to` is. */
  holder_kind: Actor["kind"] | null;
  claimed_until: number | null;
}

/** A shared task as it is stored. */
export interface StoredTeamTask {
  number: number;
  task: Task;
  createdBy: string;
  /** Who works on it, or did when it ended. */
  holder?: Actor;
  /** When the claim of an agent ends (epoch ms). */
  claimedUntil?: number;
}

/** The table of an agency's shared tasks. */
export class TeamTaskTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  find(id: string): StoredTeamTask | undefined {
    return this.#readRows("WHERE id = ?", id)[0];
  }

  findByKey(key: string): StoredTeamTask | undefined {
    return this.#readRows("WHERE key = ?", key)[0];
  }

  countOpen(): number {
    return this.#sql.exec<{ n: number }>(`SELECT count(*) AS n FROM team_tasks WHERE ${openTask}`).one().n;
  }

  /** Returns tasks, oldest first. */
  list(status: TaskStatus | "open" | "all", after: number, limit: number): StoredTeamTask[] {
    const order = "ORDER BY number LIMIT ?";
    if (status === "all") return this.#readRows(`WHERE number > ? ${order}`, after, limit);
    if (status === "open") return this.#readRows(`WHERE ${openTask} AND number > ? ${order}`, after, limit);
    return this.#readRows(`WHERE status = ? AND number > ? ${order}`, status, after, limit);
  }

  /** Returns the tasks that ended last. */
  listLatestFinished(limit: number): StoredTeamTask[] {
    return this.#readRows("WHERE completed_at IS NOT NULL ORDER BY completed_at DESC LIMIT ?", limit);
  }

  countProgress(): TaskProgress {
    const counts = this.#sql
      .exec<{ status: TaskStatus; n: number }>("SELECT status, count(*) AS n FROM team_tasks GROUP BY status")
      .toArray();
    return toProgress(Object.fromEntries(counts.map(({ status, n }) => [status, n])));
  }

  loadGraph(ids: readonly string[], dependencies: readonly string[] = []): TaskGraph {
    const { rows } = readConnected<Row>(this.#sql, "team_tasks", ids, dependencies);
    return createTaskGraph(rows.map(rowToTask));
  }

  insert(task: Task, createdBy: string, key: string | undefined): void {
    const { metadata: _, ...row } = taskToRow(task);
    const root = task.parentId === undefined ? task.id : this.#getRoot(task.parentId);
    const columns = { ...row, root, created_by: createdBy, key: key ?? null };
    const names = Object.keys(columns);
    this.#sql.exec(
      `INSERT INTO team_tasks (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
      ...Object.values(columns),
    );
  }

  /** Stores a changed task. The claim of an agent ends when it no longer works on the task. */
  update(task: Task): void {
    const { status, dependencies, result, error, assigned_to, started_at, completed_at } = taskToRow(task);
    const claim = status === "in_progress" ? "" : ", claimed_until = NULL";
    this.#sql.exec(
      `UPDATE team_tasks SET status = ?, dependencies = ?, result = ?, error = ?, assigned_to = ?, started_at = ?,
         completed_at = ?${claim} WHERE id = ?`,
      status,
      dependencies,
      result,
      error,
      assigned_to,
      started_at,
      completed_at,
      task.id,
    );
  }

  setClaim(id: string, kind: Actor["kind"], until: number | undefined): void {
    this.#sql.exec("UPDATE team_tasks SET holder_kind = ?, claimed_until = ? WHERE id = ?", kind, until ?? null, id);
  }

  listExpired(now: number): string[] {
    return this.#readIds("WHERE claimed_until <= ?", now);
  }

  listHeldByAgent(agent: string): string[] {
    return this.#readIds("WHERE claimed_until IS NOT NULL AND assigned_to = ?", agent);
  }

  /** Extends the claims of an agent that end before a time, and returns the tasks. Writes nothing if there are none. */
  extendClaims(agent: string, before: number, until: number): StoredTeamTask[] {
    const ids = this.#readIds("WHERE claimed_until < ? AND assigned_to = ?", before, agent);
    for (const id of ids) this.setClaim(id, "agent", until);
    return ids.flatMap((id) => this.find(id) ?? []);
  }

  /** Returns the agents that hold tasks, and when the first claim of each ends. */
  listHolders(): { agent: string; until: number }[] {
    return this.#sql
      .exec<{ agent: string; until: number }>(
        `SELECT assigned_to AS agent, min(claimed_until) AS until FROM team_tasks
         WHERE claimed_until IS NOT NULL GROUP BY assigned_to`,
      )
      .toArray();
  }

  #getRoot(parentId: string): string {
    return this.#sql.exec<{ root: string }>("SELECT root FROM team_tasks WHERE id = ?", parentId).one().root;
  }

  #readIds(where: string, ...values: SqlStorageValue[]): string[] {
    return this.#sql
      .exec<{ id: string }>(`SELECT id FROM team_tasks ${where}`, ...values)
      .toArray()
      .map(({ id }) => id);
  }

  #readRows(where: string, ...values: SqlStorageValue[]): StoredTeamTask[] {
    return this.#sql
      .exec<Row>(`SELECT * FROM team_tasks ${where}`, ...values)
      .toArray()
      .map(toStored);
  }
}

function toStored(row: Row): StoredTeamTask {
  const { assigned_to: name, holder_kind: kind, claimed_until: until } = row;
  return {
    number: row.number,
    task: rowToTask(row),
    createdBy: row.created_by,
    ...(name === null || kind === null ? {} : { holder: { kind, name } }),
    ...(until === null ? {} : { claimedUntil: until }),
  };
}

export function toTeamTask({ task, createdBy, holder, claimedUntil }: StoredTeamTask): TeamTask {
  const { assignedTo: _, metadata: __, ...fields } = task;
  return {
    ...fields,
    createdBy,
    ...(holder ? { claimedBy: holder.name } : {}),
    ...(claimedUntil === undefined ? {} : { claimedUntil: new Date(claimedUntil).toISOString() }),
  };
}
