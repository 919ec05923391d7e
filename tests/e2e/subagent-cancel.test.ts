import type { AgentEvent, Subagent } from "@thinkery/sdk";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runCli } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { task, teamConfig } from "../kit/worker/team.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// Cancelling a sub-agent ends its work, whatever is left of it: its turn, a merge, those it left working, or a queue.

let testbed: Testbed;

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const result = { text: "{{ results.0 }}" };
const delegate = [
  call("createSubtask", { title: "ring" }),
  call("delegateToSubagent", { taskId: "{{ results.createSubtask.taskId }}" }),
];
const hangingCheck = "while true; do sleep 1; done";

beforeAll(async () => {
  testbed = await openTestbed({
    config: { ...teamConfig, sandboxSlots: 2, subagents: { maxActive: 2 } },
    scripts: {
      default: [
        { when: "/^leave$/", steps: [{ call: task("leave") }, result] },
        { when: "/^nest$/", steps: [{ call: task("nest") }, result] },
        { when: "/^check$/", steps: [{ call: task("write", { check: hangingCheck }) }, result] },
        { when: "/^fork$/", steps: [{ call: task("write and ring", { workspace: "fork" }) }, result] },
        {
          when: "/^three$/",
          steps: [{ calls: [task("ring"), task("ring"), task("third")] }, { text: "{{ results.2 }}" }],
        },
        { steps: [{ text: "I heard {{ message }}" }] },
      ],
      fast: [
        { when: "/^leave$/", steps: [...delegate, { text: "I left it." }] },
        { when: "/^nest$/", steps: [{ call: task("leave") }, result] },
        { when: "/^write$/", steps: [call("writeFile", { path: "a.txt", content: "A\n" }), { text: "Written." }] },
        {
          when: "/^write and ring$/",
          steps: [
            call("writeFile", { path: "a.txt", content: "A\n" }),
            call("ring_again", { bell: "BELL", id: "forked" }),
            { text: "Written." },
          ],
        },
        { when: "ring", steps: [call("ring_again", { bell: "BELL", id: "below" }), { text: "Rang." }] },
        { steps: [{ text: "I heard {{ message }}" }] },
      ],
    },
  });
  testbed.bell.onRing = () => new Promise<void>(() => {});
});

beforeEach(() => {
  testbed.bell.rings.length = 0;
});

afterAll(() => testbed?.stop());

const list = async (at: string): Promise<Subagent[]> => (await testbed.api(`${at}/subagents`)).body.subagents;
const findFirst = (at: string) => waitUntil(`a sub-agent of ${at}`, async () => (await list(at))[0]);
const cancel = (at: string, body: object = {}) => testbed.api(`${at}/cancel`, "POST", body);
const getResult = ({ type, data }: AgentEvent) => {
  expect(type).toBe("agent.completed");
  return (data as { result: string }).result;
};

/** Waits until the sub-agent's own turn is over, and one that it left working is all that is left. */
async function waitForLeft(at: string): Promise<string> {
  const { facetName } = await findFirst(at);
  const child = `${at}/sub/${facetName}`;
  await waitUntil("the end of its own turn", async () => {
    return (await testbed.api(`${child}/state`)).body.run.status === "completed";
  });
  await waitUntil("the ring below", () => testbed.bell.rings.length > 0);
  return child;
}

async function expectAllCancelled(agent: TestAgent, ...paths: string[]): Promise<void> {
  for (const at of [agent.at, ...paths])
    await waitUntil(`those below ${at} to be cancelled`, async () =>
      (await list(at)).every(({ status }) => status === "cancelled"),
    );
}

test("one that waits for those that it left working is cancelled with them", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "leave" });
  const child = await waitForLeft(agent.at);
  const { run } = (await testbed.api(`${child}/state`)).body;
  expect(await cancel(child)).toMatchObject({ status: 200, body: { runId: run.runId, status: "canceled" } });
  expect(getResult(await agent.waitForEnd(runId))).toBe("The sub-agent was cancelled.");
  await expectAllCancelled(agent, child);
  expect((await cancel(child)).body).toEqual({ status: "idle" });
});

