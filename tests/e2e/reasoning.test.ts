import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, type ModelServer, openModelServer, type RecordedRequest } from "../kit/model-server.ts";
import { task } from "../kit/worker/team.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// How much the model of each role is asked to think, as the model server receives it.

let server: ModelServer;
let testbed: Testbed;

const sideRoles = ["fast", "summarizer", "vision"];

/** “who” makes the model call all other roles, “delegate” a sub-agent. */
function respond({ body, latest, results }: RecordedRequest): Answer {
  if (!body.tools || results.length > 0) return { text: "Done." };
  if (latest.includes("who"))
    return { toolCalls: sideRoles.map((role) => ({ name: "ask", input: { role, prompt: role } })) };
  if (latest.includes("delegate")) {
    const { tool, input } = task("work", { subagentType: latest.split(" ")[1] ?? "think" });
    return { toolCalls: [{ name: tool, input }] };
  }
  return { text: "Done." };
}

beforeAll(async () => {
  server = await openModelServer({ models: ["listed"] });
  server.answer(respond);
  testbed = await openTestbed({
    worker: new URL("../kit/worker/roles.worker.ts", import.meta.url),
    config: {
      model: "box:host",
      models: { fast: "box:host-fast" },
      reasoning: { primary: "high", vision: "none" },
      providers: { box: { baseUrl: `${server.url}/v1` }, wise: { baseUrl: `${server.url}/v1`, wire: "messages" } },
    },
  });
});

afterAll(async () => {
  await testbed?.stop();
  await server?.stop();
});

/** Runs a turn and returns the efforts of its requests: the conversation's first, then those of the other roles. */
async function readEfforts(agent: TestAgent, message: string, more: object = {}): Promise<unknown[]> {
  const before = server.countCalls();
  const { runId } = await agent.invoke({ message, ...more });
  expect(await agent.waitForEnd(runId)).toMatchObject({ type: "agent.completed" });
  return server
    .listRequests()
    .slice(before)
    .map(({ body }) => body.reasoning_effort);
}

test("each role is asked for its own effort, of the strongest layer that sets it", async () => {
  const blueprint = await testbed.newBlueprint({ reasoning: { fast: "medium", summarizer: "low" } });
  const agent = await testbed.newAgent({ blueprint, props: { reasoning: { summarizer: "high" } } });
  const [first, ...others] = await readEfforts(agent, "who?");
  const last = others.pop();
  expect([first, last]).toEqual(["high", "high"]);
  expect(others.toSorted()).toEqual(["high", "medium", "none"]);

  const [primary] = await readEfforts(agent, "Hello.", { props: { reasoning: { primary: "low" } } });
  expect(primary).toBe("low");
  expect(await readEfforts(agent, "Hello.")).toEqual(["high"]);
  expect(await readEfforts(await testbed.newAgent({ name: "classy-1" }), "Hello.")).toEqual(["low"]);
});

test("a setting of a request or an agent applies whatever the role says", async () => {
  const agent = await testbed.newAgent({ props: { settings: { reasoningEffort: "medium" } } });
  expect(await readEfforts(agent, "Hello.")).toEqual(["medium"]);
  expect(await readEfforts(agent, "Hello.", { props: { settings: { thinkingBudget: 0 } } })).toEqual(["none"]);
});

test("a thinking budget reaches a model that takes one", async () => {
  const agent = await testbed.newAgent({
    model: "wise:claude-sonnet-4-5",
    props: { settings: { thinkingBudget: 5000 } },
  });
  const before = server.countCalls();
  await agent.say("Hello.");
  expect(server.listRequests()[before]?.body).toMatchObject({ thinking: { type: "enabled", budget_tokens: 5000 } });
});

test("a sub-agent thinks as much as the role it plays, unless its blueprint says otherwise", async () => {
  const diligent = await testbed.newBlueprint({ description: "Diligent.", reasoning: { primary: "high" } });
  const agent = await testbed.newAgent({ props: { reasoning: { primary: "medium", fast: "low" } } });
  expect(await readEfforts(agent, "delegate think")).toEqual(["medium", "low", "medium"]);
  expect(await readEfforts(agent, `delegate ${diligent}`)).toEqual(["medium", "high", "medium"]);
});

test("an unknown effort or role is rejected with its path, wherever it is set", async () => {
  const createError = (path: (string | number)[]) => ({
    status: 400,
    body: { error: { code: "bad_request", details: { issues: [{ path }] } } },
  });
  expect(
    await testbed.api("/agency/global/blueprints", "POST", { name: "bad", reasoning: { fast: "lots" } }),
  ).toMatchObject(createError(["reasoning", "fast"]));
  expect(await testbed.api("/agents", "POST", { name: "bad", props: { reasoning: { quick: "low" } } })).toMatchObject(
    createError(["props", "reasoning", "quick"]),
  );
  expect(
    await testbed.api("/agents", "POST", { name: "bad", props: { settings: { thinkingBudget: -1 } } }),
  ).toMatchObject(createError(["props", "settings", "thinkingBudget"]));
});
