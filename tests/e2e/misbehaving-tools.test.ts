import type { Message } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Misbehaving tools and models: the error is reported at the right level and the agent stays usable.

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const createExchange = (when: string, ...steps: object[]) => ({ when, steps: [...steps, { text: "Ended." }] });

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
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
      // Slow, but never silent for noProgressSeconds.
      slow: { pace: 600, exchanges: [{ steps: [{ text: "one two three four five six seven eight" }] }] },
    },
  });
});

afterAll(() => testbed?.stop());

const createClumsyAgent = () => testbed.newAgent({ model: "scripted:clumsy" });

async function expectUsable(agent: TestAgent): Promise<void> {
  expect(await agent.say("still there?")).toMatchObject({
    type: "agent.completed",
    data: { result: "You said: still there?" },
  });
}

/** Runs a turn that calls the tool and returns the results the model received. */
async function runAndGetResults(message: string): Promise<{ agent: TestAgent; results: Message[] }> {
  const agent = await createClumsyAgent();
  expect(await agent.say(message)).toMatchObject({ type: "agent.completed", data: { result: "Ended." } });
  const results = (await agent.messages()).filter(({ role }) => role === "tool");
  await expectUsable(agent);
  return { agent, results };
}

test.each([
  ["throws", "throw failed: This tool throws."],
  ["hangs", "did not finish within 1 s"],
  ["circles", "circular"],
  ["50 MB", "returned 50 MB"],
  ["invents", "Did you mean echo?"],
  ["wrong input", "text: "],
])("a failed call is reported to the model: %s", async (message, expected) => {
  const { agent, results } = await runAndGetResults(message);
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({ content: expect.stringContaining(expected), toolResult: { failed: true } });
  const { actions } = (await testbed.api(`${agent.at}/actions`)).body;
  expect(actions).toMatchObject([{ success: false }]);
});

test("a tool can be called by its alias", async () => {
  const { results } = await runAndGetResults("by another name");
  expect(results[0]).toMatchObject({ content: "alias", toolResult: { name: "echo" } });
});

test("a failed call does not affect parallel calls, and results are in call order", async () => {
  const { results } = await runAndGetResults("side by side");
  expect(results.map(({ toolResult }) => [toolResult?.name, toolResult?.failed ?? false])).toEqual([
    ["throw", true],
    ["echo", false],
    ["nope", true],
  ]);
});

test("a 60 KB result is stored whole in a blob, with a preview in its place", async () => {
  const { agent, results } = await runAndGetResults("60 KB");
  const { content, toolResult } = results[0] as Message;
  expect(toolResult).toMatchObject({
    size: 60 * 1024,
    mediaType: "text/plain",
    blob: expect.any(String),
    preview: "y".repeat(500),
  });
  expect(content.length).toBeLessThan(50 * 1024);
  expect((await testbed.api(`${agent.at}/blobs/${toolResult?.blob}`)).body).toBe("y".repeat(60 * 1024));
});

test("the same call three times in a row stops the turn", async () => {
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

test("a repeated call that returns something new each time is not stopped", async () => {
  const { results } = await runAndGetResults("looks again");
  expect(results.map(({ content }) => content.match(/more/g)?.length)).toEqual([1, 2, 3, 4, 5]);
});

test("repeated calls of an unknown tool stop the turn, too", async () => {
  const agent = await createClumsyAgent();
  expect(await agent.say("keeps guessing")).toMatchObject({ type: "agent.error", data: { code: "repeated_call" } });
  await expectUsable(agent);
});

test("a turn that exceeds the step limit fails", async () => {
  const agent = await createClumsyAgent();
  expect(await agent.say("endless")).toMatchObject({
    type: "agent.error",
    data: { code: "steps", advice: expect.any(String) },
  });
  await expectUsable(agent);
});

test("a call that the policy denies or that needs approval is not executed", async () => {
  await testbed.api("/agency/global/blueprints", "POST", {
    name: "careful",
    model: "scripted:clumsy",
    config: {
      policy: [
        { tool: "echo", match: "secret", action: "deny" },
        { tool: "w*", action: "ask" },
      ],
    },
  });
  const agent = await testbed.newAgent({ blueprint: "careful" });
  const expectRefused = async (content: string) =>
    expect((await agent.messages()).findLast(({ role }) => role === "tool")).toMatchObject({
      content: expect.stringContaining(content),
      toolResult: { failed: true },
    });
  expect(await agent.say("denied")).toMatchObject({ type: "agent.completed" });
  await expectRefused("denies echo");
  const { runId } = await agent.invoke({ message: "asks" });
  await agent.waitForEvent("the pause", ({ type, data }) => type === "run.paused" && data.runId === runId);
  await testbed.api(`${agent.at}/approve`, "POST", { approved: false });
  expect(await agent.waitForEnd(runId)).toMatchObject({ type: "agent.completed" });
  await expectRefused("A person denied this call");
  expect((await agent.log()).filter(({ type }) => type === "tool.started")).toEqual([]);
  await expectUsable(agent);
});

test("a silent model fails the turn, a slow one does not", async () => {
  const [silent, slow] = [await createClumsyAgent(), await testbed.newAgent({ model: "scripted:slow" })];
  const [failed, completed] = await Promise.all([silent.say("silence"), slow.say("go")]);
  expect(failed).toMatchObject({ type: "agent.error", data: { code: "no_progress", advice: expect.any(String) } });
  expect(completed).toMatchObject({
    type: "agent.completed",
    data: { result: "one two three four five six seven eight" },
  });
  await expectUsable(silent);
});
