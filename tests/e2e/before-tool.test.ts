import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Middleware that changes or vetoes tool calls before they run, whether the model or its code makes them.

const echo = { call: { tool: "echo", input: { text: "hello" } } };
const code = {
  call: {
    tool: "executeCode",
    input: { code: `return await tools.echo({ text: "hello" }).catch((error) => "caught: " + error.message)` },
  },
};

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    config: { turn: { hookTimeoutSeconds: 1 } },
    scripts: {
      default: [
        { when: "^code", steps: [code, { text: "{{ results.0 }}" }] },
        { steps: [echo, { text: "{{ results.0 }}" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

async function newAgent(inspector: object, policy: object[] = []): Promise<TestAgent> {
  const config = { inspector, policy };
  return testbed.newAgent({ blueprint: await testbed.newBlueprint({ tags: ["default", "inspector"], config }) });
}

async function runAndGetResult(agent: TestAgent, message: "model" | "code"): Promise<string> {
  const outcome = await agent.say(message);
  expect(outcome.type).toBe("agent.completed");
  return (outcome.data as { result: string }).result;
}

const callers = ["model", "code"] as const;

/** The log events of the call of `echo`. */
async function readEchoEvents(agent: TestAgent) {
  const isEcho = (event: AgentEvent) => "toolName" in event.data && event.data.toolName === "echo";
  return (await agent.log()).filter(isEcho).map(({ type, data }) => ({ type, ...data }) as Record<string, unknown>);
}

test.each(callers)("a hook that returns nothing leaves the call unchanged (%s)", async (caller) => {
  const agent = await newAgent({});
  expect(await runAndGetResult(agent, caller)).toBe("hello");
  expect((await agent.state()).seen).toContain('echo {"text":"hello"}');
});

test.each(callers)("a changed input reaches the tool, the log and later hooks (%s)", async (caller) => {
  const agent = await newAgent({ rename: "changed" });
  expect(await runAndGetResult(agent, caller)).toBe("changed");
  expect((await agent.state()).last).toBe('{"text":"changed"}');
  expect((await readEchoEvents(agent))[0]).toMatchObject({ args: { text: "changed" } });
});

test.each(callers)("a changed input is validated again (%s)", async (caller) => {
  const agent = await newAgent({ rename: "" });
  expect(await runAndGetResult(agent, caller)).toMatch(/Invalid input for echo\. text: .*changed by middleware/);
});

test.each(callers)("the policy checks the changed input, not the original one (%s)", async (caller) => {
  const agent = await newAgent({ rename: "secret" }, [{ tool: "echo", match: "secret", action: "deny" }]);
  expect(await runAndGetResult(agent, caller)).toMatch(/The policy of this agent denies echo/);
});

test.each(callers)("a vetoed call does not run, and its caller gets the reason (%s)", async (caller) => {
  const agent = await newAgent({ deny: "Not on a Sunday." });
  expect(await runAndGetResult(agent, caller)).toMatch(/Not on a Sunday\.$/);
  const events = await readEchoEvents(agent);
  expect(events.at(-1)).toMatchObject({ errorCode: "denied" });
  expect(events.map(({ type }) => type)).not.toContain("tool.started");
});

test.each(["throw", "hang", "nonsense"])(
  "a failing hook blocks the call, and the turn continues (%s)",
  async (fail) => {
    for (const caller of callers) {
      const agent = await newAgent({ fail });
      expect(await runAndGetResult(agent, caller)).toMatch(
        /The middleware “inspector” could not check this call of echo, so it was not made\.$/,
      );
      const failed = (await agent.log()).find(({ type }) => type === "middleware.failed");
      expect(failed?.data).toMatchObject({ middlewareName: "inspector", hook: "beforeTool" });
    }
  },
);
