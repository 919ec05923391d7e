import type { Failure, Task, TaskStatus } from "@thinkery/sdk";
import type { TurnStatus } from "./turns.ts";

const maxTitleChars = 80;
/** The whole result is in the turn's last message. */
const maxResultChars = 500;

const taskStatusOf: Record<TurnStatus, TaskStatus> = {
  queued: "pending",
  running: "in_progress",
  paused: "in_progress",
  completed: "complete",
  error: "failed",
  canceled: "cancelled",
};

interface Row extends Record<string, SqlStorageValue> {
  id: string;
  status: TurnStatus;
  admitted_at: number;
  started_at: number | null;
  ended_at: number | null;
  result: string | null;
  failure: string | null;
  message: string | null;
}

/** Returns the root tasks of these turns. They are derived, so that an ordinary turn stores no task. */
export function readRootTasks(sql: SqlStorage, turnIds: readonly string[]): Task[] {
  return sql
    .exec<Row>(
      `SELECT id, status, admitted_at, started_at, ended_at, substr(result, 1, ${maxResultChars}) AS result, failure,
        (SELECT substr(content, 1, 1000) FROM messages WHERE turn = turns.id AND role = 'user' ORDER BY messages.rowid LIMIT 1) AS message
       FROM turns WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(turnIds),
    )
    .toArray()
    .map(toTask);
}

function toTask(row: Row): Task {
  const failure = row.failure === null ? undefined : (JSON.parse(row.failure) as Failure);
  return {
    id: row.id,
    type: "code",
    title: toTitle(row.message ?? ""),
    status: taskStatusOf[row.status],
    dependencies: [],
    ...(row.result ? { result: row.result } : {}),
    ...(failure ? { error: failure.message } : {}),
    createdAt: row.admitted_at,
    ...(row.started_at === null ? {} : { startedAt: row.started_at }),
    ...(row.ended_at === null ? {} : { completedAt: row.ended_at }),
    metadata: { message: true },
  };
}

/** Counts turns as tasks in the same status. */
export function countRootTasks(counts: Partial<Record<TurnStatus, number>>): Partial<Record<TaskStatus, number>> {
  const tasks: Partial<Record<TaskStatus, number>> = {};
  for (const [status, count] of Object.entries(counts)) {
    const mapped = taskStatusOf[status as TurnStatus];
    tasks[mapped] = (tasks[mapped] ?? 0) + count;
  }
  return tasks;
}

function toTitle(message: string): string {
  const [line = ""] = message.trim().split("\n");
  const title = line.trim();
  return title.length > maxTitleChars ? `${title.slice(0, maxTitleChars - 1)}…` : title || "(no text)";
}
