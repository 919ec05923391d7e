import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { task, teamConfig } from "../kit/worker/team.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// Delegation with `task`: the parent waits, and the report is the result of its call.

let testbed: Testbed;

const lastStep = { text: "got {{ results.0 }}" };

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      ...teamConfig,
      subagents: { maxActive: 4, maxSteps: 5, maxPerTurn: 20 },
    },
    scripts: {
      default: [
        { when: "/^one$/", steps: [{ call: task("say hello") }, lastStep] },
        {
          when: "/^three$/",
          steps: [
            { calls: [task("a"), task("b"), task("c")] },
            { text: "{{ results.0 }}, {{ results.1 }}, {{ results.2 }}" },
          ],
        },
        { when: "/^typed$/", steps: [{ call: task("hello", { subagentType: "tester" }) }, lastStep] },
        { when: "/^unknown$/", steps: [{ call: task("hello", { subagentType: "nobody" }) }, lastStep] },
        { when: "/^broken$/", steps: [{ call: task("break") }, lastStep] },
        { when: "/^deep$/", steps: [{ call: task("level 1") }, lastStep] },
        { when: "/^write$/", steps: [{ call: task("write it") }, lastStep] },
        { when: "/^slow$/", steps: [{ call: task("take long", { timeoutMs: 1500 }) }, lastStep] },
        { when: "/^forever$/", steps: [{ call: task("delegate forever") }, lastStep] },
        { when: "/^steps$/", steps: [{ call: task("loop") }, lastStep] },
        {
          when: "/^many$/",
          steps: [{ calls: Array.from({ length: 25 }, (_, index) => task(`number ${index}`)) }, { text: "done" }],
        },
      ],
      fast: [
        { when: "/^break$/", steps: [{ fail: { status: 400 } }] },
        { when: "/^level 1$/", steps: [{ call: task("level 2") }, lastStep] },
        { when: "/^level 2$/", steps: [{ call: task("level 3") }, lastStep] },
        { when: "/^level 3$/", steps: [{ call: task("level 4") }, lastStep] },
        {
          when: "/^write it$/",
          steps: [{ call: { tool: "writeFile", input: { path: "a.md", content: "x\n" } } }, lastStep],
        },
        { when: "/^take long$/", steps: [{ wait: 60_000 }, { text: "late" }] },
        { when: "/^delegate forever$/", steps: [{ call: task("take forever") }, lastStep] },
        { when: "/^take forever$/", steps: [{ wait: 60_000 }, { text: "late" }] },
        {
          when: "/^loop$/",
          steps: [1, 2, 3, 4, 5, 6, 7].map((n) => ({ call: { tool: "readFile", input: { path: `${n}` } } })),
        },
        { steps: [{ text: "I heard: {{ message }}" }] },
      ],
      typed: [{ steps: [{ text: "typed: {{ message }}" }] }],
    },
  });
  await testbed.api("/agency/global/blueprints", "POST", { name: "tester", model: "scripted:typed" });
});

afterAll(() => testbed?.stop());

async function say(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect([message, type, JSON.stringify(data)]).toEqual([message, "agent.completed", expect.any(String)]);
  return (data as { result: string }).result;
}

const list = async (agent: string) => (await testbed.api(`/agents/${agent}/subagents`)).body.subagents;

test("the report of a sub-agent is the result of the call, and its turn paused meanwhile", async () => {
  const agent = await testbed.newAgent({ name: "ada" });
  expect(await say(agent, "one")).toBe("got I heard: say hello");
  const events = await agent.log();
  expect(events.find(({ type }) => type === "run.paused")?.data).toMatchObject({ reason: "subagent" });
  const [spawned] = events.filter(({ type }) => type === "subagent.spawned");
  expect(events.filter(({ type }) => type === "subagent.completed")).toHaveLength(1);
  const [subagent] = await list("ada");
  expect(subagent).toMatchObject({ status: "complete", result: "I heard: say hello", agentType: "think", wait: true });
  expect(spawned?.data).toMatchObject({ taskId: subagent.taskId, childThreadId: `global~ada/${subagent.facetName}` });
  // The state of both says who works for whom.
  const { subagents } = await agent.state();
  expect(subagents).toMatchObject([
    {
      childThreadId: subagent.childThreadId,
      status: "completed",
      outcome: "complete",
      report: "I heard: say hello",
      toolCallId: subagent.callId,
    },
  ]);
  const child = await testbed.agentAt(`/agents/ada/sub/${subagent.facetName}`, subagent.facetName).state();
  expect(child.parent).toEqual({ threadId: "global~ada", token: subagents[0].token });
});

