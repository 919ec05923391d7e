import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { task, teamConfig } from "../kit/worker/team.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// What happens to sub-agents that are cut off, and what binds them.

let testbed: Testbed;

const lastStep = { text: "got {{ results.0 }}" };

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      ...teamConfig,
      turn: { ...teamConfig.turn, maxCrashes: 1 },
      subagents: { initialCheckSeconds: 1, checkIntervalSeconds: 1, maxRetained: 2 },
    },
    scripts: {
      default: [
        { when: "/^slow$/", steps: [{ call: task("take a while") }, lastStep] },
        { when: "/^limited$/", steps: [{ call: task("take long", { timeoutMs: 4000 }) }, lastStep] },
        { when: "/^write$/", steps: [{ call: task("write", { subagentType: "worker" }) }, lastStep] },
        { when: "/^inline$/", steps: [{ call: task("hello", { subagentType: "poet" }) }, lastStep] },
        { when: "/^other$/", steps: [{ call: task("hello", { subagentType: "worker" }) }, lastStep] },
        { when: "/^once$/", steps: [{ call: task("hello") }, lastStep] },
        { when: "/^doomed$/", steps: [{ call: task("take a while", { subagentType: "doomed" }) }, lastStep] },
      ],
      fast: [
        { when: "/^take a while$/", steps: [{ wait: 2500 }, { text: "done at last" }] },
        { when: "/^take long$/", steps: [{ wait: 60_000 }, { text: "late" }] },
        {
          when: "/^write$/",
          steps: [
            { call: { tool: "writeFile", input: { path: "secret/a.md", content: "x" } } },
            { text: "{{ results.0 }}" },
          ],
        },
        { steps: [{ text: "I heard: {{ message }}" }] },
      ],
      poet: [{ steps: [{ text: "A poem about {{ message }}" }] }],
    },
  });
  await testbed.api("/agency/global/blueprints", "POST", { name: "worker" });
});

afterAll(() => testbed?.stop());

const list = async (agent: string) => (await testbed.api(`/agents/${agent}/subagents`)).body.subagents;
const waitForChild = (agent: string) =>
  waitUntil("the sub-agent to work", async () => {
    const [subagent] = await list(agent);
    return subagent && (await testbed.api(`/agents/${agent}/subagents/${subagent.taskId}`)).body.step === 1
      ? subagent
      : undefined;
  });

test("a sub-agent that a stop of the host cut off goes on afterwards, and its parent gets the report", async () => {
  const agent = await testbed.newAgent({ name: "ada" });
  const { runId } = await agent.invoke({ message: "slow" });
  await waitForChild("ada");
  await testbed.stopHost();
  await testbed.startHost();
  expect((await agent.waitForEnd(runId, 30_000)).data).toMatchObject({ result: "got done at last" });
  expect((await agent.log()).filter(({ type }) => type === "subagent.completed")).toHaveLength(1);
});

test("one that cannot go on is marked as interrupted, and its parent hears it", async () => {
  const agent = await testbed.newAgent({ name: "bea" });
  const { runId } = await agent.invoke({ message: "slow" });
  await waitForChild("bea");
  // The parent waits, so only the sub-agent has been running during the crash.
  await testbed.restartMain();
  const { data } = await agent.waitForEnd(runId, 30_000);
  expect(data).toMatchObject({
    result: expect.stringContaining("The sub-agent was interrupted and could not be resumed"),
  });
  expect(await list("bea")).toMatchObject([{ status: "interrupted" }]);
  const { tasks } = (await testbed.api("/agents/bea/tasks")).body;
  expect(tasks.some(({ status }: { status: string }) => status === "failed")).toBe(true);
});

test("one whose blueprint is deleted goes on with it, and fails with the reason if it has to resume", async () => {
  for (const [name, expected] of [
    ["gil", "got done at last"],
    ["hans", "Unknown blueprint “doomed”"],
  ] as const) {
    await testbed.api("/agency/global/blueprints", "POST", { name: "doomed" });
    const agent = await testbed.newAgent({ name });
    const { runId } = await agent.invoke({ message: "doomed" });
    await waitForChild(name);
    expect((await testbed.api("/agency/global/blueprints/doomed", "DELETE")).status).toBe(204);
    if (name === "hans") {
      await testbed.stopHost();
      await testbed.startHost();
    }
    expect((await agent.waitForEnd(runId, 30_000)).data).toMatchObject({ result: expect.stringContaining(expected) });
    expect(await list(name)).toMatchObject([{ status: name === "hans" ? "failed" : "complete" }]);
  }
});

test("time counts across a stop of the host, but not while it is down", async () => {
  const agent = await testbed.newAgent({ name: "cid" });
  const { runId } = await agent.invoke({ message: "limited" });
  await waitForChild("cid");
  await testbed.stopHost();
  await testbed.startHost();
  expect((await agent.waitForEnd(runId, 30_000)).data).toMatchObject({
    result: expect.stringContaining("The sub-agent did not finish within 4 s."),
  });
});

test("a parent's rules that deny bind its sub-agents, whatever their blueprints say", async () => {
  const policy = [{ tool: "writeFile", match: "secret/**", action: "deny" }];
  const blueprint = await testbed.newBlueprint({ config: { policy } });
  const agent = await testbed.newAgent({ name: "dan", blueprint });
  const { data } = await agent.say("write");
  expect(data).toMatchObject({ result: expect.stringContaining("denies writeFile") });
  const free = await testbed.newAgent({ name: "eve" });
  expect((await free.say("write")).data).not.toMatchObject({ result: expect.stringContaining("denies") });
});

test("a blueprint can limit the types, and contain them", async () => {
  const subagents = [{ name: "poet", model: "scripted:poet" }];
  const blueprint = await testbed.newBlueprint({ config: { subagents } });
  const agent = await testbed.newAgent({ blueprint });
  expect((await agent.say("inline")).data).toMatchObject({ result: "got A poem about hello" });
  expect((await agent.say("other")).data).toMatchObject({
    result: expect.stringContaining("There is no sub-agent type “worker”. Available: poet."),
  });
  const bad = await testbed.api("/agency/global/blueprints", "POST", {
    name: "x",
    config: { subagents: [{ nmae: "y" }] },
  });
  expect(bad.status).toBe(400);
});

test("the oldest finished sub-agents are deleted, and their reports stay", async () => {
  const agent = await testbed.newAgent({ name: "fay" });
  for (let count = 0; count < 4; count++) await agent.say("once");
  await waitUntil(
    "two to be deleted",
    async () => (await agent.log()).filter(({ type }) => type === "subagent.deleted").length === 2,
  );
  const all = await list("fay");
  expect(all.map(({ result }: { result: string }) => result)).toEqual(Array(4).fill("I heard: hello"));
  const statuses = await Promise.all(
    all.map(
      async ({ facetName }: { facetName: string }) => (await testbed.api(`/agents/fay/sub/${facetName}/state`)).status,
    ),
  );
  expect(statuses).toEqual([200, 200, 404, 404]);
});
