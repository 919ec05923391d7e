import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// A facet of Think derives its address from the Agents SDK's path and runs turns like any other agent.

let testbed: Testbed;

const askFacet = (name: string, message: string) => ({ call: { tool: "ask_facet", input: { name, message } } });
const write = (path: string, content: string) => ({ call: { tool: "writeFile", input: { path, content } } });
const lastStep = { text: "{{ results.0 }}" };

beforeAll(async () => {
  testbed = await openTestbed({
    worker: new URL("../kit/worker/facets.worker.ts", import.meta.url),
    config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 } },
    scripts: {
      default: [
        { when: "/^facet$/", steps: [askFacet("child", "hello"), lastStep] },
        { when: "/^deeper$/", steps: [askFacet("child", "pass it on"), lastStep] },
        { when: "pass it on", steps: [askFacet("grandchild", "hello"), lastStep] },
        { when: "/^write$/", steps: [askFacet("child", "file it"), lastStep] },
        { when: "file it", steps: [write("notes/child.md", "by the child\n"), lastStep] },
        {
          when: "/^code$/",
          steps: [
            { call: { tool: "executeCode", input: { code: "return 1" } } },
            askFacet("child", "run it"),
            { text: "{{ results.1 }}" },
          ],
        },
        { when: "run it", steps: [{ call: { tool: "executeCode", input: { code: "return 2" } } }, lastStep] },
        { when: "/^big$/", steps: [askFacet("child", "count"), lastStep] },
        {
          when: "count",
          steps: [{ call: { tool: "executeCode", input: { code: "return 'x'.repeat(100000)" } } }, { text: "counted" }],
        },
        { when: "/^slow$/", steps: [askFacet("child", "take your time"), lastStep] },
        { when: "take your time", steps: [{ wait: 3000 }, { text: "done at last" }] },
        { steps: [{ text: "I heard: {{ message }}" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

async function say(agent: TestAgent, message: string): Promise<{ address: string; content: string }> {
  const { type, data } = await agent.say(message);
  expect([message, type, JSON.stringify(data)]).toEqual([message, "agent.completed", expect.any(String)]);
  return JSON.parse((data as { result: string }).result);
}

test("a facet derives its address from its parent path and completes a turn, at any depth", async () => {
  const agent = await testbed.newAgent({ name: "ada" });
  expect(await say(agent, "facet")).toEqual({ address: "global~ada/child", content: "I heard: hello" });
  const { address, content } = await say(agent, "deeper");
  expect(address).toBe("global~ada/child");
  expect(JSON.parse(content)).toEqual({ address: "global~ada/child/grandchild", content: "I heard: hello" });
});

test("a facet works in its root agent's workspace, and its versions name it", async () => {
  const agent = await testbed.newAgent({ name: "bea" });
  await say(agent, "write");
  expect((await testbed.api("/agents/bea/files/notes/child.md")).body).toBe("by the child\n");
  const { versions } = (await testbed.api("/agents/bea/versions")).body;
  expect(versions).toHaveLength(1);
  expect(versions[0].origin).toMatchObject({ kind: "agent", agent: "global~bea/child", tool: "writeFile" });
});

test("an agent and its facet run code in the same process, one after the other", async () => {
  const agent = await testbed.newAgent({ name: "cid" });
  const slots = async () => (await testbed.api("/health")).body.sandboxes as { runs: number }[];
  await say(agent, "code");
  const runs = (await slots()).map((slot) => slot.runs);
  expect(runs.reduce((sum, count) => sum + count, 0)).toBe(2);
  expect(Math.max(...runs)).toBe(2);
});

test("a facet's turn continues after main is killed, and its parent gets the result", async () => {
  const agent = await testbed.newAgent({ name: "dan" });
  const { runId } = await agent.invoke({ message: "slow" });
  await waitUntil("the facet to start", async () => (await agent.log()).some(({ type }) => type === "tool.started"));
  await testbed.restartMain();
  const { type, data } = await agent.waitForEnd(runId, 60_000);
  expect(type).toBe("agent.completed");
  expect(JSON.parse((data as { result: string }).result)).toEqual({
    address: "global~dan/child",
    content: "done at last",
  });
});

test("an agency's usage lists a facet under its own path", async () => {
  const agent = await testbed.newAgent({ name: "eve" });
  await say(agent, "facet");
  await waitUntil("the agency's usage", async () => {
    const { byAgent } = (await testbed.api("/agency/global/usage")).body as {
      byAgent: { agent: string; calls: number }[];
    };
    const countCalls = (name: string) => byAgent.find(({ agent }) => agent === name)?.calls;
    return countCalls("eve") === 2 && countCalls("eve/child") === 1;
  });
});

test("a facet's blobs are kept by a collection, and deleted with its root agent", async () => {
  const agent = await testbed.newAgent({ name: "fay" });
  await say(agent, "big");
  const collect = async () =>
    waitUntil("the collection", async () => {
      const { body } = await testbed.api("/gc", "POST", {});
      return (body as any).state === "done" ? (body as any) : undefined;
    });
  expect(await collect()).toMatchObject({ report: { needed: { blobs: 1 }, missing: 0 }, unreadable: [] });
  await testbed.api("/agents/fay", "DELETE");
  await waitUntil("its blob to be deleted", async () => {
    const { report } = await collect();
    return Object.values(report).every((totals) => ((totals as any).blobs ?? totals) === 0);
  });
});
