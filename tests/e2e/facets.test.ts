import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// A facet of Think knows its address from the Agents SDK's path, and takes turns like any other agent.

let workshop: Testbed;

const ask = (name: string, message: string) => ({ call: { tool: "ask_facet", input: { name, message } } });
const write = (path: string, content: string) => ({ call: { tool: "writeFile", input: { path, content } } });
const answered = { text: "{{ results.0 }}" };

beforeAll(async () => {
  workshop = await openTestbed({
    worker: new URL("../kit/worker/facets.worker.ts", import.meta.url),
    config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 } },
    scripts: {
      default: [
        { when: "/^facet$/", steps: [ask("child", "hello"), answered] },
        { when: "/^deeper$/", steps: [ask("child", "pass it on"), answered] },
        { when: "pass it on", steps: [ask("grandchild", "hello"), answered] },
        { when: "/^write$/", steps: [ask("child", "file it"), answered] },
        { when: "file it", steps: [write("notes/child.md", "by the child\n"), answered] },
        {
          when: "/^code$/",
          steps: [
            { call: { tool: "executeCode", input: { code: "return 1" } } },
            ask("child", "run it"),
            { text: "{{ results.1 }}" },
          ],
        },
        { when: "run it", steps: [{ call: { tool: "executeCode", input: { code: "return 2" } } }, answered] },
        { when: "/^slow$/", steps: [ask("child", "take your time"), answered] },
        { when: "take your time", steps: [{ wait: 3000 }, { text: "done at last" }] },
        { steps: [{ text: "I heard: {{ message }}" }] },
      ],
    },
  });
});

afterAll(() => workshop?.stop());

async function say(agent: TestAgent, message: string): Promise<{ address: string; content: string }> {
  const { type, data } = await agent.say(message);
  expect([message, type, JSON.stringify(data)]).toEqual([message, "agent.completed", expect.any(String)]);
  return JSON.parse((data as { result: string }).result);
}

test("a facet resolves its address from the path above it and answers a turn, at any depth", async () => {
  const agent = await workshop.newAgent({ name: "ada" });
  expect(await say(agent, "facet")).toEqual({ address: "global~ada/child", content: "I heard: hello" });
  const { address, content } = await say(agent, "deeper");
  expect(address).toBe("global~ada/child");
  expect(JSON.parse(content)).toEqual({ address: "global~ada/child/grandchild", content: "I heard: hello" });
});

test("a facet works in the files of its root agent, and the version names it", async () => {
  const agent = await workshop.newAgent({ name: "bea" });
  await say(agent, "write");
  expect((await workshop.api("/agents/bea/files/notes/child.md")).body).toBe("by the child\n");
  const { versions } = (await workshop.api("/agents/bea/versions")).body;
  expect(versions).toHaveLength(1);
  expect(versions[0].origin).toMatchObject({ kind: "agent", agent: "global~bea/child", tool: "writeFile" });
});

test("an agent and its facet run code in the same process, one after the other", async () => {
  const agent = await workshop.newAgent({ name: "cid" });
  const slots = async () => (await workshop.api("/health")).body.sandboxes as { runs: number }[];
  await say(agent, "code");
  const runs = (await slots()).map((slot) => slot.runs);
  expect(runs.reduce((all, count) => all + count, 0)).toBe(2);
  expect(Math.max(...runs)).toBe(2);
});

test("a facet's turn goes on after main is killed, and its parent gets the answer", async () => {
  const agent = await workshop.newAgent({ name: "dan" });
  const { runId } = await agent.invoke({ message: "slow" });
  await waitUntil("the facet to work", async () => (await agent.log()).some(({ type }) => type === "tool.started"));
  await workshop.restartMain();
  const { type, data } = await agent.over(runId, 60_000);
  expect(type).toBe("agent.completed");
  expect(JSON.parse((data as { result: string }).result)).toEqual({
    address: "global~dan/child",
    content: "done at last",
  });
});

test("what a facet spends is in the books of its agency under its own path", async () => {
  const agent = await workshop.newAgent({ name: "eve" });
  await say(agent, "facet");
  await waitUntil("the agency to have heard", async () => {
    const { byAgent } = (await workshop.api("/agency/global/usage")).body as {
      byAgent: { agent: string; calls: number }[];
    };
    const calls = (name: string) => byAgent.find((share) => share.agent === name)?.calls;
    return calls("eve") === 2 && calls("eve/child") === 1;
  });
});
