import { type AgentEvent, eventSchema } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectValidEvents } from "../kit/event-check.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// The schemas are not run where the log is written. Here a log with a bit of everything is held against them.

let workshop: Testbed;

beforeAll(async () => {
  const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
  workshop = await openTestbed({
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

afterAll(() => workshop?.stop());

// Sandboxes take their time to start on a busy machine.
const within = 60_000;
const say = async (agent: TestAgent, message: string) => agent.over((await agent.invoke({ message })).runId, within);
const waitForEvent = (agent: TestAgent, type: AgentEvent["type"], runId: string) =>
  waitUntil(
    `${type} of ${runId}`,
    async () => (await agent.log()).find((event) => event.type === type && Object.values(event.data).includes(runId)),
    { within },
  );

/** Which of these types the log has none of. */
function findMissingTypes(log: readonly AgentEvent[], types: readonly AgentEvent["type"][]): string[] {
  const found = new Set(log.map(({ type }) => type));
  return types.filter((type) => !found.has(type));
}

test(
  "every event of a log that holds most of what can happen is what its schema says, and nothing more",
  { timeout: 240_000 },
  async () => {
    const blueprint = await workshop.newBlueprint({
      model: "scripted:varied",
      tags: ["default", "puppet"],
      config: { puppet: { onTick: "throw" } },
    });
    const agent = await workshop.newAgent({ blueprint });
    for (const message of ["hello", "files", "code", "errors", "retry", "broken"]) await say(agent, message);

    const deferred = await agent.invoke({ message: "later", props: { data: { n: [1, { deep: true }] } } });
    const { data } = await waitForEvent(agent, "tool.deferred", deferred.runId);
    await waitForEvent(agent, "run.paused", deferred.runId);
    await agent.report({ callId: (data as { callId: string }).callId, output: "resolved" });
    await agent.over(deferred.runId, within);

    const slow = await agent.invoke({
      message: "slow",
      attachments: [{ name: "a.txt", mediaType: "text/plain", data: "aGk=" }],
    });
    await waitForEvent(agent, "model.delta", slow.runId);
    expect((await agent.invoke({ message: "joined", mode: "steer" })).runId).toBe(slow.runId);
    await agent.cancel({ runId: slow.runId });
    const requeued = await waitForEvent(agent, "message.requeued", slow.runId);
    await agent.over((requeued.data as { runId: string }).runId, within);

    const killed = await agent.invoke({ message: "slow" });
    await waitForEvent(agent, "model.delta", killed.runId);
    await workshop.restartMain();
    await waitForEvent(agent, "run.resumed", killed.runId);
    await agent.cancel({ runId: killed.runId });

    const app = await workshop.api(`${agent.at}/app`, "PUT", {
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

    expect((await workshop.api(`${agent.at}/messages`, "DELETE")).status).toBe(204);
    const left = await agent.log();
    expectValidEvents(left);
    expect(findMissingTypes(left, ["history.cleared"])).toEqual([]);
  },
);

test("a log of the tour is valid too", { timeout: 240_000 }, async () => {
  const agent = await workshop.newAgent({ model: "scripted:tour" });
  for (const message of ["hi", "plan", "code", "files", "models"]) await say(agent, message);
  const log = await agent.log();
  expectValidEvents(log);
  expect(findMissingTypes(log, ["todos.updated", "title.set", "capability.called", "files.changed"])).toEqual([]);
});

test("an event with a key too many, a field too few or an unknown type is not", () => {
  const event = { seq: 1, ts: "", threadId: "t", type: "run.tick", data: { runId: "r", step: 1 } } as AgentEvent;
  expectValidEvents([event]);
  expect(() => expectValidEvents([{ ...event, data: { ...event.data, more: 1 } } as AgentEvent])).toThrow("run.tick");
  expect(() => expectValidEvents([{ ...event, data: { runId: "r" } } as AgentEvent])).toThrow("step");
  expect(eventSchema.safeParse({ ...event, type: "run.tock" }).success).toBe(false);
});
