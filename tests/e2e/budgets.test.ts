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

// What a turn and an agent may spend.

let house: BudgetTestbed;

beforeAll(async () => {
  house = await openBudgetTestbed();
});

afterAll(() => house?.stop());

test("a turn's tokens end it after the call that used them up, and nothing said is lost", async () => {
  const agent = await house.newAgent({ budget: { tokens: 1000 } });
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
    advice: "Say “go on” for another turn, or raise config.budget.tokens in the blueprint.",
    budget: budgetStatus,
  });
  expect(await countModelCalls(agent)).toBe(3);
  // The next turn has the whole of it again, and knows what was said.
  expect(await captureFailure(agent, "say 900")).toBeUndefined();
  expect((await agent.messages()).filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
    "loop 400",
    "say 900",
  ]);
  const { body } = await house.api(`${agent.at}/state`);
  expect(body.run.status).toBe("completed");
});

test("a turn that goes on after a crash has spent what it had spent before", async () => {
  const agent = await house.newAgent({ budget: { tokens: 1000, steps: 100 } });
  const titles = ["first title", "second title"];
  house.server.answer((request) => {
    const title = titles.shift();
    if (title) return { ...spend(request), toolCalls: [{ name: "set_title", input: { title } }] };
    return { ...spend(request), fault: { kind: "stall", phase: "before" } };
  });
  const { runId } = await agent.invoke({ message: "loop 400" });
  await waitUntil("the third call", async () => (await countModelCalls(agent)) === 3);
  house.server.answer(spend);
  await house.workshop.killMain();
  house.server.release();
  await waitUntil("main", async () => (await house.api("/health")).status === 200);
  expect(await agent.over(runId)).toMatchObject({
    type: "agent.error",
    data: { code: "budget", budget: { level: "turn", kind: "tokens", spent: 1200 } },
  });
  expect((await house.api(`${agent.at}/usage`)).body.total.calls).toBe(3);
});

test("a blueprint's steps are a budget, the host's own are not", async () => {
  const few = await house.newAgent({ budget: { steps: 2 } });
  expect(await captureFailure(few, "loop")).toMatchObject({
    code: "budget",
    budget: { kind: "steps", spent: 2, limit: 2 },
  });
  expect(await countModelCalls(few)).toBe(2);
  const many = await house.newAgent({ budget: { steps: 8 } });
  expect(await captureFailure(many, "loop")).toMatchObject({ code: "budget", budget: { spent: 8, limit: 8 } });
  const usual = await house.newAgent();
  expect(await captureFailure(usual, "loop")).toMatchObject({ code: "steps" });
  expect(await countModelCalls(usual)).toBe(5);
});

test("a turn's cost ends it, and where nobody knows the price no call is made", async () => {
  const agent = await house.newAgent({ budget: { costUsd: 0.5 } });
  expect(await captureFailure(agent, "loop 300")).toMatchObject({
    code: "budget",
    message: "The turn has used $0.60 of the $0.50 that its budget allows.",
    budget: { kind: "costUsd", spent: 0.6, limit: 0.5 },
  });
  const unknown = await house.newAgent({ budget: { agent: { costUsd: 5 } }, model: "local:nobody-knows" });
  const refused = await captureFailure(unknown, "say 1");
  expect(refused).toMatchObject({ code: "budget", budget: { level: "agent", kind: "costUsd", spent: 0 } });
  expect(refused?.message).toBe(
    "The price of local:nobody-knows is not known, so the agent's limit of cost cannot be kept.",
  );
  expect(refused?.advice).toContain("“prices” in config.jsonc");
  expect(await countModelCalls(unknown)).toBe(0);
  const counted = await house.newAgent({ budget: { tokens: 5000 }, model: "local:nobody-knows" });
  expect(await captureFailure(counted, "say 1")).toBeUndefined();
});

test("where the provider does not say what a call used, a limit of tokens ends the turn", async () => {
  const agent = await house.newAgent({ budget: { tokens: 5000 } });
  expect(await captureFailure(agent, "loop 0")).toMatchObject({
    code: "budget",
    message: expect.stringContaining("does not say how many tokens"),
  });
  expect(await countModelCalls(agent)).toBe(1);
  const steps = await house.newAgent({ budget: { steps: 3 } });
  expect(await captureFailure(steps, "loop 0")).toMatchObject({ budget: { kind: "steps" } });
});

