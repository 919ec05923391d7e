import type { BudgetStatus } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  countModelCalls,
  captureFailure,
  openBudgetTestbed,
  spend,
  type BudgetTestbed,
} from "../kit/budget-testbed.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Budgets of turns and agents.

let testbed: BudgetTestbed;

beforeAll(async () => {
  testbed = await openBudgetTestbed();
});

afterAll(() => testbed?.stop());

test("a token budget ends the turn after the call that exceeds it, and no message is lost", async () => {
  const agent = await testbed.newAgent({ budget: { tokens: 1000 } });
  const budgetStatus: BudgetStatus = {
    level: "turn",
    kind: "tokens",
    per: "turn",
    limit: 1000,
    spent: 1200,
    reserved: 0,
  };
  expect(await captureFailure(agent, "loop 400")).toEqual({
    code: "budget",
    message: "The turn has used 1200 of the 1000 tokens that its budget allows.",
    advice: "Say “continue” to start another turn, or raise config.budget.tokens in the blueprint.",
    budget: budgetStatus,
  });
  expect(await countModelCalls(agent)).toBe(3);
  // The next turn has the full budget again and knows the conversation.
  expect(await captureFailure(agent, "say 900")).toBeUndefined();
  expect((await agent.messages()).filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
    "loop 400",
    "say 900",
  ]);
  const { body } = await testbed.api(`${agent.at}/state`);
  expect(body.run.status).toBe("completed");
});

test("a turn that resumes after a crash keeps what it has spent", async () => {
  const agent = await testbed.newAgent({ budget: { tokens: 1000, steps: 100 } });
  const titles = ["first title", "second title"];
  testbed.server.answer((request) => {
    const title = titles.shift();
    if (title) return { ...spend(request), toolCalls: [{ name: "set_title", input: { title } }] };
    return { ...spend(request), fault: { kind: "stall", phase: "before" } };
  });
  const { runId } = await agent.invoke({ message: "loop 400" });
  await waitUntil("the third call", async () => (await countModelCalls(agent)) === 3);
  testbed.server.answer(spend);
  await testbed.base.killMain();
  testbed.server.release();
  await waitUntil("main", async () => (await testbed.api("/health")).status === 200);
  expect(await agent.waitForEnd(runId)).toMatchObject({
    type: "agent.error",
    data: { code: "budget", budget: { level: "turn", kind: "tokens", spent: 1200 } },
  });
  expect((await testbed.api(`${agent.at}/usage`)).body.total.calls).toBe(3);
});

test("a blueprint's step limit is a budget; the host's own step limit is not", async () => {
  const few = await testbed.newAgent({ budget: { steps: 2 } });
  expect(await captureFailure(few, "loop")).toMatchObject({
    code: "budget",
    budget: { kind: "steps", spent: 2, limit: 2 },
  });
  expect(await countModelCalls(few)).toBe(2);
  const many = await testbed.newAgent({ budget: { steps: 8 } });
  expect(await captureFailure(many, "loop")).toMatchObject({ code: "budget", budget: { spent: 8, limit: 8 } });
  const withoutBudget = await testbed.newAgent();
  expect(await captureFailure(withoutBudget, "loop")).toMatchObject({ code: "steps" });
  expect(await countModelCalls(withoutBudget)).toBe(5);
});

test("a cost budget ends the turn, and no call is made if the model's price is unknown", async () => {
  const agent = await testbed.newAgent({ budget: { costUsd: 0.5 } });
  expect(await captureFailure(agent, "loop 300")).toMatchObject({
    code: "budget",
    message: "The turn has used $0.60 of the $0.50 that its budget allows.",
    budget: { kind: "costUsd", spent: 0.6, limit: 0.5 },
  });
  const unpriced = await testbed.newAgent({ budget: { agent: { costUsd: 5 } }, model: "local:nobody-knows" });
  const failure = await captureFailure(unpriced, "say 1");
  expect(failure).toMatchObject({ code: "budget", budget: { level: "agent", kind: "costUsd", spent: 0 } });
  expect(failure?.message).toBe(
    "The price of local:nobody-knows is unknown, so the agent's cost limit cannot be enforced.",
  );
  expect(failure?.advice).toContain("“prices” in config.jsonc");
  expect(await countModelCalls(unpriced)).toBe(0);
  const counted = await testbed.newAgent({ budget: { tokens: 5000 }, model: "local:nobody-knows" });
  expect(await captureFailure(counted, "say 1")).toBeUndefined();
});

