import type { Subagent } from "@thinkery/sdk";
import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { captureFailure, openBudgetTestbed, spend, type BudgetTestbed } from "../kit/budget-testbed.ts";
import type { Answer, RecordedRequest } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";
import type { TestAgent } from "../kit/worker/testbed.ts";

// What sub-agents spend counts against the budgets of the agents above them.

let testbed: BudgetTestbed;
/** The model server's own count of completed answers. */
let served = { calls: 0, tokens: 0 };

beforeAll(async () => {
  testbed = await openBudgetTestbed();
});

beforeEach(() => {
  served = { calls: 0, tokens: 0 };
  testbed.server.answer(delegateOrSpend);
});

afterAll(() => testbed?.stop());

/** “delegate 2: say 100” starts two sub-agents with this message, “delegate 2 x: say 100” two of type x. */
function answer(request: RecordedRequest): Answer {
  const [, count, type, message = ""] = /^delegate (\d+)(?: ([\w-]+))?: (.*)$/s.exec(request.latest) ?? [];
  if (count === undefined) return spend(request);
  const usage = { input: 80, output: 20 };
  if (request.results.length > 0) return { text: request.results.map(({ content }) => content).join("\n"), usage };
  const call = { name: "task", input: { description: message, ...(type ? { subagentType: type } : {}) } };
  return { toolCalls: Array.from({ length: Number(count) }, () => call), usage };
}

function delegateOrSpend(request: RecordedRequest): Answer {
  const response = answer(request);
  const { usage } = response;
  if (usage && !response.fault) {
    served.calls++;
    served.tokens += (usage.input ?? 0) + (usage.output ?? 0);
  }
  return response;
}

const list = async (at: string): Promise<Subagent[]> => (await testbed.api(`${at}/subagents`)).body.subagents;
const readUsage = async (at: string) => (await testbed.api(`${at}/usage`)).body;
const sumTokens = ({ inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }) =>
  inputTokens + outputTokens;

/** Returns what an agent and its sub-agents have spent, as the agent knows it. */
async function readAll(agent: TestAgent): Promise<{ calls: number; tokens: number }> {
  const { total, subagents } = await readUsage(agent.at);
  return {
    calls: total.calls + (subagents?.calls ?? 0),
    tokens: sumTokens(total) + (subagents ? sumTokens(subagents) : 0),
  };
}

test("the calls of sub-agents count against the turn that delegated, and its figures include them", async () => {
  const agent = await testbed.newAgent({ budget: { steps: 20, tokens: 5000, agent: { tokens: 9000 } } });
  const { body } = await testbed.api("/serve", "POST", { agent: agent.name, message: "delegate 3: say 200" });
  expect(served).toEqual({ calls: 5, tokens: 800 });
  expect(body.usage).toMatchObject({ inputTokens: 640, outputTokens: 160, costUsd: 0.8 });
  expect(await readAll(agent)).toEqual(served);
  const usage = await readUsage(agent.at);
  expect(usage).toMatchObject({ total: { calls: 2 }, subagents: { calls: 3, inputTokens: 480, costUsd: 0.6 } });
  expect(usage.budget).toMatchObject([{ level: "agent", kind: "tokens", spent: 800, reserved: 0 }]);
  expect((await list(agent.at)).map(({ usage }) => usage)).toEqual(
    [1, 2, 3].map(() => ({ calls: 1, inputTokens: 160, outputTokens: 40, costUsd: 0.2 })),
  );
  // The client computes the same from the log.
  const run = createClient({ url: testbed.base.host().url, token: testbed.base.host().token }).agent(agent.name);
  expect(await (await run.send("delegate 2: say 100")).outcome()).toMatchObject({ usage: { inputTokens: 320 } });
});

test("without a budget nothing is leased", async () => {
  const agent = await testbed.newAgent();
  expect(await captureFailure(agent, "delegate 2: say 100")).toBeUndefined();
  expect((await agent.log()).filter(({ type }) => type === "subagent.spent")).toEqual([]);
  expect(await readAll(agent)).toEqual(served);
});

test("sub-agents that work at the same time never make a call too many, and each says whose budget is used up", async () => {
  const agent = await testbed.newAgent({ budget: { steps: 10 } });
  const failure = await captureFailure(agent, "delegate 8: loop 50");
  expect(failure).toMatchObject({ code: "budget", budget: { level: "turn", kind: "steps", spent: 10, limit: 10 } });
  expect(served.calls).toBe(10);
  expect(await readAll(agent)).toEqual(served);
  const subagents = await list(agent.at);
  expect(subagents).toHaveLength(8);
  const message = `The turn of “${agent.name}”, which delegated this, has used 10 of the 10 calls that its budget allows.`;
  for (const { status, error } of subagents) expect([status, error]).toEqual(["failed", message]);
  const child = testbed.base.agentAt(`${agent.at}/sub/${subagents[0]?.facetName}`, "child");
  expect((await child.log()).find(({ type }) => type === "agent.error")?.data).toMatchObject({
    code: "budget",
    advice: `Raise config.budget.steps in the blueprint of “${agent.name}”.`,
    budget: { level: "turn", agent: `global~${agent.name}`, kind: "steps", spent: 10, limit: 10 },
  });
});

