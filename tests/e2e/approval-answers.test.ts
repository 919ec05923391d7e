import { afterAll, beforeAll, expect, test } from "vitest";
import { getResult, startAsking } from "../kit/asking.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// Answers to approvals that say several things at once: denied but edited, edited but remembered, remembered but late.

const write = (path: string) => ({ tool: "writeFile", input: { path, content: "one\n" } });
const run = (command: string) => ({ tool: "bash", input: { command } });
const asking = { model: "scripted:default", config: { hitl: { tools: ["writeFile", "bash"] } } };

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    scripts: {
      default: [
        {
          when: "both",
          steps: [{ calls: [write("a.txt"), write("b.txt")] }, { text: "{{ results.0 }} | {{ results.1 }}" }],
        },
        {
          when: "again",
          steps: [
            { calls: [run("echo one")] },
            { calls: [run("echo two")] },
            { text: "{{ results.0 }} | {{ results.1 }}" },
          ],
        },
        { steps: [{ calls: [run("{{ message }}")] }, { text: "{{ results.0 }}" }] },
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

const start = (message: string) => startAsking(testbed, message, asking);
const answer = (agent: TestAgent, body: object) => testbed.api(`${agent.at}/approve`, "POST", body);

test("new inputs for calls are refused unless they are approved", async () => {
  const { agent, runId, approval } = await start("both");
  const modifiedToolCalls = approval.calls.map(({ name, args }) => ({ toolName: name, args }));
  for (const decision of [{ approved: false }, { decisions: [{ callId: approval.calls[0]?.id, approved: true }] }]) {
    const { status, body } = await answer(agent, { ...decision, modifiedToolCalls });
    expect([status, body.error.code]).toEqual([400, "bad_request"]);
  }
  const { status, body } = await answer(agent, { approved: false, modifiedToolCalls });
  expect([status, body.error.details.issues[0].path]).toEqual([400, ["approved"]]);

  // A call that was denied stays denied.
  await answer(agent, { decisions: [{ callId: approval.calls[0]?.id, approved: false }] });
  expect((await answer(agent, { approved: true, modifiedToolCalls })).status).toBe(409);
  await answer(agent, { approved: true });
  expect(await getResult(agent, runId)).toMatch(/^A person denied .* \| Created b\.txt/);
});
