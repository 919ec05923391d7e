import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { task, teamConfig } from "../kit/worker/team.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// What middleware hears of sub-agents: their reports, and that the turn goes on with them.

let testbed: Testbed;

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });

beforeAll(async () => {
  testbed = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    config: teamConfig,
    scripts: {
      default: [
        {
          when: "/^two$/",
          steps: [{ calls: [task("hello"), task("break")] }, { text: "{{ results.0 }}" }],
        },
        {
          when: "/^leave$/",
          steps: [
            call("createSubtask", { title: "Look around" }),
            call("delegateToSubagent", { taskId: "{{ results.0.taskId }}" }),
            { text: "Left it." },
          ],
        },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
      fast: [
        { when: "/^break$/", steps: [{ fail: { status: 400 } }] },
        { when: "/^hello$/", steps: [{ wait: 1500 }, { text: "Hello." }] },
        { steps: [{ text: "Looked." }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

/** What the first witness recorded about reports and resumes. */
async function readWitnessed(agent: TestAgent): Promise<string[]> {
  return (await agent.log()).flatMap(({ type, data }) =>
    type === "middleware.state_changed" &&
    data.middlewareName === "first" &&
    /^on(Resume|ChildReport)/.test(String(data.value))
      ? [String(data.value)]
      : [],
  );
}

test("each report that a turn waited for is heard once, then that it goes on, also after a kill", async () => {
  const agent = await testbed.newAgent({ name: "ada", blueprint: "watched" });
  const { runId } = await agent.invoke({ message: "two" });
  await agent.waitForEvent("the first report", ({ type }) => type === "subagent.completed");
  await testbed.restartMain();
  await agent.waitForEnd(runId);
  expect(await readWitnessed(agent)).toEqual([
    expect.stringMatching(/^onChildReport task failed: The sub-agent failed: /),
    "onChildReport task Hello.",
    "onResume resolved 2",
  ]);
});

test("the report of one that worked in the background is heard with the step that gets it", async () => {
  const agent = await testbed.newAgent({ name: "bea", blueprint: "watched" });
  await agent.say("leave");
  await waitUntil("its end", async () => {
    const [subagent] = (await testbed.api("/agents/bea/subagents")).body.subagents;
    return subagent.status === "complete";
  });
  await agent.say("and now?");
  await agent.say("again");
  expect(await readWitnessed(agent)).toEqual(["onChildReport delegateToSubagent Looked."]);
});
