import { type AgentEvent, eventSchema } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectValidEvents } from "../kit/event-check.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Events are not validated when they are written. Here a log with nearly every type is checked against the schemas.

let testbed: Testbed;

beforeAll(async () => {
  const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
  testbed = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    config: { turn: { heartbeatSeconds: 1 } },
    scripts: {
      varied: [
        {
          when: "files",
          steps: [
            call("writeFile", { path: "a.txt", content: "hi" }),
            call("moveFile", { from: "a.txt", to: "b.txt" }),
            { text: "Written." },
          ],
        },
        {
          when: "code",
          steps: [
            call("executeCode", {
              code: 'await tools.set_title({ title: "T" }); return fetch("http://10.0.0.1/").then(String, String);',
            }),
            { text: "Ran." },
          ],
        },
        {
          when: "errors",
          steps: [call("nope"), call("readFile", { path: "missing" }), call("throws"), { text: "Failed." }],
        },
        { when: "later", steps: [call("later"), { text: "At last." }] },
        { when: "retry", steps: [{ fail: { status: 503, times: 1, retryAfter: 0 } }, { text: "Again." }] },
        { when: "broken", steps: [{ fail: 401 }] },
        { when: "slow", steps: [{ text: "So " }, { wait: 20_000 }, { text: "slow." }] },
        {
          steps: [
            { reasoning: "Hm." },
            call("write_todos", { todos: [{ content: "x", status: "pending" }] }),
            { text: "You said: {{ message }}" },
          ],
        },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

// Sandboxes are slow to start on a busy machine.
const timeoutMs = 60_000;
const say = async (agent: TestAgent, message: string) =>
  agent.waitForEnd((await agent.invoke({ message })).runId, timeoutMs);
const waitForEvent = (agent: TestAgent, type: AgentEvent["type"], runId: string) =>
  waitUntil(
    `${type} of ${runId}`,
    async () => (await agent.log()).find((event) => event.type === type && Object.values(event.data).includes(runId)),
    { timeoutMs },
  );

/** Returns the types that do not occur in the log. */
function findMissingTypes(log: readonly AgentEvent[], types: readonly AgentEvent["type"][]): string[] {
  const found = new Set(log.map(({ type }) => type));
  return types.filter((type) => !found.has(type));
}

test("every event of a varied log matches its schema exactly", { timeout: 240_000 }, async () => {
  const blueprint = await testbed.newBlueprint({
    model: "scripted:varied",
    tags: ["default", "puppet"],
    config: { puppet: { onTick: "throw" } },
  });
  const agent = await testbed.newAgent({ blueprint });
  for (const message of ["hello", "files", "code", "errors", "retry", "broken"]) await say(agent, message);

  const deferred = await agent.invoke({ message: "later", props: { data: { n: [1, { deep: true }] } } });
  const { data } = await waitForEvent(agent, "tool.deferred", deferred.runId);
  await waitForEvent(agent, "run.paused", deferred.runId);
  await agent.report({ callId: (data as { callId: string }).callId, output: "resolved" });
  await agent.waitForEnd(deferred.runId, timeoutMs);

  const slow = await agent.invoke({
    message: "slow",
    attachments: [{ name: "a.txt", mediaType: "text/plain", data: "aGk=" }],
  });
  await waitForEvent(agent, "model.delta", slow.runId);
  expect((await agent.invoke({ message: "joined", mode: "steer" })).runId).toBe(slow.runId);
  await agent.cancel({ runId: slow.runId });
  const requeued = await waitForEvent(agent, "message.requeued", slow.runId);
  await agent.waitForEnd((requeued.data as { runId: string }).runId, timeoutMs);

  const killed = await agent.invoke({ message: "slow" });
  await waitForEvent(agent, "model.delta", killed.runId);
  await testbed.restartMain();
  await waitForEvent(agent, "run.resumed", killed.runId);
  await agent.cancel({ runId: killed.runId });

  const app = await testbed.api(`${agent.at}/app`, "PUT", {
    code: "export default { fetch: () => new Response('hi') }",
  });
  expect(app.status).toBe(200);
  const log = await agent.log();
  expectValidEvents(log);
  const expected: AgentEvent["type"][] = [
    "request.accepted",
    "message.requeued",
    "run.started",
    "run.tick",
    "run.paused",
    "run.resumed",
    "run.canceled",
    "agent.started",
    "agent.completed",
    "agent.error",
    "model.started",
    "model.delta",
    "model.completed",
    "model.failed",
    "tool.started",
    "tool.output",
    "tool.error",
    "tool.deferred",
    "capability.called",
    "capability.answered",
    "middleware.failed",
    "files.changed",
    "todos.updated",
    "title.set",
    "app.set",
  ];
  expect(findMissingTypes(log, expected)).toEqual([]);

  expect((await testbed.api(`${agent.at}/messages`, "DELETE")).status).toBe(204);
  const remaining = await agent.log();
  expectValidEvents(remaining);
  expect(findMissingTypes(remaining, ["history.cleared"])).toEqual([]);
});

test("the log of the tour is valid too", { timeout: 240_000 }, async () => {
  const agent = await testbed.newAgent({ model: "scripted:tour" });
  for (const message of ["hi", "plan", "code", "files", "team", "models"]) await say(agent, message);
  const log = await agent.log();
  expectValidEvents(log);
  expect(
    findMissingTypes(log, ["todos.updated", "title.set", "capability.called", "files.changed", "subagent.completed"]),
  ).toEqual([]);
});

test("an event with an extra key, a missing field or an unknown type is invalid", () => {
  const event = { seq: 1, ts: "", threadId: "t", type: "run.tick", data: { runId: "r", step: 1 } } as AgentEvent;
  expectValidEvents([event]);
  expect(() => expectValidEvents([{ ...event, data: { ...event.data, more: 1 } } as AgentEvent])).toThrow("run.tick");
  expect(() => expectValidEvents([{ ...event, data: { runId: "r" } } as AgentEvent])).toThrow("step");
  expect(eventSchema.safeParse({ ...event, type: "run.tock" }).success).toBe(false);
});
