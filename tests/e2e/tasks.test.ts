import type { AgentEvent, Task } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

let testbed: Testbed;
let server: ModelServer;

const create = (title: string, fields: object = {}) => ({ tool: "createSubtask", input: { title, ...fields } });
const latest = "{{ results.createSubtask.taskId }}";

beforeAll(async () => {
  server = await openModelServer();
  testbed = await openTestbed({
    config: {
      providers: { local: { baseUrl: `${server.url}/v1` } },
      turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
    },
    scripts: {
      planner: [
        {
          when: "plan it",
          steps: [
            { call: create("Read the code", { type: "explore", description: "All of it." }) },
            { call: create("Fix it", { type: "fix", dependencies: ["{{ results.0.taskId }}"] }) },
            { call: { tool: "completeTask", input: { taskId: "{{ results.0.taskId }}", result: "Read." } } },
            {
              call: {
                tool: "completeTask",
                input: { taskId: "{{ results.1.taskId }}", status: "failed", error: "No." },
              },
            },
            { call: { tool: "listTasks", input: {} } },
            { text: "{{ results.listTasks }}" },
          ],
        },
        {
          when: "too much",
          steps: [
            { calls: Array.from({ length: 11 }, (_, index) => create(`Step ${index + 1}`)) },
            { text: "{{ results.10 }}" },
          ],
        },
        {
          when: "bad calls",
          steps: [
            { call: create("Lost", { parentId: "nowhere" }) },
            { call: create("Waits", { dependencies: ["nothing"] }) },
            { call: create("Odd", { type: "dance" }) },
            { call: { tool: "completeTask", input: { taskId: "task-none" } } },
            { call: create("One") },
            { call: create("Two", { parentId: latest }) },
            { call: create("Three", { parentId: latest }) },
            { text: "{{ results.0 }} / {{ results.1 }} / {{ results.2 }} / {{ results.3 }} / {{ results.6 }}" },
          ],
        },
        {
          when: "look again",
          steps: [...Array.from({ length: 6 }, () => ({ call: { tool: "listTasks", input: {} } })), { text: "Done." }],
        },
        {
          when: "slowly",
          steps: [
            { call: create("First") },
            { call: { tool: "ring_again", input: { bell: "BELL", id: "tasks", ms: 1_500 } } },
            { call: create("Second", { dependencies: ["{{ results.0.taskId }}"] }) },
            { text: "Done." },
          ],
        },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
});

afterAll(async () => {
  await testbed?.stop();
  await server?.stop();
});

async function listTasks(agent: TestAgent, query = "") {
  return (await testbed.api(`${agent.at}/tasks${query}`)).body as { tasks: Task[]; progress: object; next?: string };
}

const post = (agent: TestAgent, body: object) => testbed.api(`${agent.at}/tasks`, "POST", body);
const patch = (agent: TestAgent, id: string, body: object) => testbed.api(`${agent.at}/tasks/${id}`, "PATCH", body);
const textOf = (end: AgentEvent) => (end.type === "agent.completed" ? end.data.result : JSON.stringify(end));

test("every message is a root task, and its turn writes nothing for it", async () => {
  const agent = await testbed.newAgent({ model: "scripted:planner" });
  const { runId } = await agent.invoke({ message: "hello\nthere" });
  await agent.waitForEnd(runId);
  const { tasks, progress } = await listTasks(agent);
  expect(tasks).toEqual([
    {
      id: runId,
      type: "code",
      title: "hello",
      status: "complete",
      dependencies: [],
      result: "You said: hello\nthere",
      createdAt: expect.any(Number),
      startedAt: expect.any(Number),
      completedAt: expect.any(Number),
      metadata: { message: true },
    },
  ]);
  expect(progress).toMatchObject({ total: 1, complete: 1, percentComplete: 100 });
  expect((await agent.log()).filter(({ type }) => type.startsWith("task."))).toEqual([]);
  expect((await agent.messages()).map(({ taskId }) => taskId)).toEqual([runId, runId]);
});

test("a model plans with tasks, and readers see the tree", async () => {
  const agent = await testbed.newAgent({ model: "scripted:planner" });
  const { runId } = await agent.invoke({ message: "plan it" });
  const listed = JSON.parse(textOf(await agent.waitForEnd(runId)));
  expect(listed.tasks).toEqual([
    {
      taskId: runId,
      type: "code",
      title: "plan it",
      status: "in_progress",
      subtasks: [
        expect.objectContaining({ type: "explore", title: "Read the code", status: "complete", result: "Read." }),
        expect.objectContaining({ type: "fix", title: "Fix it", status: "failed", error: "No." }),
      ],
    },
  ]);
  expect(listed.progress).toMatchObject({ total: 3, inProgress: 1, complete: 1, failed: 1 });
  const { tasks } = await listTasks(agent);
  expect(tasks.map(({ parentId, status }) => [parentId, status])).toEqual([
    [undefined, "complete"],
    [runId, "complete"],
    [runId, "failed"],
  ]);
  expect(tasks[2]?.dependencies).toEqual([tasks[1]?.id]);
  const log = await agent.log();
  expect(log.filter(({ type }) => type.startsWith("task.")).map(({ type }) => type)).toEqual([
    "task.created",
    "task.created",
    "task.updated",
    "task.updated",
  ]);
});

test("the tools for existing tasks are offered once there are some, in the same turn and in the next", async () => {
  const call = { id: "c1", name: "createSubtask", input: { title: "Step" } };
  const answers = [{ text: "Hi." }, { toolCalls: [call] }, { text: "Planned." }, { text: "Still." }, { text: "Over." }];
  server.answer(answers);
  const agent = await testbed.newAgent({ model: "local:test-model" });
  const other = await testbed.newAgent({ model: "local:test-model" });
  for (const message of ["hello", "plan", "go on"]) await agent.say(message);
  await other.say("hello");
  const offered = server
    .listRequests()
    .map(({ raw }) =>
      ["createSubtask", "listTasks", "completeTask"].filter((name) => raw.includes(`"name":"${name}","des`)),
    );
  const all = ["createSubtask", "listTasks", "completeTask"];
  expect(offered).toEqual([["createSubtask"], ["createSubtask"], all, all, ["createSubtask"]]);
  expect((await agent.state()).tasks).toMatchObject([{ title: "plan" }, { title: "Step" }]);
  expect(await other.state()).not.toHaveProperty("tasks");
});

test("an eleventh subtask, a fourth level and nonsense are refused with a clear result", async () => {
  const wide = await testbed.newAgent({ model: "scripted:planner" });
  const { runId } = await wide.invoke({ message: "too much" });
  expect(textOf(await wide.waitForEnd(runId))).toContain(`“${runId}” already has 10 subtasks.`);
  expect((await listTasks(wide)).tasks).toHaveLength(11);

  const agent = await testbed.newAgent({ model: "scripted:planner" });
  const [parent, dependency, type, missing, depth] = textOf(await agent.say("bad calls")).split(" / ");
  expect(parent).toContain("There is no task “nowhere” to be the parent.");
  expect(dependency).toContain("There is no task “nothing” to depend on.");
  expect(type).toMatch(/type.*explore/s);
  expect(missing).toContain("There is no task “task-none”.");
  expect(depth).toMatch(/Tasks can be nested 3 levels deep; “task-\w{8}” is already on the third\./);
});

test("a model that looks at its tasks again and again is not stuck", async () => {
  const agent = await testbed.newAgent({ model: "scripted:planner" });
  expect(textOf(await agent.say("look again"))).toBe("Done.");
});

test("tasks are created and changed over HTTP", async () => {
  const agent = await testbed.newAgent({ model: "scripted:planner" });
  const first = await post(agent, { title: " First " });
  expect(first.status).toBe(201);
  expect(first.body).toEqual({
    id: first.body.taskId,
    taskId: expect.stringMatching(/^task-[0-9a-z]{8}$/),
    type: "code",
    title: "First",
    status: "pending",
    dependencies: [],
    createdAt: expect.any(Number),
  });
  const { body: second } = await post(agent, { title: "Second", type: "test", dependencies: [first.body.id] });
  const { body: below } = await post(agent, { title: "Below", parentId: second.id, description: "More." });
  expect(below).toMatchObject({ parentId: second.id, description: "More." });
  expect(await patch(agent, second.id, { status: "in_progress" })).toMatchObject({
    status: 409,
    body: { error: { message: `Task “${second.id}” waits for ${first.body.id}.` } },
  });
  expect((await patch(agent, first.body.id, { status: "cancelled" })).body.status).toBe("cancelled");
  expect((await listTasks(agent)).tasks.find(({ id }) => id === second.id)?.status).toBe("blocked");
  expect((await patch(agent, second.id, { dependencies: [] })).body.status).toBe("pending");
  expect((await patch(agent, second.id, { status: "in_progress" })).body).toHaveProperty("startedAt");
  expect((await patch(agent, second.id, { status: "complete", result: "ok" })).body).toMatchObject({
    status: "complete",
    result: "ok",
  });
  expect((await listTasks(agent)).progress).toEqual({
    total: 3,
    pending: 1,
    inProgress: 0,
    blocked: 0,
    complete: 1,
    failed: 0,
    cancelled: 1,
    percentComplete: 33,
  });
  const exported = (await testbed.api(`${agent.at}/export`)).body;
  expect(exported.tasks.map(({ title }: Task) => title)).toEqual(["First", "Second", "Below"]);
  expect((await testbed.api(`${agent.at}/messages`, "DELETE")).status).toBe(204);
  expect((await listTasks(agent)).tasks).toEqual([]);
});

test.each<[string, number, object, RegExp]>([
  ["no title", 400, {}, /title/],
  ["an empty title", 400, { title: "  " }, /title/],
  ["an unknown type", 400, { title: "x", type: "dance" }, /type/],
  ["an unknown field", 400, { title: "x", owner: "me" }, /owner/],
  ["a missing parent", 400, { title: "x", parentId: "nowhere" }, /There is no task “nowhere” to be the parent/],
  ["a missing dependency", 400, { title: "x", dependencies: ["no"] }, /There is no task “no” to depend on/],
  ["a long title", 400, { title: "x".repeat(201) }, /title/],
  ["a huge description", 400, { title: "x", description: "x".repeat(20_001) }, /description/],
  ["dependencies that are no list", 400, { title: "x", dependencies: "no" }, /dependencies/],
])("creating a task with %s is refused", async (_, status, body, message) => {
  const agent = await testbed.newAgent({ model: "scripted:planner" });
  const response = await post(agent, body);
  expect([response.status, response.body.error.message]).toEqual([status, expect.stringMatching(message)]);
});

test("changing a task in a way that makes no sense is refused", async () => {
  const agent = await testbed.newAgent({ model: "scripted:planner" });
  const { body: a } = await post(agent, { title: "a" });
  const { body: b } = await post(agent, { title: "b", dependencies: [a.id] });
  const { runId } = await agent.invoke({ message: "hello" });
  await agent.waitForEnd(runId);
  for (const [id, body, status, message] of [
    [a.id, {}, 400, /give status, result, error or dependencies/],
    [a.id, { status: "done" }, 400, /status/],
    [a.id, { title: "new" }, 400, /title/],
    [a.id, { dependencies: [a.id] }, 400, /would be a cycle/],
    [a.id, { dependencies: [b.id] }, 400, /would be a cycle/],
    [a.id, { dependencies: [runId] }, 400, /is the message of a turn; a task cannot depend on it/],
    ["task-none", { status: "complete" }, 404, /There is no task “task-none”/],
    [encodeURIComponent("../../état"), { status: "complete" }, 404, /There is no task/],
    ["x".repeat(201), { status: "complete" }, 400, /task/],
    [runId, { status: "cancelled" }, 409, /is the message of a turn; cancel the turn instead/],
  ] as const) {
    const response = await patch(agent, id, body);
    expect([id, response.status, response.body.error.message]).toEqual([id, status, expect.stringMatching(message)]);
  }
  await patch(agent, a.id, { status: "complete" });
  expect((await patch(agent, a.id, { status: "failed" })).body.error.message).toBe(
    `Task “${a.id}” is already complete.`,
  );
});

test("a turn that is killed between its tasks creates each of them once", async () => {
  const agent = await testbed.newAgent({ model: "scripted:planner" });
  const { runId } = await agent.invoke({ message: "slowly" });
  await agent.waitForEvent("the first task", ({ type }) => type === "task.created");
  await waitUntil("the bell", () => testbed.bell.rings.length > 0);
  await testbed.restartMain();
  await agent.waitForEnd(runId, 30_000);
  const { tasks } = await listTasks(agent);
  expect(tasks.map(({ title, status }) => [title, status])).toEqual([
    ["slowly", "complete"],
    ["First", "pending"],
    ["Second", "pending"],
  ]);
  expect(tasks[2]?.dependencies).toEqual([tasks[1]?.id]);
}, 60_000);

test("the command line shows the tree, adds tasks and ends them", async () => {
  const host = testbed.host();
  const agent = await testbed.newAgent({ name: "cli" });
  await testbed.newAgent({ name: "idle" });
  const run = (...args: string[]) => host.runCli(["task", ...args]);
  expect((await run("ls", "cli")).stdout).toMatch(/^cli has no tasks\./);
  const { stdout } = await run("add", "cli", "Fix it", "--type", "fix", "--json");
  const { id } = JSON.parse(stdout);
  const added = JSON.parse((await run("add", "cli", "Test it", "--parent", id, "--after", id, "--json")).stdout);
  expect(added).toMatchObject({ error: { message: expect.stringMatching(/would be a cycle/) } });
  const below = JSON.parse((await run("add", "cli", "Test it", "--parent", id, "--json")).stdout);
  expect((await run("ls", "cli")).stdout).toBe(
    `○ Fix it  ${id} · fix · pending\n└─ ○ Test it  ${below.id} · code · pending\n\n0 of 2 complete, 2 pending\n`,
  );
  expect((await run("done", "cli", below.id, "--result", "Green.")).stdout).toBe(`${below.id} is complete.\n`);
  const typo = await run("fail", "cli", `${id.slice(0, -1)}_`);
  expect([typo.code, typo.stderr]).toEqual([1, expect.stringContaining(`Did you mean ${id}?`)]);
  const listed = JSON.parse((await run("ls", "cli", "--json")).stdout);
  expect(listed).toMatchObject({ tasks: [{ id }, { id: below.id, result: "Green." }], progress: { complete: 1 } });
  const everyone = (await run("ls")).stdout;
  expect(everyone).toContain(`cli\n○ Fix it`);
  expect(everyone).not.toContain("idle");
  expect((await run("cancel", "cli", id)).stdout).toBe(`${id} is cancelled.\n`);
  expect((await listTasks(agent)).tasks.map(({ status }) => status)).toEqual(["cancelled", "complete"]);
  expect((await run("add", "cli", "x", "--type", "dance")).code).toBe(2);
});

test("the client lists, creates and changes tasks", async () => {
  await testbed.newAgent({ name: "client" });
  const agent = testbed.host().client.agent("client");
  const { id } = await agent.createTask("Fix it");
  expect(await agent.updateTask(id, { status: "complete" })).toMatchObject({ status: "complete" });
  expect((await agent.tasks()).tasks).toMatchObject([{ id, title: "Fix it" }]);
  expect((await agent.tasks({ archived: "1" })).tasks).toEqual([]);
  await expect(agent.updateTask(id, { status: "failed" })).rejects.toMatchObject({ code: "conflict" });
});
