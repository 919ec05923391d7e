import type { TestHost } from "@thinkery/sdk/test";
import type { ExpensiveRequest, LargeAgent } from "./expensive-request.ts";

const ids: Record<"open" | "finished", string[]> = { open: [], finished: [] };

/** Creates tasks that depend on the fifty before each of them. */
async function createTasks(host: TestHost, agent: string, kind: keyof typeof ids, count: number): Promise<void> {
  const params = { agency: "global", agent };
  ids[kind] = [];
  for (let index = 0; index < count; index++) {
    const body = { title: `task ${index}`, description: "d".repeat(2000), dependencies: ids[kind].slice(-50) };
    const { taskId } = await host.client.call("createTask", { params, body });
    const change = {
      params: { ...params, task: taskId },
      body: { status: "complete", result: "r".repeat(1000) },
    } as const;
    if (kind === "finished") await host.client.call("updateTask", change);
    ids[kind].push(taskId);
  }
}

const sharedIds: string[] = [];

/** Shares tasks that depend on the fifty before each of them; the first hundred are finished. */
async function shareTasks({ client }: TestHost): Promise<void> {
  const params = { agency: "shared" };
  await client.call("createAgency", { body: { id: params.agency } });
  for (let index = 0; index < 300; index++) {
    const dependencies = sharedIds.slice(Math.max(0, sharedIds.length - 50));
    const body = { title: `task ${index}`, description: "d".repeat(2000), dependencies };
    const { id } = await client.call("createTeamTask", { params, body });
    const change = { params: { ...params, task: id }, body: { status: "complete", result: "r".repeat(1000) } } as const;
    if (index < 100) await client.call("updateTeamTask", change);
    sharedIds.push(id);
  }
}

export const taskAgents: readonly LargeAgent[] = [
  {
    name: "sharer",
    async create(host) {
      await host.agent("sharer");
      await shareTasks(host);
    },
  },
  {
    name: "tasks",
    model: "scripted:patterns",
    async create(host) {
      await host.agent("tasks", { model: "scripted:patterns" });
      await createTasks(host, "tasks", "finished", 100);
      await createTasks(host, "tasks", "open", 200);
    },
  },
  {
    // Long messages, and sub-agents with long assignments.
    name: "talker",
    model: "scripted:patterns",
    async create(host) {
      const talker = await host.agent("talker", { model: "scripted:patterns" });
      const params = { agency: "global", agent: "talker" };
      const text = "words of a long assignment ".repeat(3500);
      for (let turn = 0; turn < 10; turn++) await (await talker.send(text)).outcome();
      for (let index = 0; index < 10; index++) {
        const { taskId } = await host.client.call("createTask", { params, body: { title: `child ${index}` } });
        const body = { taskId, description: text, context: text };
        await host.client.call("spawnSubagent", { params, body });
      }
    },
  },
];

const taskRequest = (
  what: string,
  method: ExpensiveRequest["method"],
  path: () => string,
  body?: () => unknown,
  statuses: readonly number[] = [200, 201],
): ExpensiveRequest => ({ kind: "tasks", what, statuses, agent: "tasks", method, path, ...(body ? { body } : {}) });

const talkerRequest = (what: string, path: string): ExpensiveRequest => ({
  kind: "talker",
  isPage: path !== "export",
  what,
  statuses: [200],
  agent: "talker",
  method: "GET",
  path,
});

const sharedRequest = (
  what: string,
  method: ExpensiveRequest["method"],
  below: () => string,
  body?: () => unknown,
  statuses: readonly number[] = [200, 201],
): ExpensiveRequest => ({
  kind: "shared tasks",
  what,
  statuses,
  agent: "sharer",
  method,
  path: () => `/agency/shared/tasks${below()}`,
  ...(body ? { body } : {}),
});

export const taskRequests: readonly ExpensiveRequest[] = [
  sharedRequest(
    "a shared task after fifty open ones",
    "POST",
    () => "",
    () => ({ title: "x", dependencies: sharedIds.slice(-50) }),
  ),
  sharedRequest(
    "a cycle through all shared tasks",
    "PATCH",
    () => `/${sharedIds[100]}`,
    () => ({ dependencies: sharedIds.slice(-1) }),
    [400],
  ),
  sharedRequest(
    "all shared tasks are blocked",
    "PATCH",
    () => `/${sharedIds[100]}`,
    () => ({ status: "blocked" }),
  ),
  sharedRequest(
    "a claim of a task that waits for others",
    "POST",
    () => `/${sharedIds[299]}/claim`,
    () => ({}),
    [409],
  ),
  sharedRequest("the open shared tasks", "GET", () => "?status=open&limit=500"),
  sharedRequest("all shared tasks", "GET", () => "?limit=500"),
  taskRequest(
    "a task after fifty open ones",
    "POST",
    () => "tasks",
    () => ({ title: "x", dependencies: ids.open.slice(-50) }),
  ),
  taskRequest(
    "a task after fifty finished ones",
    "POST",
    () => "tasks",
    () => ({ title: "x", dependencies: ids.finished.slice(-50) }),
  ),
  taskRequest(
    "a cycle through all open tasks",
    "PATCH",
    () => `tasks/${ids.open[0]}`,
    () => ({ dependencies: ids.open.slice(-1) }),
    [400],
  ),
  taskRequest(
    "all open tasks are blocked",
    "PATCH",
    () => `tasks/${ids.open[0]}`,
    () => ({ status: "blocked" }),
  ),
  taskRequest("the open tasks", "GET", () => "tasks?limit=500"),
  taskRequest("the finished tasks", "GET", () => "tasks?archived=1&limit=500"),
  taskRequest("an export with tasks", "GET", () => "export"),
  { ...taskRequest("a state with tasks", "GET", () => "state"), isPage: true },
  talkerRequest("an export of long messages", "export"),
  talkerRequest("long messages", "messages?limit=500"),
  talkerRequest("long events", "events?limit=1000"),
  talkerRequest("a state with long messages", "state"),
  talkerRequest("sub-agents with long assignments", "subagents"),
];