test("a turn's time ends it in the middle of a tool and of a call", async () => {
  for (const message of ["wait", "stall"]) {
    const agent = await house.newAgent({ budget: { seconds: 1 } });
    expect(await captureFailure(agent, message)).toMatchObject({
      code: "budget",
      budget: { level: "turn", kind: "seconds", limit: 1 },
    });
  }
  house.server.release();
});

test("an agent's budget counts all its turns, also those that were cleared away", async () => {
  const agent = await house.newAgent({ budget: { agent: { tokens: 1000 } } });
  expect(await captureFailure(agent, "say 600")).toBeUndefined();
  await house.api(`${agent.at}/messages`, "DELETE");
  expect(await captureFailure(agent, "say 600")).toBeUndefined();
  const refused = await captureFailure(agent, "say 1");
  expect(refused).toMatchObject({ code: "budget", budget: { level: "agent", per: "ever", spent: 1200, limit: 1000 } });
  expect(refused?.advice).toBe("Raise config.budget.agent.tokens in the blueprint.");
  expect((await house.api(`${agent.at}/usage`)).body.budget).toEqual([refused?.budget]);
  // Raised, it goes on at once.
  await house.put(
    "/agency/global/blueprints",
    { name: agent.name, config: { budget: { agent: { tokens: 2000, per: "day" } } } },
    "POST",
  );
  expect(await captureFailure(agent, "say 1")).toBeUndefined();
});

test("an agent whose blueprint is deleted tells what it has used, and its turn goes on", async () => {
  const agent = await house.newAgent({ budget: { tokens: 5000, agent: { tokens: 9000 } } });
  house.server.answer((request) => ({
    ...spend(request),
    ...(request.results.length === 0 ? { fault: { kind: "stall" as const, phase: "before" as const } } : {}),
  }));
  const { runId } = await agent.invoke({ message: "ask 100" });
  await waitUntil("the call", async () => (await countModelCalls(agent)) === 1);
  expect((await house.api(`${agent.at}/usage`)).body.budget).toMatchObject([{ level: "agent", limit: 9000 }]);
  expect((await house.api(`/agency/global/blueprints/${agent.name}`, "DELETE")).status).toBe(204);
  house.server.answer(spend);
  house.server.release();
  expect(await agent.over(runId)).toMatchObject({ type: "agent.completed" });
  expect((await house.api(`${agent.at}/usage`)).body).toMatchObject({ total: { calls: 3 }, budget: [] });
});

test("a step that another model looks at is refused where its price is not known", async () => {
  const agent = await house.newAgent({ budget: { costUsd: 5 }, models: { vision: "local:nobody-knows" } });
  expect(await captureFailure(agent, "say 10")).toBeUndefined();
  const picture = { mediaType: "image/png", data: "iVBORw0KGgo=" };
  const { runId } = await agent.invoke({ message: "say 10", attachments: [picture] });
  expect(await agent.over(runId)).toMatchObject({
    type: "agent.error",
    data: { code: "budget", error: expect.stringContaining("The price of local:nobody-knows is not known") },
  });
  expect((await house.api(`${agent.at}/usage`)).body.total.calls).toBe(1);
});

test("questions beside the conversation are counted, and refused like every other call", async () => {
  const agent = await house.newAgent({ budget: { steps: 2 } });
  // The first call asks for the tool, the tool asks the model, and then there is nothing left for the answer.
  expect(await captureFailure(agent, "ask 100")).toMatchObject({ budget: { kind: "steps", spent: 2 } });
  expect((await house.api(`${agent.at}/usage`)).body.total).toMatchObject({
    calls: 2,
    inputTokens: 880,
    outputTokens: 220,
  });
  const tight = await house.newAgent({ budget: { tokens: 90 } });
  expect(await captureFailure(tight, "ask 100")).toMatchObject({ budget: { kind: "tokens", spent: 100 } });
  const result = (await tight.messages()).find(({ role }) => role === "tool");
  expect(result?.content).toContain("The turn has used 100 of the 90 tokens");
  const agency = await house.newAgency({ tokens: 1050 });
  const metered = await house.newAgent({ agency });
  expect(await captureFailure(metered, "ask 100")).toMatchObject({
    budget: { level: "agency", spent: 1100, reserved: 0 },
  });
});
