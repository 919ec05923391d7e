import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { teamConfig } from "../kit/worker/team.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// The model gets each report of a sub-agent once, and all of it, whatever happens while it gets it.

let testbed: Testbed;

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const ring = (id: string) => call("ring_again", { bell: "BELL", id });
/** Their reports are short enough for an event, and together too long for a result that is not a blob. */
const team = 7;
const delegations = [
  { calls: Array.from({ length: team }, (_, index) => call("createSubtask", { title: `part ${index}` }).call) },
  {
    calls: Array.from({ length: team }, (_, index) => ({
      tool: "delegateToSubagent",
      input: { taskId: `{{ results.${index}.taskId }}`, description: "at length" },
    })),
  },
];
const one = [
  call("createSubtask", { title: "look" }),
  call("delegateToSubagent", { taskId: "{{ results.createSubtask.taskId }}" }),
];
const rings = new Map<string, () => void>();

beforeAll(async () => {
  testbed = await openTestbed({
    config: { ...teamConfig, subagents: { initialCheckSeconds: 1, checkIntervalSeconds: 1 } },
    scripts: {
      default: [
        { when: "/^wait$/", steps: [...delegations, call("waitForSubagents"), { text: "got all" }] },
        {
          when: "/^wait later$/",
          steps: [
            ...delegations,
            { calls: [ring("working").call, call("waitForSubagents").call] },
            { text: "got all" },
          ],
        },
        {
          when: "/^take$/",
          steps: [
            ...one,
            { calls: [ring("working").call, call("take_reports", { bell: "BELL" }).call] },
            { text: "{{ results.take_reports }}" },
          ],
        },
      ],
      fast: [{ when: "at length", steps: [ring("long"), { text: "x".repeat(8000) }] }, { steps: [{ text: "Seen." }] }],
    },
  });
  testbed.bell.onRing = ({ id, callId }) =>
    new Promise<void>((resolve) => void rings.set(id === "long" ? callId : id, resolve));
});

afterAll(() => testbed?.stop());

const answer = async (id: string) => {
  (await waitUntil(`the ring ${id}`, () => rings.get(id)))();
  rings.delete(id);
};

/** Lets the team report. */
async function answerTeam(): Promise<void> {
  await waitUntil("the team to ring", () => testbed.bell.rings.filter(({ id }) => id === "long").length === team);
  for (const { id, callId } of testbed.bell.rings.splice(0)) if (id === "long") await answer(callId);
}

const countEvents = async (agent: TestAgent, type: string) =>
  (await agent.log()).filter((event) => event.type === type).length;
const waitForReports = (agent: TestAgent, count: number) =>
  waitUntil("the reports", async () => (await countEvents(agent, "subagent.completed")) === count);
const getFolders = () =>
  Array.from({ length: 256 }, (_, index) => join(testbed.home, "blobs", index.toString(16).padStart(2, "0")));
/** No blob can be stored, because files have the names of the folders. */
async function breakBlobs(): Promise<void> {
  await repairBlobs();
  await Promise.all(getFolders().map((path) => writeFile(path, "")));
}
const repairBlobs = () => Promise.all(getFolders().map((path) => rm(path, { recursive: true, force: true })));

async function expectAllOnce(agent: TestAgent): Promise<void> {
  const log = await agent.log();
  const spawned = log.flatMap(({ type, data }) => (type === "subagent.spawned" ? [data.taskId] : []));
  const delivered = log.flatMap(({ type, data }) => (type === "subagent.delivered" ? data.taskIds : []));
  expect(delivered.toSorted()).toEqual(spawned.toSorted());
}

test("a call that waits gets all reports, even if its result could not be stored at first", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "wait" });
  await breakBlobs();
  await agent.waitForEvent("the pause", ({ type }) => type === "run.paused");
  await answerTeam();
  await waitForReports(agent, team);
  await waitUntil("the failure", async () =>
    (await readFile(join(testbed.home, "logs", "thinkery.log"), "utf8")).includes("could not be brought up to date"),
  );
  expect(await countEvents(agent, "tool.output")).toBe(2 * team);
  await repairBlobs();
  await agent.waitForEnd(runId);
  const output = (await agent.log()).find(
    ({ type, data }) => type === "tool.output" && data.toolName === "waitForSubagents",
  );
  expect(output?.data).toMatchObject({ output: expect.stringContaining("xxx") });
  await expectAllOnce(agent);
});

test("reports that a call could not get come with the next step", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "wait later" });
  await answerTeam();
  await waitForReports(agent, team);
  await breakBlobs();
  await answer("working");
  await agent.waitForEnd(runId);
  await repairBlobs();
  const log = await agent.log();
  expect(log.flatMap(({ type, data }) => (type === "tool.error" ? [data.toolName] : []))).toEqual(["waitForSubagents"]);
  const contents = log.flatMap(({ type, data }) => (type === "subagent.delivered" ? [data.content] : []));
  expect(contents).toEqual([expect.stringMatching(/^<subagent_report .*\nxxx/)]);
  await expectAllOnce(agent);
});

test("a call that a crash cut off gets the same reports when it is repeated", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "take" });
  await waitForReports(agent, 1);
  await answer("working");
  await waitUntil("the call", () => rings.get("reports"));
  rings.clear();
  await testbed.restartMain();
  await answer("reports");
  expect((await agent.waitForEnd(runId)).data).toMatchObject({ result: "Seen." });
  await expectAllOnce(agent);
});
