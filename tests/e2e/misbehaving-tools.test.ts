import type { Message } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Tools and models that do what they should not: a clear word at the right level, and the agent stays usable.

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const createExchange = (when: string, ...steps: object[]) => ({ when, steps: [...steps, { text: "Ended." }] });

let workshop: Testbed;

beforeAll(async () => {
  workshop = await openTestbed({
    config: { turn: { heartbeatSeconds: 1, toolTimeoutSeconds: 1, noProgressSeconds: 3, maxSteps: 8 } },
    scripts: {
      clumsy: [
        createExchange("throws", call("throw")),
        createExchange("hangs", call("hang")),
        createExchange("circles", call("circular")),
        createExchange("50 MB", call("huge", { mb: 50 })),
        createExchange("60 KB", call("kb", { kb: 60 })),
        createExchange("invents", call("ehco", { text: "x" })),
        createExchange("by another name", call("repeat_after_me", { text: "alias" })),
        createExchange("wrong input", call("echo", { text: 5 })),
        createExchange("denied", call("echo", { text: "secret" })),
        createExchange("asks", call("wait", { ms: 1 })),
        createExchange(
          "thrice",
          call("echo", { text: "same" }),
          call("echo", { text: "same" }),
          call("echo", { text: "same" }),
        ),
        createExchange(
          "looks again",
          ...Array.from({ length: 5 }, () => call("bash", { command: "echo more >> news; cat news" })),
        ),
        createExchange("keeps guessing", call("nope"), call("nope"), call("nope")),
        createExchange("endless", ...Array.from({ length: 10 }, (_, n) => call("echo", { text: `step ${n}` }))),
        createExchange("side by side", {
          calls: [
            { tool: "throw", input: {} },
            { tool: "echo", input: { text: "fine" } },
            { tool: "nope", input: {} },
          ],
        }),
        { when: "silence", steps: [{ wait: 60_000 }] },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
      // Slow, but never silent for long.
      slow: { pace: 600, exchanges: [{ steps: [{ text: "one two three four five six seven eight" }] }] },
    },
  });
});

afterAll(() => workshop?.stop());

const createClumsyAgent = () => workshop.newAgent({ model: "scripted:clumsy" });

async function expectUsable(agent: TestAgent): Promise<void> {
  expect(await agent.say("still there?")).toMatchObject({
    type: "agent.completed",
    data: { result: "You said: still there?" },
  });
}

/** Has the tool called, and answers what the model was told. */
async function runAndGetResults(message: string): Promise<{ agent: TestAgent; results: Message[] }> {
  const agent = await createClumsyAgent();
  expect(await agent.say(message)).toMatchObject({ type: "agent.completed", data: { result: "Ended." } });
  const results = (await agent.messages()).filter(({ role }) => role === "tool");
  await expectUsable(agent);
  return { agent, results };
}

test.each([
  ["throws", "throw failed: This tool throws."],
  ["hangs", "did not answer within 1 s"],
  ["circles", "circular"],
  ["50 MB", "returned 50 MB"],
  ["invents", "Did you mean echo?"],
  ["wrong input", "text: "],
])("a tool that %s is the model's to read", async (message, words) => {
  const { agent, results } = await runAndGetResults(message);
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({ content: expect.stringContaining(words), toolResult: { failed: true } });
  const { actions } = (await workshop.api(`${agent.at}/actions`)).body;
  expect(actions).toMatchObject([{ success: false }]);
});

test("a tool is found by its other name", async () => {
  const { results } = await runAndGetResults("by another name");
  expect(results[0]).toMatchObject({ content: "alias", toolResult: { name: "echo" } });
});

test("one call that fails does not touch its neighbours, and results stand in the order of the calls", async () => {
  const { results } = await runAndGetResults("side by side");
  expect(results.map(({ toolResult }) => [toolResult?.name, toolResult?.failed ?? false])).toEqual([
    ["throw", true],
    ["echo", false],
    ["nope", true],
  ]);
});

test("a result of 60 KB lies in a blob, whole, with a preview in its place", async () => {
  const { agent, results } = await runAndGetResults("60 KB");
  const { content, toolResult } = results[0] as Message;
  expect(toolResult).toMatchObject({
    size: 60 * 1024,
    mediaType: "text/plain",
    blob: expect.any(String),
    preview: "y".repeat(500),
  });
  expect(content.length).toBeLessThan(50 * 1024);
  expect((await workshop.api(`${agent.at}/blobs/${toolResult?.blob}`)).body).toBe("y".repeat(60 * 1024));
});

test("the same call three times in a row stops the turn with a question", async () => {
  const agent = await createClumsyAgent();
  expect(await agent.say("thrice")).toMatchObject({
    type: "agent.error",
    data: { code: "repeated_call", error: expect.stringContaining("echo") },
  });
  expect(
    (await agent.messages()).filter(({ role }) => role === "tool").map(({ toolResult }) => toolResult?.failed ?? false),
  ).toEqual([false, false, true]);
  await expectUsable(agent);
});

test("who hears something new each time is not stuck, and may ask again", async () => {
  const { results } = await runAndGetResults("looks again");
  expect(results.map(({ content }) => content.match(/more/g)?.length)).toEqual([1, 2, 3, 4, 5]);
});

test("also a call that never got as far as the tool", async () => {
  const agent = await createClumsyAgent();
  expect(await agent.say("keeps guessing")).toMatchObject({ type: "agent.error", data: { code: "repeated_call" } });
  await expectUsable(agent);
});

test("a turn has so many steps and no more", async () => {
  const agent = await createClumsyAgent();
  expect(await agent.say("endless")).toMatchObject({
    type: "agent.error",
    data: { code: "steps", advice: expect.any(String) },
  });
  await expectUsable(agent);
});

test("what the policy denies, or would ask a person about, is not done", async () => {
  await workshop.api("/agency/global/blueprints", "POST", {
    name: "careful",
    model: "scripted:clumsy",
    config: {
      policy: [
        { tool: "echo", match: "secret", action: "deny" },
        { tool: "w*", action: "ask" },
      ],
    },
  });
  const agent = await workshop.newAgent({ blueprint: "careful" });
  for (const [message, words] of [
    ["denied", "denies echo"],
    ["asks", "approval"],
  ] as const) {
    expect(await agent.say(message)).toMatchObject({ type: "agent.completed" });
    expect((await agent.messages()).findLast(({ role }) => role === "tool")).toMatchObject({
      content: expect.stringContaining(words),
      toolResult: { failed: true },
    });
  }
  expect((await agent.log()).filter(({ type }) => type === "tool.started")).toEqual([]);
  await expectUsable(agent);
});

test("a model that gives no sign of life fails the turn; one that is merely slow does not", async () => {
  const [silent, slow] = [await createClumsyAgent(), await workshop.newAgent({ model: "scripted:slow" })];
  const [failed, completed] = await Promise.all([silent.say("silence"), slow.say("go")]);
  expect(failed).toMatchObject({ type: "agent.error", data: { code: "no_progress", advice: expect.any(String) } });
  expect(completed).toMatchObject({
    type: "agent.completed",
    data: { result: "one two three four five six seven eight" },
  });
  await expectUsable(silent);
});