test("a call that fits once others have ended waits for them", async () => {
  // Each reserves 500 tokens and uses 100, so only two fit at a time.
  const agent = await testbed.newAgent({ budget: { tokens: 1150 } });
  expect(await captureFailure(agent, "delegate 8: say 100")).toBeUndefined();
  expect(served).toEqual({ calls: 10, tokens: 1000 });
  expect((await list(agent.at)).map(({ status }) => status)).toEqual(Array(8).fill("complete"));
  const tight = await testbed.newAgent({ budget: { tokens: 1150 } });
  served = { calls: 0, tokens: 0 };
  expect(await captureFailure(tight, "delegate 8: loop 100")).toMatchObject({ budget: { level: "turn", spent: 1200 } });
  // The call that exceeds it is the last one.
  expect(served.tokens).toBe(1200);
});

test("budgets bind everyone below, and each level counts what is below it", async () => {
  const agent = await testbed.newAgent({ budget: { steps: 12, agent: { steps: 1000 } } });
  const failure = await captureFailure(agent, "delegate 2: delegate 2: loop 50");
  expect(failure).toMatchObject({ budget: { level: "turn", kind: "steps", spent: 12 } });
  expect(served.calls).toBe(12);
  expect(await readAll(agent)).toEqual(served);
  let below = 0;
  for (const { facetName, usage } of await list(agent.at)) {
    const at = `${agent.at}/sub/${facetName}`;
    const child = await readAll(testbed.base.agentAt(at, facetName));
    expect(child).toEqual({ calls: usage?.calls, tokens: usage && sumTokens(usage) });
    below += child.calls;
    const [grandchild] = await list(at);
    expect(grandchild?.error).toContain(
      `The turn of “${agent.name}”, which delegated this, has used 12 of the 12 calls`,
    );
  }
  expect(below).toBe(11);
});

test("a sub-agent with a budget of its own ends within it, and its parent goes on", async () => {
  const type = await testbed.base.newBlueprint({ config: { budget: { steps: 4 } } });
  const agent = await testbed.newAgent({ budget: { steps: 50 } });
  const { body } = await testbed.api("/serve", "POST", {
    agent: agent.name,
    message: `delegate 1 ${type}: delegate 3: loop 50`,
  });
  expect(body.content).toContain("The sub-agent failed: The turn has used 4 of the 4 calls that its budget allows.");
  expect(served.calls).toBe(2 + 4);
  const [child] = await list(agent.at);
  const below = await list(`${agent.at}/sub/${child?.facetName}`);
  const name = `${agent.name}/${child?.facetName}`;
  for (const { error } of below)
    expect(error).toContain(`The turn of “${name}”, which delegated this, has used 4 of the 4`);
  expect(await readAll(agent)).toEqual(served);
});

test("an agent's budget counts its sub-agents in all turns, after they are deleted, and after a clear", async () => {
  const agent = await testbed.newAgent({ budget: { agent: { tokens: 1000 } } });
  expect(await captureFailure(agent, "delegate 1: say 300")).toBeUndefined();
  const [subagent] = await list(agent.at);
  const child = testbed.base.agentAt(`${agent.at}/sub/${subagent?.facetName}`, "child");
  // A conversation with the sub-agent is not part of the turn, but of the agent's budget.
  expect(await captureFailure(child, "say 200")).toBeUndefined();
  await waitUntil("the agent to know", async () => (await readUsage(agent.at)).budget[0].spent === 700);
  expect((await list(agent.at))[0]?.usage).toMatchObject({ calls: 1 });
  expect((await testbed.api(`${agent.at}/subagents/${subagent?.taskId}`, "DELETE")).status).toBe(204);
  expect((await testbed.api(`${agent.at}/messages`, "DELETE")).status).toBe(204);
  expect(await readAll(agent)).toEqual({ calls: 4, tokens: 700 });
  const failure = await captureFailure(agent, "delegate 1: loop 200");
  expect(failure).toMatchObject({ budget: { level: "agent", kind: "tokens", spent: 1000, limit: 1000 } });
  const [refused] = await list(agent.at);
  expect(refused?.error).toBe(
    `The agent “${agent.name}”, which delegated this, has used 1000 of the 1000 tokens that its budget allows.`,
  );
  expect(await readAll(agent)).toEqual(served);
  const later = testbed.base.agentAt(`${agent.at}/sub/${refused?.facetName}`, "child");
  expect(await captureFailure(later, "say 1")).toMatchObject({
    budget: { level: "agent", agent: `global~${agent.name}` },
  });
});

