import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Middleware that changes or vetoes calls before they are made, whether the model asks for them or code that it runs.

const echo = { call: { tool: "echo", input: { text: "hello" } } };
const code = {
  call: {
    tool: "executeCode",
    input: { code: `return await tools.echo({ text: "hello" }).catch((error) => "caught: " + error.message)` },
  },
};

let workshop: Testbed;

beforeAll(async () => {
  workshop = await openTestbed({
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

afterAll(() => workshop?.stop());

async function newAgent(inspector: object, policy: object[] = []): Promise<TestAgent> {
  const config = { inspector, policy };
  return workshop.newAgent({ blueprint: await workshop.newBlueprint({ tags: ["default", "inspector"], config }) });
}

async function runAndGetResult(agent: TestAgent, message: "model" | "code"): Promise<string> {
  const outcome = await agent.say(message);
  expect(outcome.type).toBe("agent.completed");
  return (outcome.data as { result: string }).result;
}

const ways = ["model", "code"] as const;

/** What the log says of the call of `echo`. */
async function readEchoEvents(agent: TestAgent) {
  const own = (event: AgentEvent) => "toolName" in event.data && event.data.toolName === "echo";
  return (await agent.log()).filter(own).map(({ type, data }) => ({ type, ...data }) as Record<string, unknown>);
}

test.each(ways)("a hook that returns nothing leaves a call as it is (%s)", async (way) => {
  const agent = await newAgent({});
  expect(await runAndGetResult(agent, way)).toBe("hello");
  expect((await agent.state()).seen).toContain('echo {"text":"hello"}');
});

test.each(ways)("a changed input reaches the tool, the log and the hooks that follow (%s)", async (way) => {
  const agent = await newAgent({ rename: "changed" });
  expect(await runAndGetResult(agent, way)).toBe("changed");
  expect((await agent.state()).last).toBe('{"text":"changed"}');
  expect((await readEchoEvents(agent))[0]).toMatchObject({ args: { text: "changed" } });
});

test.each(ways)("a changed input is validated again (%s)", async (way) => {
  const agent = await newAgent({ rename: "" });
  expect(await runAndGetResult(agent, way)).toMatch(/The input of echo is not valid\. text: .*middleware changed it/);
});

test.each(ways)("the policy decides on the changed input, not on the one that was asked for (%s)", async (way) => {
  const agent = await newAgent({ rename: "secret" }, [{ tool: "echo", match: "secret", action: "deny" }]);
  expect(await runAndGetResult(agent, way)).toMatch(/The policy of this agent denies echo/);
});

test.each(ways)("a vetoed call is not made, and its caller reads why (%s)", async (way) => {
  const agent = await newAgent({ deny: "Not on a Sunday." });
  expect(await runAndGetResult(agent, way)).toMatch(/Not on a Sunday\.$/);
  const events = await readEchoEvents(agent);
  expect(events.at(-1)).toMatchObject({ errorCode: "denied" });
  expect(events.map(({ type }) => type)).not.toContain("tool.started");
});

test.each(["throw", "hang", "nonsense"])(
  "a hook that fails refuses the call, and the turn goes on (%s)",
  async (fail) => {
    for (const way of ways) {
      const agent = await newAgent({ fail });
      expect(await runAndGetResult(agent, way)).toMatch(
        /The middleware “inspector” could not check this call of echo, so it was not made\.$/,
      );
      const failed = (await agent.log()).find(({ type }) => type === "middleware.failed");
      expect(failed?.data).toMatchObject({ middlewareName: "inspector", hook: "beforeTool" });
    }
  },
);
