import { fail, isFinished, type NewEvent, type ReportStatus, type Task } from "@thinkery/sdk";
import { planEnd, planStart, planTask } from "../../store/task-changes.ts";
import type { Tasks } from "../../store/tasks.ts";

interface PlannedDelegation {
  task: Task;
  events: NewEvent[];
}

/** How a sub-agent ended, as far as its task is concerned. */
interface TaskEnd {
  status: ReportStatus;
  result?: string | undefined;
  error?: string | undefined;
}

/** The tasks of sub-agents. Changes are events, to be recorded together with those of the delegation. */
export interface DelegatedTasks {
  /** Creates a task for a delegation that names none, and assigns it. */
  create(input: { title: string; description: string; runId: string | undefined }): PlannedDelegation;
  /** Assigns a task. Throws if it does not exist, is finished, or waits for others. */
  assign(id: string, runId: string | undefined): PlannedDelegation;
  /** Ends a task as its sub-agent did. */
  end(id: string, end: TaskEnd): NewEvent[];
}

const maxDescriptionChars = 20_000;
const maxResultChars = 8000;

export function createDelegatedTasks(tasks: Tasks): DelegatedTasks {
  return {
    create({ title, description, runId }) {
      const now = Date.now();
      const input = {
        title,
        type: "code" as const,
        description: description.slice(0, maxDescriptionChars),
        ...(runId === undefined ? {} : { parentId: runId }),
      };
      const { task } = planTask(tasks, input, {
        metadata: { delegated: true },
        now,
        ...(runId === undefined ? {} : { runId }),
      });
      const started: Task = { ...task, status: "in_progress", assignedTo: toFacetName(task.id), startedAt: now };
      const data = { task: started, ...(runId === undefined ? {} : { runId }) };
      return { task: started, events: [{ type: "task.created", data }] };
    },
    assign(id, runId) {
      const known = tasks.get(id);
      if (known && isFinished(known.status))
        throw fail("conflict", `Task “${id}” is ${known.status}; create a new one to delegate.`);
      const options = { now: Date.now(), ...(runId === undefined ? {} : { runId }) };
      const { task, events } = planStart(tasks, id, toFacetName(id), options);
      return { task, events };
    },
    end(id, { status, result, error }) {
      const isFailed = status === "failed" || status === "interrupted";
      return planEnd(
        tasks,
        id,
        {
          status: isFailed ? "failed" : status,
          result: result?.slice(0, maxResultChars),
          ...(isFailed ? { error: error ?? status } : {}),
        },
        { now: Date.now() },
      );
    },
  };
}

/** The name of the sub-agent that works on a task. */
export const toFacetName = (taskId: string) => `subagent-${taskId}`;
