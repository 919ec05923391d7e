import type { BodyIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import type { TaskChange } from "../protocol/task.ts";
import type { TeamTask, TeamTaskList, TeamTaskQuery } from "../protocol/team-task.ts";
import { createId } from "./create-id.ts";
import type { Transport } from "./transport.ts";
import { withRetry } from "./with-retry.ts";

/** The tasks that the members of an agency share. */
export interface SharedTasks {
  /** Returns the tasks, oldest first: all, the open ones, or those in one status. */
  list(options?: { status?: TeamTaskQuery["status"] }): Promise<Pick<TeamTaskList, "tasks" | "progress">>;
  /**
   * Creates a task that any member may claim.
   *
   * ```ts
   * const build = await client.tasks("review").create({ title: "Build it" });
   * await client.tasks("review").create({ title: "Test it", dependencies: [build.id] });
   * ```
   */
  create(task: BodyIn<Endpoints["createTeamTask"]>): Promise<TeamTask>;
  /** Completes, fails, cancels, blocks or releases (`pending`) a task, or changes what it depends on. */
  update(id: string, change: TaskChange): Promise<TeamTask>;
  /** Claims a task for the caller, or for an agent. Throws `conflict` if somebody else has claimed it. */
  claim(id: string, options?: { agent?: string }): Promise<TeamTask>;
}

const maxPage = 500;

export function createSharedTasks(
  { call, retryTimeoutMs }: Pick<Transport, "call" | "retryTimeoutMs">,
  agency: string,
): SharedTasks {
  const params = { agency };
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>) => withRetry(request, { retryTimeoutMs });
  return {
    async list({ status = "all" } = {}) {
      const tasks: TeamTask[] = [];
      for (let after: string | undefined; ;) {
        const query = { status, limit: maxPage, ...(after === undefined ? {} : { after }) };
        const page = await retry((signal) => call("listTeamTasks", { params, query, signal }));
        tasks.push(...page.tasks);
        if (page.next === undefined) return { tasks, progress: page.progress };
        after = page.next;
      }
    },
    create(task) {
      const body = { ...task, idempotencyKey: task.idempotencyKey ?? createId() };
      return retry((signal) => call("createTeamTask", { params, body, signal }));
    },
    update: (task, body) => retry((signal) => call("updateTeamTask", { params: { ...params, task }, body, signal })),
    claim: (task, body = {}) => retry((signal) => call("claimTeamTask", { params: { ...params, task }, body, signal })),
  };
}