test("a token budget ends the turn if the provider does not report usage", async () => {
  const agent = await testbed.newAgent({ budget: { tokens: 5000 } });
  expect(await captureFailure(agent, "loop 0")).toMatchObject({
    code: "budget",
    message: expect.stringContaining("does not report token usage"),
  });
  expect(await countModelCalls(agent)).toBe(1);
  const steps = await testbed.newAgent({ budget: { steps: 3 } });
  expect(await captureFailure(steps, "loop 0")).toMatchObject({ budget: { kind: "steps" } });
});

test("a time budget ends the turn in the middle of a tool or model call", async () => {
  for (const message of ["wait", "stall"]) {
    const agent = await testbed.newAgent({ budget: { seconds: 1 } });
    expect(await captureFailure(agent, message)).toMatchObject({
      code: "budget",
      budget: { level: "turn", kind: "seconds", limit: 1 },
    });
  }
  testbed.server.release();
});

test("an agent's budget counts all its turns, including cleared ones", async () => {
  const agent = await testbed.newAgent({ budget: { agent: { tokens: 1000 } } });
  expect(await captureFailure(agent, "say 600")).toBeUndefined();
  await testbed.api(`${agent.at}/messages`, "DELETE");
  expect(await captureFailure(agent, "say 600")).toBeUndefined();
  const failure = await captureFailure(agent, "say 1");
  expect(failure).toMatchObject({ code: "budget", budget: { level: "agent", per: "ever", spent: 1200, limit: 1000 } });
  expect(failure?.advice).toBe("Raise config.budget.agent.tokens in the blueprint.");
  expect((await testbed.api(`${agent.at}/usage`)).body.budget).toEqual([failure?.budget]);
  // Raising the limit takes effect at once.
  await testbed.put(
    "/agency/global/blueprints",
    { name: agent.name, config: { budget: { agent: { tokens: 2000, per: "day" } } } },
    "POST",
  );
  expect(await captureFailure(agent, "say 1")).toBeUndefined();
});

test("an agent whose blueprint is deleted still reports its usage, and its turn continues", async () => {
  const agent = await testbed.newAgent({ budget: { tokens: 5000, agent: { tokens: 9000 } } });
  testbed.server.answer((request) => ({
    ...spend(request),
    ...(request.results.length === 0 ? { fault: { kind: "stall" as const, phase: "before" as const } } : {}),
  }));
  const { runId } = await agent.invoke({ message: "ask 100" });
  await waitUntil("the call", async () => (await countModelCalls(agent)) === 1);
  expect((await testbed.api(`${agent.at}/usage`)).body.budget).toMatchObject([{ level: "agent", limit: 9000 }]);
  expect((await testbed.api(`/agency/global/blueprints/${agent.name}`, "DELETE")).status).toBe(204);
  testbed.server.answer(spend);
  testbed.server.release();
  expect(await agent.waitForEnd(runId)).toMatchObject({ type: "agent.completed" });
  expect((await testbed.api(`${agent.at}/usage`)).body).toMatchObject({ total: { calls: 3 }, budget: [] });
});

test("a step that needs the vision model is rejected if its price is unknown", async () => {
  const agent = await testbed.newAgent({ budget: { costUsd: 5 }, models: { vision: "local:nobody-knows" } });
  expect(await captureFailure(agent, "say 10")).toBeUndefined();
  const picture = { mediaType: "image/png", data: "iVBORw0KGgo=" };
  const { runId } = await agent.invoke({ message: "say 10", attachments: [picture] });
  expect(await agent.waitForEnd(runId)).toMatchObject({
    type: "agent.error",
    data: { code: "budget", error: expect.stringContaining("The price of local:nobody-knows is unknown") },
  });
  expect((await testbed.api(`${agent.at}/usage`)).body.total.calls).toBe(1);
});

test("model calls outside the conversation count toward budgets and are rejected like any other", async () => {
  const agent = await testbed.newAgent({ budget: { steps: 2 } });
  // The first call requests the tool, the tool calls the model, and no step is left for the final response.
  expect(await captureFailure(agent, "ask 100")).toMatchObject({ budget: { kind: "steps", spent: 2 } });
  expect((await testbed.api(`${agent.at}/usage`)).body.total).toMatchObject({
    calls: 2,
    inputTokens: 880,
    outputTokens: 220,
  });
  const tight = await testbed.newAgent({ budget: { tokens: 90 } });
  expect(await captureFailure(tight, "ask 100")).toMatchObject({ budget: { kind: "tokens", spent: 100 } });
  const result = (await tight.messages()).find(({ role }) => role === "tool");
  expect(result?.content).toContain("The turn has used 100 of the 90 tokens");
  const agency = await testbed.newAgency({ tokens: 1050 });
  const metered = await testbed.newAgent({ agency });
  expect(await captureFailure(metered, "ask 100")).toMatchObject({
    budget: { level: "agency", spent: 1100, reserved: 0 },
  });
});
