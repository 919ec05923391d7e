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

// Budgets shared by the agents of an agency or of a user.

let testbed: BudgetTestbed;

beforeAll(async () => {
  testbed = await openBudgetTestbed();
});

afterAll(() => testbed?.stop());

test("an agency's budget applies to all its agents together, and the error says how to raise it", async () => {
  const agency = await testbed.newAgency({ tokens: 1000 });
  const [one, other] = [await testbed.newAgent({ agency }), await testbed.newAgent({ agency })];
  expect(await captureFailure(one, "say 700")).toBeUndefined();
  expect(await captureFailure(other, "say 700")).toBeUndefined();
  const failure = await captureFailure(one, "say 1");
  expect(failure).toEqual({
    code: "budget",
    message: `The agency “${agency}” has used 1400 of the 1000 tokens that its budget allows.`,
    advice: `Raise it with \`thinkery budget set @${agency} --tokens …\`.`,
    budget: { level: "agency", kind: "tokens", per: "ever", limit: 1000, spent: 1400, reserved: 0 },
  });
  expect(await countModelCalls(one)).toBe(1);
  expect((await testbed.api(`${one.at}/usage`)).body.budget).toEqual([failure?.budget]);
  await testbed.put(`/agency/${agency}/budget`, { tokens: 3000, per: "day" });
  expect(await captureFailure(one, "say 1")).toBeUndefined();
  await testbed.put(`/agency/${agency}/budget`, { steps: 1 });
  expect(await captureFailure(one, "say 1")).toMatchObject({ code: "budget", budget: { kind: "steps" } });
  await testbed.api(`/agency/${agency}/budget`, "DELETE");
  expect(await captureFailure(one, "say 1")).toBeUndefined();
});

test("a turn that reaches a limit with its own calls ends before the next call, at every level", async () => {
  const steps = { steps: 100 };
  const agency = await testbed.newAgency({ tokens: 1000 });
  const levels: [string, () => Promise<TestAgent>][] = [
    ["agent", () => testbed.newAgent({ budget: { ...steps, agent: { tokens: 1000 } } })],
    ["agency", () => testbed.newAgent({ agency, budget: steps })],
    [
      "user",
      async () => {
        const total = (await testbed.api("/user/usage")).body.total;
        await testbed.put("/user/budget", { tokens: total.inputTokens + total.outputTokens + 1000 });
        return testbed.newAgent({ budget: steps });
      },
    ],
  ];
  try {
    for (const [level, createAgent] of levels) {
      const agent = await createAgent();
      expect(await captureFailure(agent, "loop 400")).toMatchObject({
        code: "budget",
        budget: { level, kind: "tokens", reserved: 0 },
      });
      expect([level, await countModelCalls(agent)]).toEqual([level, 3]);
    }
  } finally {
    await testbed.api("/user/budget", "DELETE");
  }
});

test("usage that a crash kept from being reported is reported after it, without a request to the agent", async () => {
  for (const budget of [undefined, { tokens: 1_000_000 }]) {
    const agency = await testbed.newAgency(budget);
    const agent = await testbed.newAgent({ agency });
    for (let turn = 1; turn <= 3; turn++) {
      await agent.say("say 100");
      await testbed.base.killMain();
      const countCalls = async () => (await testbed.api(`/agency/${agency}/usage`)).body.total.calls;
      await waitUntil("the agency to count it", async () => (await countCalls()) === turn);
      const readStatuses = async () => (await testbed.api(`/agency/${agency}/budget`)).body.statuses as BudgetStatus[];
      await waitUntil("no reservation to be left", async () =>
        (await readStatuses()).every(({ reserved }) => reserved === 0),
      );
    }
  }
});