// Without a budget nothing is known before it stops.
test.each([{ budget: { tokens: 50_000 } }, {}])(
  "what a cancelled sub-agent spent is counted, with everyone below it: %o",
  async (options) => {
    for (const end of ["cancel", "delete"]) {
      served = { calls: 0, tokens: 0 };
      const agent = await testbed.newAgent(options);
      let isStalled = false;
      testbed.server.answer((request) => {
        if (request.latest !== "say 1000") return delegateOrSpend(request);
        isStalled = true;
        return { fault: { kind: "stall", phase: "before" } };
      });
      const { runId } = await agent.invoke({ message: "delegate 1: delegate 1: ask 100" });
      await waitUntil("a call that does not end", () => isStalled);
      expect(served.calls).toBe(3);
      const [subagent] = await list(agent.at);
      if (end === "cancel") await agent.cancel({ runId });
      else await testbed.api(`${agent.at}/subagents/${subagent?.taskId}`, "DELETE");
      await waitUntil("everything to be known", async () => (await readAll(agent)).calls === served.calls);
      expect([end, await readAll(agent)]).toEqual([end, served]);
      const [known] = await list(agent.at);
      expect([end, known?.status, known?.usage?.calls]).toEqual([end, "cancelled", 2]);
      testbed.server.release();
      testbed.server.answer(delegateOrSpend);
    }
  },
);

test("leases survive a crash of main, and the sums stay exact", async () => {
  const agent = await testbed.newAgent({ budget: { steps: 9, agent: { steps: 100 } } });
  let isStalled = true;
  testbed.server.answer((request) =>
    request.latest.startsWith("loop") && served.calls >= 5 && isStalled
      ? { fault: { kind: "stall", phase: "before" } }
      : delegateOrSpend(request),
  );
  const { runId } = await agent.invoke({ message: "delegate 3: loop 50" });
  await waitUntil("five calls", () => served.calls === 5);
  isStalled = false;
  await testbed.base.restartMain();
  testbed.server.release();
  expect(await agent.waitForEnd(runId, 30_000)).toMatchObject({
    type: "agent.error",
    data: { code: "budget", budget: { kind: "steps", spent: 9, limit: 9 } },
  });
  expect(await readAll(agent)).toEqual({ calls: 9, tokens: 500 });
  expect((await readUsage(agent.at)).budget).toMatchObject([{ level: "agent", spent: 9, reserved: 0 }]);
});

test("agency and user count each sub-agent, while it works and after it is deleted", async () => {
  const agency = await testbed.newAgency();
  const agent = await testbed.newAgent({ agency, budget: { steps: 50 } });
  testbed.server.answer((request) =>
    request.latest === "ask 100" && request.results.length > 0
      ? { ...spend(request), fault: { kind: "stall", phase: "before" } }
      : delegateOrSpend(request),
  );
  const { runId } = await agent.invoke({ message: "delegate 1: ask 100" });
  const readAgency = async () => (await testbed.api(`/agency/${agency}/usage`)).body;
  await waitUntil("the agency to count its calls while it works", async () => {
    const { byAgent } = await readAgency();
    return byAgent.some(({ agent: name, calls }: any) => name.startsWith(`${agent.name}/subagent-`) && calls === 2);
  });
  testbed.server.release();
  await agent.waitForEnd(runId);
  const [subagent] = await list(agent.at);
  const names = async () => (await readAgency()).byAgent.map(({ agent: name }: { agent: string }) => name);
  await waitUntil("all calls", async () => (await readAgency()).total.calls === 5);
  await testbed.api(`${agent.at}/subagents/${subagent?.taskId}`, "DELETE");
  expect((await readAgency()).total.calls).toBe(5);
  expect(await names()).toContain(`${agent.name}/${subagent?.facetName}`);
  await testbed.api(agent.at, "DELETE");
  expect((await readAgency()).total.calls).toBe(5);
  // Not the user's total: an agent of an earlier test that crashed may report what it spent only now.
  const { byAgency } = (await testbed.api("/user/usage")).body;
  expect(byAgency.find(({ agency: id }: { agency: string }) => id === agency)?.calls).toBe(5);
  // Clients accept the names of sub-agents.
  const { url, token } = testbed.base.host();
  const usage = await createClient({ url, token }).call("getAgencyUsage", { params: { agency }, query: {} });
  expect(usage.total.calls).toBe(5);
});
