import type { SubagentSummary } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { task, teamConfig } from "../kit/worker/team.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// An agency's list of agents has their sub-agents, as a tree with the status of each.

let testbed: Testbed;
/** Lets the sub-agent at the bottom go on. */
let release: (() => void) | undefined;

beforeAll(async () => {
  testbed = await openTestbed({
    config: teamConfig,
    scripts: {
      default: [{ steps: [{ call: task("Pass it on") }, { text: "{{ results.0 }}" }] }],
      fast: [
        { when: "/^Pass it on$/", steps: [{ call: task("Wait") }, { text: "{{ results.0 }}" }] },
        { steps: [{ call: { tool: "ring_again", input: { bell: "BELL", id: "x" } } }, { text: "Done." }] },
      ],
    },
  });
  testbed.bell.onRing = () => new Promise<void>((resolve) => (release = resolve));
});

afterAll(() => testbed?.stop());

const listSubagents = async (agent: string): Promise<SubagentSummary[] | undefined> =>
  (await testbed.api("/agents")).body.agents.find(({ name }: { name: string }) => name === agent)?.subagents;

/** Waits until the list shows a chain of sub-agents with these titles and statuses. */
const waitForChain = (agent: string, ...expected: string[]) =>
  waitUntil(`sub-agents ${expected.join(" > ")}`, async () => {
    const chain: SubagentSummary[] = [];
    for (let list = await listSubagents(agent); list?.length === 1; list = list[0]?.subagents) chain.push(...list);
    return chain.map(({ title, status }) => `${title}: ${status}`).join() === expected.join() ? chain : undefined;
  });

test("sub-agents at any depth are listed with their status, also after a crash, until they are deleted", async () => {
  const agent = await testbed.newAgent({ name: "alice" });
  await testbed.newAgent({ name: "bob" });
  const { runId } = await agent.invoke({ message: "go" });
  const [child, grandchild] = await waitForChain("alice", "Pass it on: running", "Wait: running");
  expect(child).toMatchObject({ name: expect.stringMatching(/^subagent-/), blueprint: "think" });
  expect(await listSubagents("bob")).toBeUndefined();
  const { stdout } = await testbed.host().runCli(["ls"]);
  const path = `alice/${child?.name}`;
  const rows = stdout.split("\n").map((line) => line.trimEnd().split(/ {2,}/));
  expect(rows).toContainEqual([path, "think", "-", child?.createdAt, "running: Pass it on"]);
  expect(rows).toContainEqual([`${path}/${grandchild?.name}`, "think", "-", expect.any(String), "running: Wait"]);

  await waitUntil("the bell", () => release);
  release = undefined;
  await testbed.restartMain();
  const goOn = await waitUntil("the bell of the repeated call", () => release);
  goOn();
  await agent.waitForEnd(runId);
  await waitForChain("alice", "Pass it on: complete", "Wait: complete");
  // Nobody works any more: a list of agents is what it was.
  expect((await testbed.host().runCli(["ls"])).stdout).not.toContain("subagent-");

  expect((await testbed.api(`/agents/alice/sub/${child?.name}`, "DELETE")).status).toBe(204);
  await waitUntil("an empty list", async () => (await listSubagents("alice")) === undefined);
  // Its report stays.
  const { subagents } = (await testbed.api("/agents/alice/subagents")).body;
  expect(subagents).toMatchObject([{ facetName: child?.name, status: "complete", result: "Done.", deleted: true }]);
});

test("a new agent does not inherit the list of a deleted one of the same name", async () => {
  const agent = await testbed.newAgent({ name: "carol" });
  await agent.invoke({ message: "go" });
  await waitForChain("carol", "Pass it on: running", "Wait: running");
  expect((await testbed.api("/agents/carol", "DELETE")).status).toBe(204);
  await testbed.newAgent({ name: "carol" });
  expect(await listSubagents("carol")).toBeUndefined();
});
