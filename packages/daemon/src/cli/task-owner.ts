import {
  fail,
  isFinished,
  isThinkeryError,
  type NewTask,
  type Task,
  type TaskChange,
  type TaskProgress,
  type TeamTask,
} from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { findNearest } from "@thinkery/sdk/internal";
import { explainMissingAgency, findAgent } from "./agents.ts";
import type { Cli } from "./cli.ts";
import { connect } from "./connect.ts";
import { type AgentTarget, parseTarget } from "./target.ts";

type AnyTask = Task | TeamTask;

/** Where tasks belong: to an agent, or to all members of an agency. */
export interface TaskOwner {
  create(task: Pick<NewTask, "title"> & Partial<NewTask>): Promise<AnyTask>;
  /** Changes a task. If there is no such task, the error suggests one. */
  update(id: string, change: TaskChange): Promise<AnyTask>;
  /** Claims a shared task for the caller, or for an agent. */
  claim?(id: string, agent?: string): Promise<TeamTask>;
}

export const ownerHelp = "agent, as alice or alice@review, or an agency for its shared tasks, as @review";

export async function connectToTasks(cli: Cli, text: string): Promise<TaskOwner> {
  const target = parseTarget(cli, text);
  const { client } = await connect(cli);
  if (target.kind === "agency") return createSharedOwner(client, target.agency);
  await findAgent(client, target);
  const { agency, agent } = target;
  const handle = client.agent(`${agent}@${agency}`);
  return {
    create: (task) => handle.createTask(task),
    update: (id, change) =>
      handle.updateTask(id, change).catch(suggestTask(id, text, () => readTasks(client, target, false))),
  };
}

function createSharedOwner(client: Client, agency: string): TaskOwner {
  const params = { agency };
  const explain = async (error: unknown): Promise<never> => {
    throw await explainMissingAgency(client, agency, error);
  };
  const suggest = (id: string) =>
    suggestTask(id, `@${agency}`, async () => (await readSharedTasks(client, agency)).tasks);
  return {
    create: (body) => client.call("createTeamTask", { params, body }).catch(explain),
    update: (task, body) =>
      client
        .call("updateTeamTask", { params: { ...params, task }, body })
        .catch(explain)
        .catch(suggest(task)),
    claim: (task, agent) =>
      client
        .call("claimTeamTask", { params: { ...params, task }, body: agent === undefined ? {} : { agent } })
        .catch(explain)
        .catch(suggest(task)),
  };
}

function suggestTask(id: string, owner: string, list: () => Promise<AnyTask[]>): (error: unknown) => Promise<never> {
  return async (error) => {
    if (!isThinkeryError(error) || error.code !== "not_found" || /Did you mean|Agency/.test(error.message)) throw error;
    const open = (await list()).filter((task) => !isFinished(task.status) && !isMessage(task));
    const suggestion = findNearest(
      id,
      open.map((task) => task.id),
    );
    const hint = suggestion ? `Did you mean ${suggestion}?` : `List them with \`thinkery task ls ${owner}\`.`;
    throw fail("not_found", `${error.message} ${hint}`, suggestion ? { suggestion } : {});
  };
}

const isMessage = (task: AnyTask) => "metadata" in task && task.metadata?.message === true;

/** Returns the tasks of an agent, and with `all` those in its archive. */
export async function readTasks(client: Client, { agency, agent }: AgentTarget, all: boolean): Promise<Task[]> {
  const tasks: Task[] = [];
  for (const archived of all ? [false, true] : [false]) {
    for (let after: string | undefined; ;) {
      const query = { limit: 500, ...(after ? { after } : {}), ...(archived ? { archived: "1" as const } : {}) };
      const page = await withRetry((signal) => client.call("listTasks", { params: { agency, agent }, query, signal }));
      tasks.push(...page.tasks);
      if (page.next === undefined || page.next === after) break;
      after = page.next;
    }
  }
  return tasks;
}

/** Returns the tasks that the members of an agency share, oldest first. */
export async function readSharedTasks(
  client: Client,
  agency: string,
): Promise<{ tasks: TeamTask[]; progress: TaskProgress }> {
  const tasks: TeamTask[] = [];
  for (let after: string | undefined; ;) {
    const query = { limit: 500, ...(after === undefined ? {} : { after }) };
    const page = await withRetry((signal) => client.call("listTeamTasks", { params: { agency }, query, signal }));
    tasks.push(...page.tasks);
    if (page.next === undefined || page.next === after) return { tasks, progress: page.progress };
    after = page.next;
  }
}

/** Converts shared tasks to what a tree shows, with the holder of each and the newest root first. */
export function toTreeTasks(tasks: readonly TeamTask[]): Task[] {
  const known = new Set(tasks.map(({ id }) => id));
  const isRoot = ({ parentId }: TeamTask) => parentId === undefined || !known.has(parentId);
  const sorted = [...tasks.filter(isRoot).toReversed(), ...tasks.filter((task) => !isRoot(task))];
  return sorted.map(({ claimedBy, ...task }) => ({
    ...task,
    ...(claimedBy === undefined ? {} : { assignedTo: claimedBy }),
  }));
}
