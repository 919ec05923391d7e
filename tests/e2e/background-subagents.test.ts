import type { Message } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { teamConfig } from "../kit/worker/team.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// Sub-agents that work while their parent goes on: when it hears of their reports, and how it waits for them.

let testbed: Testbed;

const subtask = { call: { tool: "createSubtask", input: { type: "code", title: "Find the cause" } } };
const delegate = (description: string) => ({
  call: {
    tool: "delegateToSubagent",
    input: {
      taskId: "{{ results.createSubtask.taskId }}",
      title: "Find the cause",
      description,
      context: "It is urgent.",
    },
  },
});
const call = (tool: string, input: object = {}) => ({ call: { tool, input } });

beforeAll(async () => {
  testbed = await openTestbed({
    config: teamConfig,
    scripts: {
      default: [
        { when: "/^go on$/", steps: [subtask, delegate("look"), call("bell", { key: "wait" }), { text: "done" }] },
        { when: "/^leave$/", steps: [subtask, delegate("look"), { text: "left" }] },
        { when: "/^wait$/", steps: [subtask, delegate("look"), call("waitForSubagents"), { text: "{{ results.2 }}" }] },
        { when: "/^nothing$/", steps: [call("waitForSubagents"), { text: "{{ results.0 }}" }] },
        {
          when: "/^poll$/",
          steps: [
            subtask,
            delegate("take long"),
            ...Array.from({ length: 6 }, () =>
              call("checkSubagentStatus", { taskId: "{{ results.createSubtask.taskId }}" }),
            ),
            { text: "{{ results.7 }}" },
          ],
        },
        {
          when: "/^twice$/",
          steps: [
            subtask,
            delegate("look"),
            call("waitForSubagents"),
            delegate("look again"),
            { text: "{{ results.3 }}" },
          ],
        },
        {
          when: "/^below$/",
          steps: [call("task", { description: "leave it to another" }), { text: "{{ results.0 }}" }],
        },
        {
          when: "/^below for a while$/",
          steps: [
            call("task", { description: "leave it to one who takes long", timeoutMs: 4000 }),
            { text: "{{ results.0 }}" },
          ],
        },
        { steps: [{ text: "I heard: {{ message }}" }] },
      ],
      fast: [
        { when: "/^leave it to another$/", steps: [subtask, delegate("ring"), { text: "I left it." }] },
        { when: "/^leave it to one who/", steps: [subtask, delegate("take long"), { text: "I left it." }] },
        { when: "ring", steps: [call("ring_again", { bell: "BELL", id: "below" }), { text: "Rang." }] },
        { when: "take long", steps: [{ wait: 60_000 }, { text: "late" }] },
        { steps: [{ text: "Found it in {{ message }}" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

async function say(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect([message, type, JSON.stringify(data)]).toEqual([message, "agent.completed", expect.any(String)]);
  return (data as { result: string }).result;
}

const list = async (agent: string) => (await testbed.api(`/agents/${agent}/subagents`)).body.subagents;
const waitForEnd = (agent: string) =>
  waitUntil("the sub-agent to finish", async () => {
    const [subagent] = await list(agent);
    return subagent && subagent.status !== "running" && subagent.status !== "waiting" ? subagent : undefined;
  });

test("a turn that ends leaves its sub-agents working, and the next one gets the report once", async () => {
  const agent = await testbed.newAgent({ name: "ada" });
  expect(await say(agent, "leave")).toBe("left");
  const subagent = await waitForEnd("ada");
  expect(subagent).toMatchObject({ status: "complete", wait: false });
  // The assignment is the first message, verbatim.
  const { messages } = (await testbed.api(`/agents/ada/sub/${subagent.facetName}/messages`)).body;
  expect(messages[0]).toMatchObject({
    role: "user",
    content: "Find the cause\n\nlook\n\nIt is urgent.",
    facetName: subagent.facetName,
    parentMessageId: subagent.messageId,
  });
  // So is the context of the request that made the parent delegate.
  const { state } = (await testbed.api(`/agents/ada/sub/${subagent.facetName}/state`)).body;
  expect(state.thread.request).toMatchObject({ userAgent: "node" });
  expect(await say(agent, "and now?")).toBe("I heard: and now?");
  expect(await say(agent, "again")).toBe("I heard: again");
  const delivered = (await agent.log()).filter(({ type }) => type === "subagent.delivered");
  expect(delivered).toHaveLength(1);
  expect(delivered[0]?.data).toMatchObject({
    taskIds: [subagent.taskId],
    content: expect.stringMatching(
      /^<subagent_report task="task-\w+" type="think" status="complete">\nFound it in Find/,
    ),
  });
  const rows = (await testbed.api("/agents/ada/messages")).body.messages as Message[];
  expect(rows.filter(({ notice }) => notice)).toMatchObject([{ content: expect.stringMatching(/^<subagent_report/) }]);
});

test("the task of a sub-agent shows who works on it, and its result", async () => {
  const agent = await testbed.newAgent({ name: "bea" });
  await say(agent, "leave");
  const { taskId, facetName } = await waitForEnd("bea");
  const { tasks } = (await testbed.api("/agents/bea/tasks")).body;
  expect(tasks.find(({ id }: { id: string }) => id === taskId)).toMatchObject({
    status: "complete",
    assignedTo: facetName,
    result: expect.stringContaining("Found it"),
  });
  // The message that delegated names the task.
  const { messages } = (await testbed.api("/agents/bea/messages")).body;
  expect(messages.flatMap(({ delegatedTaskIds = [] }) => delegatedTaskIds)).toEqual([taskId]);
});

test("an agent can wait for them, without holding a turn", async () => {
  const agent = await testbed.newAgent({ name: "cid" });
  const result = JSON.parse(await say(agent, "wait"));
  expect(result.subagents).toMatchObject([{ status: "complete", result: expect.stringContaining("Found it") }]);
  const events = await agent.log();
  expect(events.filter(({ type }) => type === "run.paused").map(({ data }) => data)).toMatchObject([
    { reason: "subagent" },
  ]);
  expect(JSON.parse(await say(agent, "nothing"))).toEqual({ subagents: [] });
});

test("asking again and again is not a loop, and a status says what it does", async () => {
  const agent = await testbed.newAgent({ name: "dan" });
  expect(JSON.parse(await say(agent, "poll"))).toMatchObject({ status: "running", lookAgainInSeconds: 30 });
  const [{ taskId }] = await list("dan");
  await waitUntil("its first step", async () => (await testbed.api(`/agents/dan/subagents/${taskId}`)).body.step === 1);
  expect((await testbed.api("/agents/dan/messages", "DELETE")).status).toBe(409);
  expect((await testbed.api(`/agents/dan/subagents/${taskId}`, "DELETE")).status).toBe(204);
  expect((await testbed.api(`/agents/dan/subagents/${taskId}`, "DELETE")).status).toBe(204);
  expect((await testbed.api(`/agents/dan/subagents/${taskId}`)).body).toMatchObject({ status: "cancelled" });
  expect((await testbed.api("/agents/dan/messages", "DELETE")).status).toBe(204);
  expect(await list("dan")).toEqual([]);
});

const below = async (agent: string) => {
  const [child] = await list(agent);
  return child ? (await testbed.api(`/agents/${agent}/sub/${child.facetName}/subagents`)).body.subagents : [];
};

test("a sub-agent reports when those that it left working have finished, and adds their reports", async () => {
  const rings: (() => void)[] = [];
  testbed.bell.onRing = () => new Promise<void>((resolve) => void rings.push(resolve));
  const agent = await testbed.newAgent({ name: "gus" });
  const { runId } = await agent.invoke({ message: "below" });
  await waitUntil("the ring", () => rings[0]);
  const [{ facetName, taskId }] = await list("gus");
  const childRun = async () => (await testbed.api(`/agents/gus/sub/${facetName}/state`)).body.run.status;
  await waitUntil("the end of its own turn", async () => (await childRun()) === "completed");
  expect((await testbed.api(`/agents/gus/subagents/${taskId}`)).body).toMatchObject({ status: "waiting" });
  await testbed.restartMain();
  (await waitUntil("the ring after the kill", () => rings[1]))();
  expect((await agent.waitForEnd(runId, 30_000)).data).toMatchObject({
    result: expect.stringMatching(/^I left it\.\n\n<subagent_report task="task-\w+" .* status="complete">\nRang\./),
  });
  expect((await agent.log()).filter(({ type }) => type === "subagent.completed")).toHaveLength(1);
  testbed.bell.onRing = () => {};
});

test("its time limit, a cancel and a stop end those that it left working", async () => {
  const agent = await testbed.newAgent({ name: "hal" });
  expect(await say(agent, "below for a while")).toMatch(/^I left it\.\n\n<subagent_report .* status="cancelled">/);
  for (const end of ["cancel", "stop"]) {
    const other = await testbed.newAgent({ name: end });
    testbed.bell.onRing = () => new Promise<void>(() => {});
    const { runId } = await other.invoke({ message: "below" });
    await waitUntil("one that works", async () => (await below(end))[0]?.status === "running");
    const [{ facetName }] = await list(end);
    const at = `/agents/${end}/sub/${facetName}`;
    await waitUntil("its own end", async () => (await testbed.api(`${at}/state`)).body.run.status === "completed");
    await testbed.api(`/agents/${end}/${end}`, "POST", {});
    await other.waitForEnd(runId);
    await waitUntil("all to be cancelled", async () => (await below(end))[0]?.status === "cancelled");
    expect((await list(end))[0]).toMatchObject({ status: "cancelled" });
  }
  testbed.bell.onRing = () => {};
});

test("stopping an agent cancels what works for it in the background, and it delegates nothing until it starts", async () => {
  const agent = await testbed.newAgent({ name: "ida" });
  testbed.bell.onRing = () => new Promise<void>(() => {});
  const { body: first } = await testbed.api("/agents/ida/tasks", "POST", { title: "ring" });
  const { body: second } = await testbed.api("/agents/ida/tasks", "POST", { title: "ring again" });
  const spawn = (taskId: string) => testbed.api("/agents/ida/subagents/spawn", "POST", { taskId });
  expect((await spawn(first.id)).status).toBe(200);
  await testbed.api("/agents/ida/stop", "POST");
  await waitUntil("it to be cancelled", async () => (await list("ida"))[0].status === "cancelled");
  await agent.waitForEvent("its end", ({ type }) => type === "subagent.closed");
  const refused = await spawn(second.id);
  expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining("is stopped")]);
  await testbed.api("/agents/ida/start", "POST");
  // The model hears of it.
  await say(agent, "hello");
  expect((await agent.log()).filter(({ type }) => type === "subagent.delivered")).toHaveLength(1);
  testbed.bell.onRing = () => {};
});

test("a finished task is not delegated again", async () => {
  const agent = await testbed.newAgent({ name: "eve" });
  expect(await say(agent, "twice")).toMatch(
    /^delegateToSubagent failed: Task “task-\w+” is complete; create a new one/,
  );
});

test("a person can delegate tasks too", async () => {
  await testbed.newAgent({ name: "fay" });
  const post = (path: string, body: object) => testbed.api(`/agents/fay/${path}`, "POST", body);
  const { body: first } = await post("tasks", { title: "First" });
  const { body: second } = await post("tasks", { title: "Second", dependencies: [first.id] });
  expect((await post("subagents/spawn", { taskId: "task-none" })).status).toBe(404);
  const blocked = await post("subagents/spawn", { taskId: second.id });
  expect([blocked.status, blocked.body.error.message]).toEqual([409, expect.stringContaining("waits for")]);
  const spawned = await post("subagents/spawn", { taskId: first.id });
  expect(spawned).toMatchObject({
    status: 200,
    body: { taskId: first.id, facetName: `subagent-${first.id}`, status: "running" },
  });
  expect(await waitForEnd("fay")).toMatchObject({ status: "complete", result: "Found it in First" });
  expect((await post("subagents/spawn", { taskId: first.id })).status).toBe(409);
  expect((await post("subagents/spawn", { taskId: second.id })).status).toBe(200);
});
