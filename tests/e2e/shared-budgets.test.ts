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
import type { TestAgent } from "../kit/worker/testbed.ts";

// What agents together may spend: those of an agency, and those of a user.

let house: BudgetTestbed;

beforeAll(async () => {
  house = await openBudgetTestbed();
});

afterAll(() => house?.stop());

test("an agency's budget holds for all its agents together, and what raises it is said", async () => {
  const agency = await house.newAgency({ tokens: 1000 });
  const [one, other] = [await house.newAgent({ agency }), await house.newAgent({ agency })];
  expect(await captureFailure(one, "say 700")).toBeUndefined();
  expect(await captureFailure(other, "say 700")).toBeUndefined();
  const refused = await captureFailure(one, "say 1");
  expect(refused).toEqual({
    code: "budget",
    message: `The agency “${agency}” has used 1400 of the 1000 tokens that its budget allows.`,
    advice: `Raise it with \`thinkery budget set @${agency} --tokens …\`.`,
    budget: { level: "agency", kind: "tokens", per: "ever", limit: 1000, spent: 1400, reserved: 0 },
  });
  expect(await countModelCalls(one)).toBe(1);
  expect((await house.api(`${one.at}/usage`)).body.budget).toEqual([refused?.budget]);
  await house.put(`/agency/${agency}/budget`, { tokens: 3000, per: "day" });
  expect(await captureFailure(one, "say 1")).toBeUndefined();
  await house.put(`/agency/${agency}/budget`, { steps: 1 });
  expect(await captureFailure(one, "say 1")).toMatchObject({ code: "budget", budget: { kind: "steps" } });
  await house.api(`/agency/${agency}/budget`, "DELETE");
  expect(await captureFailure(one, "say 1")).toBeUndefined();
});

test("a limit that a turn's own calls reach ends it before the next, whoever set it", async () => {
  const steps = { steps: 100 };
  const agency = await house.newAgency({ tokens: 1000 });
  const ways: [string, () => Promise<TestAgent>][] = [
    ["agent", () => house.newAgent({ budget: { ...steps, agent: { tokens: 1000 } } })],
    ["agency", () => house.newAgent({ agency, budget: steps })],
    [
      "user",
      async () => {
        const own = (await house.api("/user/usage")).body.total;
        await house.put("/user/budget", { tokens: own.inputTokens + own.outputTokens + 1000 });
        return house.newAgent({ budget: steps });
      },
    ],
  ];
  try {
    for (const [level, make] of ways) {
      const agent = await make();
      expect(await captureFailure(agent, "loop 400")).toMatchObject({
        code: "budget",
        budget: { level, kind: "tokens", reserved: 0 },
      });
      expect([level, await countModelCalls(agent)]).toEqual([level, 3]);
    }
  } finally {
    await house.api("/user/budget", "DELETE");
  }
});

test("what a crash kept from being told is told after it, though nobody asks the agent", async () => {
  for (const budget of [undefined, { tokens: 1_000_000 }]) {
    const agency = await house.newAgency(budget);
    const agent = await house.newAgent({ agency });
    for (let turn = 1; turn <= 3; turn++) {
      await agent.say("say 100");
      await house.workshop.killMain();
      const calls = async () => (await house.api(`/agency/${agency}/usage`)).body.total.calls;
      await waitUntil("the agency to hear of it", async () => (await calls()) === turn);
      const statuses = async () => (await house.api(`/agency/${agency}/budget`)).body.statuses as BudgetStatus[];
      await waitUntil("nothing to be set aside", async () =>
        (await statuses()).every(({ reserved }) => reserved === 0),
      );
    }
  }
});

