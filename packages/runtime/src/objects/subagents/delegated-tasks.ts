import { fail, type NewEvent, type ReportStatus } from "@thinkery/sdk";

/** A task as far as a delegation needs it. */
export interface DelegatedTask {
  id: string;
  type: string;
  title: string;
  description?: string;
}

/** The tasks of sub-agents. Changes are events, to be recorded together with those of the delegation. */
export interface DelegatedTasks {
  /** Creates a task for a delegation that names none. */
  create(task: { title: string; description: string; runId: string | undefined; facetOf(id: string): string }): {
    task: DelegatedTask;
    events: NewEvent[];
  };
  /** Assigns a task. Throws if it does not exist, is finished, or waits for others. */
  assign(id: string, facetName: string): { task: DelegatedTask; events: NewEvent[] };
  /** Ends a task as its sub-agent did. */
  end(id: string, end: { status: ReportStatus; result?: string | undefined; error?: string | undefined }): NewEvent[];
}

/** For delegations without tasks of their own: each gets an id. */
export const noTasks: DelegatedTasks = {
  create({ title, description }) {
    const id = `task-${crypto.randomUUID().slice(0, 8)}`;
    return { task: { id, type: "code", title, description }, events: [] };
  },
  assign(id) {
    throw fail("not_found", `There is no task “${id}”.`);
  },
  end: () => [],
};
