import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import type { Answer, Fault, Phase } from "../kit/model-server/answer.ts";
import { sample } from "../kit/sample.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Providers that fail in every way, at every point of their response, against a real host.

const wires = { chat: "local:test-model", responses: "openai:test-model", messages: "anthropic:test-model" } as const;

type Wire = keyof typeof wires;
const wireNames = Object.keys(wires) as Wire[];

const todos = { todos: [{ content: "one", status: "pending" }] };
const note: Answer = {
  reasoning: ["Hm. "],
  text: ["Let me ", "note it. "],
  toolCalls: [{ name: "write_todos", input: todos }],
};
const done: Answer = { text: ["All ", "done."] };

interface Scenario {
  fault: Fault;
  /** Calls that hit the fault; later ones succeed. */
  times: number;
}

/** Scenarios and call counts by message: the server looks them up by the last user message. */
const scenarios = new Map<string, Scenario>();
const calls = new Map<string, number>();

let server: ModelServer;
let testbed: Testbed;

beforeAll(async () => {
  server = await openModelServer();
  server.answer(({ latest, results }) => {
    const count = (calls.get(latest) ?? 0) + 1;
    calls.set(latest, count);
    const scenario = scenarios.get(latest);
    if (scenario && count <= scenario.times) return { ...note, fault: scenario.fault };
    return scenario && results.length === 0 ? note : done;
  });
  const baseUrl = `${server.url}/v1`;
  testbed = await openTestbed({
    config: {
      providers: { openai: { baseUrl }, anthropic: { baseUrl }, local: { baseUrl, wire: "chat" } },
      turn: { heartbeatSeconds: 1, noProgressSeconds: 10 },
    },
    env: { OPENAI_API_KEY: "sk-test-0123456789", ANTHROPIC_API_KEY: "sk-ant-0123456789" },
  });
});

afterAll(async () => {
  server?.release();
  await testbed?.stop();
  await server?.stop();
});

const phases: Phase[] = ["before", "first", "text", "tool", "end"];

const transientFaults: [string, Fault][] = [
  ["429", { kind: "status", status: 429, retryAfter: 0 }],
  ["500", { kind: "status", status: 500 }],
  ["503", { kind: "status", status: 503 }],
  ...phases.map((phase): [string, Fault] => [`cut ${phase}`, { kind: "cut", phase }]),
  ...phases.map((phase): [string, Fault] => [`end ${phase}`, { kind: "end", phase }]),
  ...phases.map((phase): [string, Fault] => [`malformed ${phase}`, { kind: "malformed", phase }]),
  ...phases.map((phase): [string, Fault] => [
    `error-event ${phase}`,
    { kind: "error-event", phase, code: "server_error" },
  ]),
];

const getPhase = (fault: Fault) => ("phase" in fault ? fault.phase : "status");

/** Every sample covers each kind of fault and each phase on every wire. */
const transientCases = sample(
  wireNames.flatMap((wire) => transientFaults.map(([name, fault]) => ({ wire, name, fault }))),
  {
    name: "transient faults",
    size: 27,
    kindOf: ({ wire, fault }) => [`${wire} ${fault.kind}`, `${wire} ${getPhase(fault)}`],
  },
);

async function runScenario(
  wire: Wire,
  name: string,
  scenario: Scenario,
): Promise<{ agent: TestAgent; outcome: AgentEvent; message: string }> {
  const message = `${wire}: ${name}`;
  scenarios.set(message, scenario);
  const agent = await testbed.newAgent({ model: wires[wire] });
  const { runId } = await agent.invoke({ message });
  return { agent, message, outcome: await agent.waitForEnd(runId, 45_000) };
}

const readMessages = async (agent: TestAgent) =>
  (await agent.messages()).map(({ role, content, status }) => [role, status === "error" ? "error" : content]);

async function expectUsable(agent: TestAgent): Promise<void> {
  expect(await agent.say("and now?")).toMatchObject({ type: "agent.completed", data: { result: "All done." } });
}