test("a call that failed gives back what was set aside, and a call under way holds it", async () => {
  const agency = await house.newAgency({ tokens: 500 });
  const [one, other, failing] = [
    await house.newAgent({ agency }),
    await house.newAgent({ agency }),
    await house.newAgent({ agency }),
  ];
  const budgetStatus = async (): Promise<BudgetStatus> =>
    (await house.api(`/agency/${agency}/budget`)).body.statuses[0];
  expect(await captureFailure(failing, "fail")).toMatchObject({ code: "model_refused" });
  await waitUntil("nothing to be set aside", async () => (await budgetStatus()).reserved === 0);
  expect(await budgetStatus()).toMatchObject({ spent: 0, reserved: 0 });
  const { runId } = await one.invoke({ message: "stall 100" });
  await waitUntil("something to be set aside", async () => (await budgetStatus()).reserved > 0);
  const refused = await captureFailure(other, "say 1");
  expect(refused).toMatchObject({ code: "budget", budget: { spent: 0, reserved: 500 } });
  expect(refused?.message).toContain("and 500 more is set aside for calls under way");
  // Canceled, it holds nothing either.
  await one.cancel({ runId });
  house.server.release();
  await waitUntil("room again", async () => (await budgetStatus()).reserved === 0);
  expect(await captureFailure(other, "say 1")).toBeUndefined();
});

test("a budget that is set while a turn runs holds for its next step", async () => {
  const agency = await house.newAgency();
  const agent = await house.newAgent({ agency, budget: { steps: 100 } });
  let held = true;
  house.server.answer((request) =>
    request.latest === "loop 50" && held
      ? { ...spend(request), fault: { kind: "stall", phase: "before" } }
      : spend(request),
  );
  const { runId } = await agent.invoke({ message: "loop 50" });
  await waitUntil("the call", async () => (await countModelCalls(agent)) === 1);
  await house.put(`/agency/${agency}/budget`, { steps: 2 });
  held = false;
  house.server.release();
  const end = await agent.over(runId);
  house.server.answer(spend);
  expect(end).toMatchObject({
    type: "agent.error",
    data: { code: "budget", budget: { level: "agency", kind: "steps", spent: 2, limit: 2 } },
  });
});

test("a user's budget holds over all their agencies, also over one that is made later", async () => {
  const [first, second] = [await house.newAgency(), await house.newAgency()];
  const [one, other] = [await house.newAgent({ agency: first }), await house.newAgent({ agency: second })];
  const before = (await house.api("/user/usage")).body.total;
  const spent = before.inputTokens + before.outputTokens;
  await house.put("/user/budget", { tokens: spent + 1000 });
  try {
    expect(await captureFailure(one, "say 700")).toBeUndefined();
    expect(await captureFailure(other, "say 700")).toBeUndefined();
    const refused = await captureFailure(one, "say 1");
    expect(refused).toMatchObject({
      code: "budget",
      budget: { level: "user", kind: "tokens", limit: spent + 1000, spent: spent + 1400, reserved: 0 },
    });
    expect(refused?.advice).toBe("Raise it with `thinkery budget set --tokens …`.");
    const later = await house.newAgent({ agency: await house.newAgency() });
    expect(await captureFailure(later, "say 1")).toMatchObject({ code: "budget", budget: { level: "user" } });
    // The narrower limit is told first.
    await house.put(`/agency/${first}/budget`, { tokens: 1 });
    expect(await captureFailure(one, "say 1")).toMatchObject({ budget: { level: "agency" } });
    expect((await house.api(`${one.at}/usage`)).body.budget.map(({ level }: BudgetStatus) => level)).toEqual([
      "agency",
      "user",
    ]);
  } finally {
    expect((await house.api("/user/budget", "DELETE")).status).toBe(204);
  }
  expect(await captureFailure(other, "say 1")).toBeUndefined();
});

test("a cost limit of the agency refuses a model whose price nobody knows, before its call", async () => {
  const agency = await house.newAgency({ costUsd: 10 });
  const agent = await house.newAgent({ agency, model: "local:nobody-knows" });
  expect(await captureFailure(agent, "say 1")).toMatchObject({
    code: "budget",
    message: expect.stringContaining("so the agency's limit of cost cannot be kept"),
    budget: { level: "agency" },
  });
  expect(await countModelCalls(agent)).toBe(0);
});
