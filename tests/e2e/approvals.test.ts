import type { Approval } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Calls that need a person's approval: the turn pauses, and goes on with exactly what was decided.

const write = (path: string, content = "one\n") => ({ tool: "writeFile", input: { path, content } });
const run = (command: string) => ({ tool: "bash", input: { command } });

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 } },
    scripts: {
      default: [
        { when: "write", steps: [{ calls: [write("a.txt")] }, { text: "Heard: {{ results.0 }}" }] },
        {
          when: "both",
          steps: [{ calls: [write("a.txt"), write("b.txt")] }, { text: "{{ results.0 }} | {{ results.1 }}" }],
        },
        {
          when: "in order",
          steps: [
            { calls: [run("echo 1 >> log"), write("log", "2\n"), run("echo 3 >> log")] },
            { text: "{{ results.0 }} | {{ results.1 }} | {{ results.2 }}" },
          ],
        },
        {
          when: "code",
          steps: [
            {
              call: {
                tool: "executeCode",
                input: { code: 'return await tools.writeFile({ path: "a", content: "" })' },
              },
            },
            { text: "{{ results.0 }}" },
          ],
        },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
      shell: [{ steps: [{ calls: [run("{{ message }}")] }, { text: "{{ results.0 }}" }] }],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

async function start(message: string, config: object, model = "scripted:default") {
  const blueprint = await testbed.newBlueprint({ model, config });
  const agent = await testbed.newAgent({ blueprint });
  const { runId } = await agent.invoke({ message });
  return { agent, runId, blueprint };
}

async function waitForApproval({ at }: TestAgent): Promise<Approval> {
  return waitUntil("an approval", async () => {
    const { body } = await testbed.api(`${at}/approvals?status=pending`);
    return (body.approvals as Approval[])[0];
  });
}

async function startAsked(message: string, config: object = { hitl: { tools: ["writeFile"] } }, model?: string) {
  const started = await start(message, config, model);
  return { ...started, approval: await waitForApproval(started.agent) };
}

const answer = (agent: TestAgent, body: object) => testbed.api(`${agent.at}/approve`, "POST", body);

async function getResult(agent: TestAgent, runId: string): Promise<string> {
  const end = await agent.waitForEnd(runId);
  return end.type === "agent.completed" ? end.data.result : JSON.stringify(end.data);
}

const readFile = async (agent: TestAgent, path: string) => (await testbed.api(`${agent.at}/files/${path}`)).body;

test("a call that needs approval waits, with a preview, and runs once it is approved", async () => {
  const { agent, runId, approval } = await startAsked("write");
  expect(approval).toMatchObject({
    status: "pending",
    agent: `global~${agent.name}`,
    turn: runId,
    calls: [
      {
        name: "writeFile",
        args: { path: "a.txt", content: "one\n" },
        preview: { kind: "diff", path: "a.txt", diff: expect.stringContaining("+one") },
      },
    ],
    preview: expect.stringContaining("+one"),
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const days = (Date.parse(approval.expiresAt) - Date.parse(approval.createdAt)) / (24 * 3600 * 1000);
  expect(days).toBeCloseTo(7, 3);
  await waitUntil("the pause", async () => (await agent.run()).status === "paused");
  expect(await agent.run()).toMatchObject({ status: "paused", reason: "hitl" });
  expect((await agent.state()).pendingContinuation).toMatchObject({ id: approval.id, kind: "approval" });
  expect(await readFile(agent, "a.txt")).toHaveProperty("error");

  const { status, body } = await answer(agent, { approvalId: approval.id, approved: true, digest: approval.digest });
  expect([status, body.status, body.answeredBy]).toEqual([200, "approved", "owner"]);
  expect(await getResult(agent, runId)).toMatch(/^Heard: Created a\.txt/);
  expect(await readFile(agent, "a.txt")).toBe("one\n");
  expect((await agent.state()).pendingContinuation).toBeUndefined();
});

test("a denied call does not run, and the model hears why", async () => {
  const { agent, runId } = await startAsked("write");
  expect((await answer(agent, { approved: false, reason: "Not on a Friday." })).body.status).toBe("denied");
  expect(await getResult(agent, runId)).toMatch(/denied this call of writeFile.*Not on a Friday\./);
  expect(await readFile(agent, "a.txt")).toHaveProperty("error");
});

test("calls of one response make one approval, which can be decided call by call", async () => {
  const { agent, runId, approval } = await startAsked("both");
  const [first, second] = approval.calls.map(({ id }) => id);
  expect(approval.calls).toHaveLength(2);
  const partly = await answer(agent, { decisions: [{ callId: first, approved: true }] });
  expect(partly.body.status).toBe("pending");
  expect(partly.body.calls[0].decision).toEqual({ approved: true });
  expect(await readFile(agent, "a.txt")).toHaveProperty("error");
  const again = await answer(agent, { decisions: [{ callId: first, approved: false }] });
  expect(again.status).toBe(409);
  await answer(agent, { decisions: [{ callId: second, approved: false, reason: "No." }] });
  expect(await getResult(agent, runId)).toMatch(/^Created a\.txt.* \| A person denied .*No\.$/);
});

test("`approved` decides the calls that `decisions` does not name", async () => {
  const { agent, runId, approval } = await startAsked("both");
  const decisions = [{ callId: approval.calls[1]?.id, approved: false }];
  expect((await answer(agent, { approved: true, decisions })).body.status).toBe("approved");
  expect(await getResult(agent, runId)).toMatch(/^Created a\.txt.* \| A person denied/);
});

test("an input can be edited, and passes the gate again", async () => {
  const { agent, runId, approval } = await startAsked("write");
  const [call] = approval.calls;
  const edited = { path: "c.txt", content: "edited\n" };
  await answer(agent, { decisions: [{ callId: call?.id, approved: true, input: edited }] });
  expect(await getResult(agent, runId)).toMatch(/Created c\.txt/);
  expect(await readFile(agent, "c.txt")).toBe("edited\n");

  const invalid = await startAsked("write");
  const decision = { callId: invalid.approval.calls[0]?.id, approved: true, input: { path: 5 } };
  const refused = await answer(invalid.agent, { decisions: [decision] });
  expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringMatching(/writeFile.*path/)]);
  expect(refused.body.error.details.issues[0].path).toEqual(["decisions", 0, "input"]);
  expect(await waitForApproval(invalid.agent)).toEqual(invalid.approval);
  await invalid.agent.cancel();

  const policy = [
    { tool: "writeFile", match: "secret", action: "deny" },
    { tool: "writeFile", action: "ask" },
  ];
  const denied = await startAsked("write", { policy });
  const input = { path: "secret.txt", content: "" };
  await answer(denied.agent, { approved: true, modifiedToolCalls: [{ toolName: "writeFile", args: input }] });
  expect(await getResult(denied.agent, denied.runId)).toMatch(/policy of this agent denies writeFile/);
});

test("a person can answer in the tool's place", async () => {
  const { agent, runId, approval } = await startAsked("write");
  const decisions = [{ callId: approval.calls[0]?.id, approved: true, result: "I wrote it myself." }];
  await answer(agent, { decisions });
  expect(await getResult(agent, runId)).toBe("Heard: I wrote it myself.");
  expect(await readFile(agent, "a.txt")).toHaveProperty("error");
});

test("calls before one that needs approval run, and those after it wait for their turn", async () => {
  const { agent, runId, approval } = await startAsked("in order");
  expect(approval.calls.map(({ name }) => name)).toEqual(["writeFile"]);
  expect(await readFile(agent, "log")).toBe("1\n");
  await answer(agent, { decisions: [{ callId: approval.calls[0]?.id, approved: true, result: "skipped" }] });
  expect(await getResult(agent, runId)).toMatch(/ \| skipped \| /);
  expect(await readFile(agent, "log")).toBe("1\n3\n");
});

test("of several answers one wins, and an answer with another digest is refused", async () => {
  const { agent, runId, approval } = await startAsked("write");
  const wrong = await answer(agent, { approved: true, digest: "0".repeat(64) });
  expect([wrong.status, wrong.body.error.code]).toEqual([409, "conflict"]);
  const answers = await Promise.all(Array.from({ length: 8 }, () => answer(agent, { approved: true })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
  await agent.waitForEnd(runId);
  expect((await answer(agent, { approvalId: approval.id, approved: false })).status).toBe(409);
  expect((await answer(agent, { approvalId: "none", approved: true })).status).toBe(404);
  expect((await answer(agent, { approvalId: approval.id })).status).toBe(400);
  expect((await answer(agent, {})).status).toBe(400);
});

test("invalid decisions are refused with their path, and nothing is decided", async () => {
  const { agent, approval } = await startAsked("both");
  const callId = approval.calls[0]?.id;
  const table: [object, string][] = [
    [{ decisions: [{ callId: "none", approved: true }] }, "decisions.0.callId"],
    [{ decisions: [{ callId, approved: false, input: {} }] }, "decisions.0.approved"],
    [{ decisions: [{ callId, approved: true, input: {}, result: "" }] }, "decisions.0.result"],
    [
      {
        decisions: [
          { callId, approved: true },
          { callId, approved: true },
        ],
      },
      "decisions.1.callId",
    ],
    [{ approved: true, modifiedToolCalls: [] }, "modifiedToolCalls"],
    [{ approved: true, remember: "forever" }, "remember"],
    [{ approved: "yes" }, "approved"],
  ];
  for (const [body, path] of table) {
    const { status, body: response } = await answer(agent, body);
    expect([status, response.error.details.issues[0].path.join(".")]).toEqual([400, path]);
  }
  expect((await waitForApproval(agent)).calls.every(({ decision }) => decision === undefined)).toBe(true);
  await agent.cancel();
});

test("remembered answers are not asked for again, for the agent or for its agency", async () => {
  const config = { hitl: { tools: ["bash"] } };
  const { agent, runId, blueprint } = await startAsked("echo 1", config, "scripted:shell");
  const { body } = await answer(agent, { approved: true, remember: "agent" });
  expect(body.calls[0].remember).toBe("echo *");
  expect(await getResult(agent, runId)).toBe("1");
  const again = await agent.invoke({ message: "echo 3" });
  expect(await getResult(agent, again.runId)).toBe("3");
  const other = await agent.invoke({ message: "ls" });
  expect((await waitForApproval(agent)).calls[0]?.args).toEqual({ command: "ls" });
  await answer(agent, { approved: true, remember: "always" });
  await agent.waitForEnd(other.runId);

  const colleague = await testbed.newAgent({ blueprint });
  await colleague.waitForEnd((await colleague.invoke({ message: "ls" })).runId);
  await colleague.invoke({ message: "echo 4" });
  await waitForApproval(colleague);
  await colleague.cancel();

  const { body: list } = await testbed.api("/agency/global/grants");
  expect(list.grants).toMatchObject([
    { tool: "bash", match: "echo *", agent: `global~${agent.name}`, by: "owner" },
    { tool: "bash", match: "ls *", by: "owner" },
  ]);
  for (const { id } of list.grants) await testbed.api(`/agency/global/grants/${id}`, "DELETE");
  await colleague.invoke({ message: "ls" });
  await waitForApproval(colleague);
});

test("rules of the agency apply to its agents, and a rule that denies wins over an approval", async () => {
  const rules = [{ tool: "writeFile", agent: "agent-*", action: "ask" }];
  expect((await testbed.api("/agency/global/policy", "PUT", { rules })).status).toBe(200);
  const { agent, runId } = await startAsked("write", {});
  await testbed.api("/agency/global/policy", "PUT", { rules: [{ tool: "writeFile", action: "deny" }] });
  await answer(agent, { approved: true });
  expect(await getResult(agent, runId)).toMatch(/policy of this agent denies writeFile/);
  await testbed.api("/agency/global/policy", "PUT", { rules: [] });
});

test("commands that a rule asks about wait for approval, and then run as they are", async () => {
  const policy = [
    { tool: "bash", match: "rm *", action: "ask" },
    { tool: "*", match: "secret", action: "ask" },
  ];
  // One agent for all: a sandbox serves one agent at a time, and another one waits for its replacement.
  const { agent, runId } = await start("echo hello", { policy }, "scripted:shell");
  expect(await getResult(agent, runId)).toBe("hello");
  const asked = await agent.invoke({ message: "touch x && rm x && echo gone" });
  const approval = await waitForApproval(agent);
  expect(approval.calls[0]?.preview).toEqual({ kind: "command", command: "touch x && rm x && echo gone" });
  await answer(agent, { approved: true });
  expect(await getResult(agent, asked.runId)).toBe("gone");
  const hidden = await agent.invoke({ message: "touch y; $(echo rm) y" });
  expect(await getResult(agent, hidden.runId)).toMatch(/rm: needs a person's approval.*command of its own/);
  const named = await agent.invoke({ message: "cat secret.txt" });
  await waitForApproval(agent);
  await answer(agent, { approved: false });
  await agent.waitForEnd(named.runId);
});

test("a remembered command runs without asking, where a rule for commands asks about it", async () => {
  const policy = ["rm *", "mv *"].map((match) => ({ tool: "bash", match, action: "ask" }));
  const { agent, runId } = await startAsked("rm -f x", { policy }, "scripted:shell");
  await answer(agent, { approved: true, remember: "agent" });
  await agent.waitForEnd(runId);
  const say = async (message: string) => getResult(agent, (await agent.invoke({ message })).runId);
  expect(await say("rm -rf y")).toBe("The command produced no output.");
  expect(await say("touch y; $(echo rm) y; ls")).not.toMatch(/approval|y/);
  expect(await say("touch a; $(echo mv) a b")).toMatch(/mv: needs a person's approval/);

  // Of a longer line, exactly this text is remembered, whatever it runs.
  const line = "for f in 1 2; do touch $f && mv $f n$f; done && ls n*";
  const asked = await agent.invoke({ message: line });
  await waitForApproval(agent);
  await answer(agent, { approved: true, remember: "agent" });
  expect(await getResult(agent, asked.runId)).toBe("n1\nn2");
  expect(await say(line)).toBe("n1\nn2");
});

test("code cannot wait for a person: its call is denied with the reason", async () => {
  const { agent, runId } = await start("code", { hitl: { tools: ["writeFile"] } });
  expect(await getResult(agent, runId)).toMatch(/Only a call by the model can wait for a person's approval/);
});

test("an approval expires with its turn or with time, and the model hears it", async () => {
  const { agent, approval } = await startAsked("write");
  await agent.cancel();
  const { body } = await testbed.api(`${agent.at}/approvals`);
  expect(body.approvals).toMatchObject([{ id: approval.id, status: "expired" }]);
  expect((await answer(agent, { approvalId: approval.id, approved: true })).status).toBe(409);

  const late = await startAsked("write", { hitl: { tools: ["writeFile"], expiresSeconds: 1 } });
  expect(await getResult(late.agent, late.runId)).toMatch(/Nobody approved this call of writeFile in time/);
});

test("an approval survives a restart of the host, and the answer resumes the turn", async () => {
  const { agent, runId, approval } = await startAsked("write");
  await testbed.restartMain();
  expect(await waitForApproval(agent)).toEqual(approval);
  await answer(agent, { approved: true });
  expect(await getResult(agent, runId)).toMatch(/Created a\.txt/);
});

test("the inbox has the approvals of all agents, and answers them by id", async () => {
  const first = await startAsked("write");
  const second = await startAsked("both");
  const listed = await waitUntil("both approvals", async () => {
    const { body } = await testbed.api("/approvals");
    const ids = (body.approvals as Approval[]).map(({ id }) => id);
    return ids.includes(first.approval.id) && ids.includes(second.approval.id)
      ? (body.approvals as Approval[])
      : undefined;
  });
  expect(listed.find(({ id }) => id === first.approval.id)).toEqual(first.approval);
  expect((await testbed.api(`/approvals/${first.approval.id}`, "POST", { approved: true })).body.status).toBe(
    "approved",
  );
  expect(await getResult(first.agent, first.runId)).toMatch(/Created a\.txt/);
  await waitUntil("the answer to arrive", async () => {
    const { body } = await testbed.api("/approvals");
    return !(body.approvals as Approval[]).some(({ id }) => id === first.approval.id);
  });
  await testbed.api(`/agents/${second.agent.name}`, "DELETE");
  await waitUntil("the deleted agent to be gone", async () => {
    const { body } = await testbed.api("/approvals");
    return !(body.approvals as Approval[]).some(({ id }) => id === second.approval.id);
  });
  expect((await testbed.api("/approvals/none", "POST", { approved: true })).status).toBe(404);
});

test("only the scope approve can answer, and tool results cannot", async () => {
  const { agent, approval } = await startAsked("write");
  const { body: token } = await testbed.api("/tokens", "POST", { name: "talker", scopes: ["chat"] });
  const headers = { authorization: `Bearer ${token.token}` };
  const body = { approvalId: approval.id, approved: true };
  expect((await testbed.api(`${agent.at}/approve`, "POST", body, headers)).status).toBe(403);
  expect((await testbed.api(`/approvals/${approval.id}`, "POST", { approved: true }, headers)).status).toBe(403);
  const report = await testbed.api(`${agent.at}/tool-results`, "POST", { callId: approval.calls[0]?.id, output: "x" });
  expect([report.status, report.body.error.message]).toEqual([409, expect.stringContaining("approval")]);
  const { body: bob } = await testbed.api("/tokens", "POST", { name: "bob", user: "bob", scopes: ["admin"] });
  const asBob = { authorization: `Bearer ${bob.token}` };
  expect((await testbed.api(`/approvals/${approval.id}`, "POST", { approved: true }, asBob)).status).toBe(404);
  expect((await testbed.api("/approvals", "GET", undefined, asBob)).body).toEqual({ approvals: [] });
  const { body: approver } = await testbed.api("/tokens", "POST", { name: "approver", scopes: ["approve"] });
  const approve = { authorization: `Bearer ${approver.token}` };
  expect((await testbed.api(`${agent.at}/approve`, "POST", body, approve)).status).toBe(200);
});
