import { findConnected, type OpenTask } from "./find-connected.ts";
import type { StoredTaskRow } from "./task-row.ts";

/** More than can be connected; only what a request wants to connect can be more. */
const maxLoadedTasks = 4000;

/** Must match the conditions of the indexes exactly; otherwise SQLite scans the tables. */
export const openTask = "status IN ('pending', 'in_progress', 'blocked')";

/**
 * Reads the trees of these tasks and of open `dependencies`, with all trees that they are connected to by dependencies
 * between open tasks. What is finished never changes, so it connects nothing: otherwise everything that ever depended on
 * something would be read. Of other trees, only the tasks that open ones depend on are read.
 */
export function readConnected<Row extends StoredTaskRow>(
  sql: SqlStorage,
  table: "tasks" | "team_tasks",
  ids: readonly string[],
  dependencies: readonly string[],
): { roots: Set<string>; rows: Row[] } {
  const { roots, needed } = findConnected(readOpen(sql, table), findRoots(sql, table, ids), dependencies);
  const rows = sql
    .exec<Row>(
      `SELECT * FROM ${table} WHERE id IN (
         SELECT id FROM ${table} WHERE root IN (SELECT value FROM json_each(?))
         UNION SELECT value FROM json_each(?) LIMIT ${maxLoadedTasks}
       ) ORDER BY number`,
      JSON.stringify([...roots]),
      JSON.stringify([...needed]),
    )
    .toArray();
  return { roots, rows };
}

function readOpen(sql: SqlStorage, table: string): OpenTask[] {
  return sql
    .exec<{ id: string; root: string; dependencies: string }>(
      `SELECT id, root, dependencies FROM ${table} WHERE ${openTask}`,
    )
    .toArray()
    .map(({ id, root, dependencies }) => ({ id, root, dependencies: JSON.parse(dependencies) as string[] }));
}

/** Returns the roots of trees. What is not stored is a root itself, such as the task of a turn. */
function findRoots(sql: SqlStorage, table: string, ids: readonly string[]): string[] {
  return sql
    .exec<{ root: string }>(
      `SELECT coalesce((SELECT root FROM ${table} WHERE id = value), value) AS root FROM json_each(?)`,
      JSON.stringify(ids),
    )
    .toArray()
    .map(({ root }) => root);
}