test.each(wireNames)("a transient fault is retried, and no message or tool call is repeated (%s)", async (wire) => {
  await Promise.all(
    transientCases
      .filter((candidate) => candidate.wire === wire)
      .map(async ({ name, fault }) => {
        const { agent, outcome, message } = await runScenario(wire, name, { fault, times: 1 });
        expect([name, outcome]).toMatchObject([name, { type: "agent.completed", data: { result: "All done." } }]);
        expect([name, calls.get(message)]).toEqual([name, 3]);
        expect([name, await readMessages(agent)]).toEqual([
          name,
          [
            ["user", message],
            ["assistant", "Let me note it. "],
            ["tool", "1 todos, 0 completed."],
            ["assistant", "All done."],
          ],
        ]);
        const log = await agent.log();
        expect([name, log.filter(({ type }) => type === "model.failed").length]).toEqual([name, 1]);
        expect([name, log.filter(({ type }) => type === "todos.updated").length]).toEqual([name, 1]);
      }),
  );
});

test.each(wireNames)("a slow response is not a fault (%s)", async (wire) => {
  const { outcome, message } = await runScenario(wire, "slow", {
    fault: { kind: "slow", phase: "text", ms: 100 },
    times: 1,
  });
  expect(outcome).toMatchObject({ type: "agent.completed" });
  expect(calls.get(message)).toBe(2);
});

const permanentFaults: [string, Fault, string][] = [
  ["a wrong key", { kind: "status", status: 401, code: "invalid_api_key", type: "authentication_error" }, "model_auth"],
  ["no credit", { kind: "status", status: 429, code: "insufficient_quota", type: "billing_error" }, "model_quota"],
  [
    "too long",
    { kind: "status", status: 400, code: "context_length_exceeded", type: "request_too_large" },
    "model_overflow",
  ],
  ["no such model", { kind: "status", status: 404, code: "model_not_found", type: "not_found_error" }, "model_refused"],
  [
    "content",
    { kind: "status", status: 400, code: "content_policy_violation", type: "content_filter" },
    "model_content",
  ],
  ["a retry after an hour", { kind: "status", status: 429, retryAfter: 3600 }, "model_overloaded"],
];

test.each(wireNames)("a permanent fault is not retried, and the error says what to do (%s)", async (wire) => {
  await Promise.all(
    permanentFaults.map(async ([name, fault, code]) => {
      const { agent, outcome, message } = await runScenario(wire, name, { fault, times: 99 });
      expect([name, outcome]).toMatchObject([
        name,
        { type: "agent.error", data: { code, error: expect.any(String), advice: expect.any(String) } },
      ]);
      expect([name, calls.get(message)]).toEqual([name, 1]);
      expect([name, await readMessages(agent)]).toEqual([
        name,
        [
          ["user", message],
          ["assistant", "error"],
        ],
      ]);
      await expectUsable(agent);
    }),
  );
});

test("a persistent fault is tried four times, and a provider that stalls does not block the turn", async () => {
  const runs = wireNames.flatMap((wire): Promise<void>[] => [
    ...(
      [
        ["always 500", { kind: "status", status: 500 }, "model_overloaded"],
        ["always cut", { kind: "cut", phase: "text" }, "model_network"],
      ] as [string, Fault, string][]
    ).map(async ([name, fault, code]) => {
      const { agent, outcome, message } = await runScenario(wire, name, { fault, times: 99 });
      expect([name, outcome]).toMatchObject([
        name,
        { type: "agent.error", data: { code, advice: expect.any(String) } },
      ]);
      expect([name, calls.get(message)]).toEqual([name, 4]);
      expect([name, await readMessages(agent)]).toEqual([
        name,
        [
          ["user", message],
          ["assistant", "error"],
        ],
      ]);
      await expectUsable(agent);
    }),
    (async () => {
      const before = server.countAbandoned();
      const { agent, outcome, message } = await runScenario(wire, "stall", {
        fault: { kind: "stall", phase: "text" },
        times: 99,
      });
      expect(outcome).toMatchObject({ type: "agent.error", data: { code: "no_progress" } });
      expect(calls.get(message)).toBe(1);
      expect(server.countAbandoned()).toBeGreaterThan(before);
      await expectUsable(agent);
    })(),
  ]);
  await Promise.all(runs);
});