test("several work at the same time, each with its own result", async () => {
  const agent = await testbed.newAgent();
  expect(await say(agent, "three")).toBe("I heard: a, I heard: b, I heard: c");
});

test("a type selects the blueprint; an unknown one is refused with those there are", async () => {
  const agent = await testbed.newAgent();
  expect(await say(agent, "typed")).toBe("got typed: hello");
  expect(await say(agent, "unknown")).toContain("There is no sub-agent type “nobody”. Available: ");
});

test("the failure of a sub-agent is the result of the call", async () => {
  const agent = await testbed.newAgent({ name: "bea" });
  expect(await say(agent, "broken")).toContain("The sub-agent failed: ");
  expect((await list("bea"))[0]).toMatchObject({ status: "failed" });
  expect(await say(agent, "steps")).toContain("did not finish within 5 steps");
  expect(await say(agent, "slow")).toContain("The sub-agent did not finish within 1.5 s.");
});

test("sub-agents nest three levels deep", async () => {
  const agent = await testbed.newAgent({ name: "cid" });
  expect(await say(agent, "deep")).toContain("There is no tool “task”");
});

test("what a sub-agent does is in its parent's action log, with its address", async () => {
  const agent = await testbed.newAgent({ name: "dan" });
  await say(agent, "write");
  const [{ childThreadId }] = await list("dan");
  const { actions } = (await testbed.api("/agents/dan/actions?tool=writeFile")).body;
  expect(actions).toEqual([expect.objectContaining({ agent: childThreadId, success: true })]);
  expect((await testbed.api("/agents/dan/files/a.md")).body).toBe("x\n");
});

test("a cancel reaches every descendant", async () => {
  const agent = await testbed.newAgent({ name: "eve" });
  const { runId } = await agent.invoke({ message: "forever" });
  const [child] = await waitUntil("the sub-agent", async () =>
    (await list("eve")).length > 0 ? list("eve") : undefined,
  );
  const below = `/agents/eve/sub/${child.facetName}`;
  const [grandchild] = await waitUntil("one below it", async () => {
    const { subagents } = (await testbed.api(`${below}/subagents`)).body;
    return subagents.length > 0 ? subagents : undefined;
  });
  await testbed.api("/agents/eve/cancel", "POST", { runId });
  for (const path of [below, `${below}/sub/${grandchild.facetName}`]) {
    await waitUntil(
      `${path} to be canceled`,
      async () => (await testbed.api(`${path}/state`)).body.run.status === "canceled",
    );
  }
  await waitUntil("the log to say so", async () => (await agent.log()).some(({ type }) => type === "subagent.closed"));
  expect((await list("eve"))[0]).toMatchObject({ status: "cancelled" });
});

test("of 25 delegations in one answer, 20 are done a few at a time and the rest is refused", async () => {
  const agent = await testbed.newAgent({ name: "fay" });
  await say(agent, "many");
  const events = await agent.log();
  expect(events.filter(({ type }) => type === "subagent.completed")).toHaveLength(20);
  const refused = events.filter(
    ({ type, data }) => type === "tool.error" && JSON.stringify(data).includes("at most 20"),
  );
  expect(refused).toHaveLength(5);
  let active = 0;
  let highest = 0;
  for (const { type, data } of events) {
    if ((type === "subagent.spawned" && !data.queued) || type === "subagent.started") active++;
    if (type === "subagent.completed") active--;
    highest = Math.max(highest, active);
  }
  expect(highest).toBe(4);
});