test("one below a sub-agent is cancelled through that", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "nest" });
  const { facetName } = await findFirst(agent.at);
  const child = await waitForLeft(`${agent.at}/sub/${facetName}`);
  const { run } = (await testbed.api(`${child}/state`)).body;
  expect((await cancel(child, { runId: run.runId })).body).toEqual({ runId: run.runId, status: "canceled" });
  expect(getResult(await agent.waitForEnd(runId))).toBe("The sub-agent was cancelled.");
  expect(await list(agent.at)).toMatchObject([{ status: "complete" }]);
  await waitUntil("all below to be cancelled", async () => (await list(child))[0]?.status === "cancelled");
});

test("one whose fork is being checked is cancelled, and nothing is merged", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "check" });
  await agent.waitForEvent("its report", ({ type }) => type === "subagent.reported");
  const { facetName } = await findFirst(agent.at);
  const done = await runCli(["cancel", `${agent.name}/${facetName}`], testbed.home, { program: testbed.program });
  expect(done).toMatchObject({ code: 0, stdout: `Canceled the work of ${agent.name}/${facetName}.\n` });
  expect(getResult(await agent.waitForEnd(runId))).toMatch(/^The sub-agent was cancelled\./);
  const closed = await agent.waitForEvent("its end", ({ type }) => type === "subagent.closed");
  expect(closed.data).toMatchObject({ merge: { branch: facetName, isMerged: false } });
  expect((await testbed.api(`${agent.at}/files`)).body.files).toEqual([]);
});

test("one that waits to start never starts", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "three" });
  await waitUntil("three sub-agents", async () => (await list(agent.at)).length === 3);
  const [third] = await list(agent.at);
  const child = `${agent.at}/sub/${third?.facetName}`;
  expect((await cancel(child, { runId: "some-turn" })).status).toBe(404);
  expect(await cancel(child)).toMatchObject({ status: 200, body: { status: "canceled" } });
  for (const { facetName } of (await list(agent.at)).slice(1)) await cancel(`${agent.at}/sub/${facetName}`);
  expect(getResult(await agent.waitForEnd(runId))).toBe("The sub-agent was cancelled.");
  expect((await testbed.api(`${child}/state`)).status).toBe(404);
});

test("the parent hears which branch has the files of one that was cancelled", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "fork" });
  await waitUntil("its ring", () => testbed.bell.rings.length > 0);
  const { facetName } = await findFirst(agent.at);
  expect((await cancel(`${agent.at}/sub/${facetName}`)).body).toMatchObject({ status: "canceled" });
  expect(getResult(await agent.waitForEnd(runId))).toBe(
    `The sub-agent was cancelled.\n\nIf it changed files, they are on branch “${facetName}”.`,
  );
});

test("a turn beside the task is cancelled alone, and a finished sub-agent has none", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "leave" });
  const child = await waitForLeft(agent.at);
  const beside = testbed.agentAt(child, "the sub-agent");
  const { runId: own } = await beside.invoke({ message: "ring" });
  await waitUntil("its ring", () => testbed.bell.rings.length > 1);
  expect((await cancel(child, { runId: own })).body).toEqual({ runId: own, status: "canceled" });
  expect(await list(agent.at)).toMatchObject([{ status: "running" }]);
  expect((await cancel(child, { runId: "some-turn" })).status).toBe(404);
  await agent.cancel({ runId });
  const { code, stdout } = await runCli(["cancel", child.replace("/agents/", "").replace("/sub/", "/")], testbed.home, {
    program: testbed.program,
  });
  expect([code, stdout]).toEqual([0, expect.stringContaining("has no turn to cancel.")]);
  expect((await cancel(`${agent.at}/sub/nobody`)).status).toBe(404);
});
