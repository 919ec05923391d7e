import type { Approval, Grant } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { getResult, startAsking, waitForApproval } from "../kit/asking.ts";
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
const listGrants = async ({ id }: Approval) => {
  const { grants } = (await testbed.api("/agency/global/grants")).body as { grants: Grant[] };
  return grants.filter((grant) => grant.id.startsWith(id)).map(({ tool, match }) => [tool, match]);
};

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

test("a call with another input is approved once, whatever is remembered of the others", async () => {
  const edited = await start("rm -rf build");
  const decisions = [{ callId: edited.approval.calls[0]?.id, approved: true, input: { command: "echo edited" } }];
  await answer(edited.agent, { decisions, remember: "always" });
  expect(await getResult(edited.agent, edited.runId)).toBe("edited");
  expect(await listGrants(edited.approval)).toEqual([]);
  await edited.agent.invoke({ message: "rm -rf other" });
  await waitForApproval(testbed, edited.agent);
  await edited.agent.cancel();

  const both = await start("both");
  const [first, second] = both.approval.calls.map(({ id }) => id);
  await answer(both.agent, {
    decisions: [
      { callId: first, approved: true, input: { path: "c.txt", content: "" } },
      { callId: second, approved: true },
    ],
    remember: "agent",
  });
  await both.agent.waitForEnd(both.runId);
  expect(await listGrants(both.approval)).toEqual([["writeFile", undefined]]);
});

test("an answer that comes too late leaves nothing that is remembered", async () => {
  for (let round = 0; round < 5; round++) {
    const { agent, approval } = await start(`echo-${round} late`);
    const [remembered, denied] = await Promise.all([
      answer(agent, { approved: true, remember: "always" }),
      answer(agent, { approved: false }),
    ]);
    expect([remembered.status, denied.status].sort()).toEqual([200, 409]);
    const isRemembered = remembered.status === 200;
    expect(await listGrants(approval)).toEqual(isRemembered ? [["bash", `echo-${round} *`]] : []);
  }
});

test("what is remembered holds from the next call of the same turn", async () => {
  const { agent, runId } = await start("again");
  await answer(agent, { approved: true, remember: "agent" });
  expect(await getResult(agent, runId)).toBe("one | two");
});
