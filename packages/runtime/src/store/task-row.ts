import type { Task, TaskStatus, TaskType } from "@thinkery/sdk";

/** What the tasks of agents and the shared tasks of agencies store alike. */
export interface StoredTaskRow extends Record<string, SqlStorageValue> {
  id: string;
  parent_id: string | null;
  type: TaskType;
  title: string;
  description: string | null;
  status: TaskStatus;
  dependencies: string;
  result: string | null;
  error: string | null;
  assigned_to: string | null;
  created_at: number;
  started_at: number | null;
  completed_at: number | null;
}

export interface TaskRow extends StoredTaskRow {
  metadata: string | null;
}

export function taskToRow(task: Task): TaskRow {
  return {
    id: task.id,
    parent_id: task.parentId ?? null,
    type: task.type,
    title: task.title,
    description: task.description ?? null,
    status: task.status,
    dependencies: JSON.stringify(task.dependencies),
    result: task.result ?? null,
    error: task.error ?? null,
    assigned_to: task.assignedTo ?? null,
    created_at: task.createdAt,
    started_at: task.startedAt ?? null,
    completed_at: task.completedAt ?? null,
    metadata: task.metadata ? JSON.stringify(task.metadata) : null,
  };
}

export function rowToTask(row: StoredTaskRow): Task {
  return {
    id: row.id,
    ...(row.parent_id === null ? {} : { parentId: row.parent_id }),
    type: row.type,
    title: row.title,
    ...(row.description === null ? {} : { description: row.description }),
    status: row.status,
    dependencies: JSON.parse(row.dependencies) as string[],
    ...(row.result === null ? {} : { result: row.result }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.assigned_to === null ? {} : { assignedTo: row.assigned_to }),
    createdAt: row.created_at,
    ...(row.started_at === null ? {} : { startedAt: row.started_at }),
    ...(row.completed_at === null ? {} : { completedAt: row.completed_at }),
    ...(typeof row.metadata === "string" ? { metadata: JSON.parse(row.metadata) as Record<string, unknown> } : {}),
  };
}