test("a failed call releases its reservation, a running call holds it", async () => {
  const agency = await testbed.newAgency({ tokens: 500 });
  const [one, other, failing] = [
    await testbed.newAgent({ agency }),
    await testbed.newAgent({ agency }),
    await testbed.newAgent({ agency }),
  ];
  const readBudgetStatus = async (): Promise<BudgetStatus> =>
    (await testbed.api(`/agency/${agency}/budget`)).body.statuses[0];
  expect(await captureFailure(failing, "fail")).toMatchObject({ code: "model_refused" });
  await waitUntil("no reservation to be left", async () => (await readBudgetStatus()).reserved === 0);
  expect(await readBudgetStatus()).toMatchObject({ spent: 0, reserved: 0 });
  const { runId } = await one.invoke({ message: "stall 100" });
  await waitUntil("a reservation", async () => (await readBudgetStatus()).reserved > 0);
  const failure = await captureFailure(other, "say 1");
  expect(failure).toMatchObject({ code: "budget", budget: { spent: 0, reserved: 500 } });
  expect(failure?.message).toContain("and 500 more is reserved for calls in progress");
  // A canceled call releases its reservation, too.
  await one.cancel({ runId });
  testbed.server.release();
  await waitUntil("the reservation to be released", async () => (await readBudgetStatus()).reserved === 0);
  expect(await captureFailure(other, "say 1")).toBeUndefined();
});

test("a budget that is set while a turn runs applies to its next step", async () => {
  const agency = await testbed.newAgency();
  const agent = await testbed.newAgent({ agency, budget: { steps: 100 } });
  let isStalled = true;
  testbed.server.answer((request) =>
    request.latest === "loop 50" && isStalled
      ? { ...spend(request), fault: { kind: "stall", phase: "before" } }
      : spend(request),
  );
  const { runId } = await agent.invoke({ message: "loop 50" });
  await waitUntil("the call", async () => (await countModelCalls(agent)) === 1);
  await testbed.put(`/agency/${agency}/budget`, { steps: 2 });
  isStalled = false;
  testbed.server.release();
  const end = await agent.waitForEnd(runId);
  testbed.server.answer(spend);
  expect(end).toMatchObject({
    type: "agent.error",
    data: { code: "budget", budget: { level: "agency", kind: "steps", spent: 2, limit: 2 } },
  });
});

test("a user's budget applies to all their agencies, also to one that is created later", async () => {
  const [first, second] = [await testbed.newAgency(), await testbed.newAgency()];
  const [one, other] = [await testbed.newAgent({ agency: first }), await testbed.newAgent({ agency: second })];
  const before = (await testbed.api("/user/usage")).body.total;
  const spent = before.inputTokens + before.outputTokens;
  await testbed.put("/user/budget", { tokens: spent + 1000 });
  try {
    expect(await captureFailure(one, "say 700")).toBeUndefined();
    expect(await captureFailure(other, "say 700")).toBeUndefined();
    const failure = await captureFailure(one, "say 1");
    expect(failure).toMatchObject({
      code: "budget",
      budget: { level: "user", kind: "tokens", limit: spent + 1000, spent: spent + 1400, reserved: 0 },
    });
    expect(failure?.advice).toBe("Raise it with `thinkery budget set --tokens …`.");
    const later = await testbed.newAgent({ agency: await testbed.newAgency() });
    expect(await captureFailure(later, "say 1")).toMatchObject({ code: "budget", budget: { level: "user" } });
    // The narrower limit is reported first.
    await testbed.put(`/agency/${first}/budget`, { tokens: 1 });
    expect(await captureFailure(one, "say 1")).toMatchObject({ budget: { level: "agency" } });
    expect((await testbed.api(`${one.at}/usage`)).body.budget.map(({ level }: BudgetStatus) => level)).toEqual([
      "agency",
      "user",
    ]);
  } finally {
    expect((await testbed.api("/user/budget", "DELETE")).status).toBe(204);
  }
  expect(await captureFailure(other, "say 1")).toBeUndefined();
});

test("an agency's cost limit refuses a model of unknown price before its first call", async () => {
  const agency = await testbed.newAgency({ costUsd: 10 });
  const agent = await testbed.newAgent({ agency, model: "local:nobody-knows" });
  expect(await captureFailure(agent, "say 1")).toMatchObject({
    code: "budget",
    message: expect.stringContaining("so the agency's cost limit cannot be enforced"),
    budget: { level: "agency" },
  });
  expect(await countModelCalls(agent)).toBe(0);
});
