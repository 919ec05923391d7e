import type { AgentEvent, NewEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("subagent-reports.worker.ts", import.meta.url), { objects: ["Reports"] });
});

afterAll(() => worker?.stop());

async function run(step: string, input: object = {}): Promise<{ failure?: string; log: AgentEvent[] }> {
  const response = await fetch(`${worker.url}/reports`, { method: "POST", body: JSON.stringify({ step, ...input }) });
  return (await response.json()) as { failure?: string; log: AgentEvent[] };
}

const runId = "r";
const taskIds = Array.from({ length: 7 }, (_, index) => `task-${index}`);
const usage = { calls: 1, inputTokens: 1, outputTokens: 1, costUsd: 0 };
const from = { user: "owner", context: {} };

function createTurn(): NewEvent[] {
  const messages = [{ id: "m", role: "user" as const, content: "Go" }];
  const call = { runId, callId: "wait", toolName: "waitForSubagents" };
  return [
    { type: "request.accepted", data: { runId, idempotencyKey: "k", mode: "queue", position: 0, from, messages } },
    { type: "run.started", data: { runId, model: "x:y", boot: "b" } },
    ...taskIds.map((taskId): NewEvent => {
      const facetName = `subagent-${taskId}`;
      const child = { childThreadId: `global~test/${facetName}`, taskId, facetName, token: taskId };
      const assignment = { agentType: "think", title: taskId, message: "Look", from, wait: false, timeoutMs: 1000 };
      return { type: "subagent.spawned", data: { ...child, ...assignment, runId, workspace: "shared" } };
    }),
    { type: "tool.started", data: { ...call, step: 1, args: {}, idempotent: true } },
    { type: "tool.deferred", data: { ...call, ms: 0, action: "wait" } },
    { type: "run.paused", data: { runId, reason: "subagent" } },
    ...taskIds.map((taskId): NewEvent => {
      const end = { status: "complete" as const, result: "x".repeat(8000), usage, steps: 1, ms: 1 };
      return { type: "subagent.completed", data: { childThreadId: `global~test/subagent-${taskId}`, taskId, ...end } };
    }),
  ];
}

test("reports count as delivered together with the result of the call, not if that cannot be stored", async () => {
  await run("record", { events: createTurn() });
  const failed = await run("resolve", { isBroken: true });
  expect(failed.failure).toBe("The disk is full.");
  expect(failed.log.filter(({ type }) => type === "subagent.delivered")).toEqual([]);
  const { log } = await run("resolve");
  const [output, delivered, ...rest] = log.slice(failed.log.length);
  const isLong = (size: number) => size > 7 * 8000;
  expect(output).toMatchObject({
    type: "tool.output",
    data: { callId: "wait", result: { size: expect.toSatisfy(isLong) } },
  });
  expect(delivered).toMatchObject({ type: "subagent.delivered", data: { runId, callId: "wait", taskIds } });
  expect(rest).toEqual([]);
  expect((await run("resolve")).log).toEqual(log);
});
