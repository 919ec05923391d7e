import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Approval } from "@thinkery/sdk";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { CliResult, RunOptions } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Approvals and questions on the command line: a turn that waits ends the command with exit code 4, and goes on when it
// is answered from another one.

const write = (path: string) => ({ tool: "writeFile", input: { path, content: "one\n" } });
const ask = (input: object) => ({ call: { tool: "askUser", input } });
const colors = { type: "object", properties: { color: { type: "string" } }, required: ["color"] };

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    config: { model: "scripted:default", turn: { heartbeatSeconds: 1 } },
    scripts: {
      default: [
        { when: "/^write$/", steps: [{ calls: [write("a.txt")] }, { text: "Heard: {{ results.0 }}" }] },
        {
          when: "/^both$/",
          steps: [{ calls: [write("a.txt"), write("b.txt")] }, { text: "{{ results.0 }} | {{ results.1 }}" }],
        },
        { when: "/^Write it$/", steps: [{ calls: [write("c.txt")] }, { text: "Done: {{ results.0 }}" }] },
        { when: "/^color$/", steps: [ask({ prompt: "Which color?" }), { text: "{{ results.0 }}" }] },
        { when: "/^form$/", steps: [ask({ prompt: "Fill it in.", schema: colors }), { text: "{{ results.0 }}" }] },
        {
          when: "/^delegate$/",
          steps: [
            { call: { tool: "task", input: { description: "Write it" } } },
            { text: "They said: {{ results.0 }}" },
          ],
        },
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

// What one test leaves pending must not be in the way of the next one.
beforeEach(async () => {
  const { body } = await testbed.api("/approvals");
  for (const { agent } of body.approvals as Approval[]) {
    await testbed.api(`/agents/${agent.replace("global~", "").split("/")[0]}/cancel`, "POST", {});
  }
  await waitUntil("an empty inbox", async () => (await testbed.api("/approvals")).body.approvals.length === 0);
});

const cli = (args: string[], options?: RunOptions): Promise<CliResult> => testbed.host().runCli(args, options);
const json = async (args: string[], options?: RunOptions) =>
  JSON.parse((await cli([...args, "--json"], options)).stdout);

async function newAgent(config: object = { hitl: { tools: ["writeFile"] } }): Promise<TestAgent> {
  return testbed.newAgent({ blueprint: await testbed.newBlueprint({ model: "scripted:default", config }) });
}

const getResult = (agent: TestAgent, message: string) =>
  waitUntil("the result", async () => {
    const { stdout, code } = await cli(["send", agent.name, "--key", message, "--wait", message]);
    return code === 0 ? stdout.trim() : undefined;
  });

/** Runs until the turn waits. */
async function runAsked(message: string, config?: object) {
  const agent = await newAgent(config);
  const { code, stdout, stderr } = await cli(["send", agent.name, "--key", message, "--wait", message]);
  expect([code, stdout]).toEqual([4, ""]);
  // One that expires soon may have done so by now.
  const { approvals } = await json(["approval", "ls", agent.name, "--status", "all"]);
  return { agent, stderr, approval: approvals[0] as Approval };
}

test("run exits with 4 when a call waits for approval, and the turn goes on when another process approves it", async () => {
  const agent = await newAgent();
  const { code, stdout, stderr } = await cli(["run", agent.name, "write"]);
  expect([code, stdout]).toEqual([4, ""]);
  expect(stderr).toContain(`${agent.name} waits for your approval:\n  writeFile: `);
  expect(stderr).toContain("+one\n");
  expect(stderr).not.toContain("\u001b");
  const [, id = ""] = /`thinkery approval approve (\w+)`/.exec(stderr) ?? [];

  const list = await cli(["approval", "ls"]);
  expect(list.stdout).toMatch(
    new RegExp(`^ID +AGENT +ASKS .*\n${id} +${agent.name} +writeFile a\\.txt .* in 6d 23h$`, "m"),
  );
  const shown = await cli(["approval", "show", id]);
  expect(shown.stdout).toMatch(/^status +pending\n/m);
  expect(shown.stdout).toMatch(/^digest +[0-9a-f]{64}$/m);
  expect(shown.stdout).toContain("    +one");

  expect(await cli(["approval", "approve", id])).toEqual({
    code: 0,
    stdout: `Approved writeFile of ${agent.name}. The turn goes on.\n`,
    stderr: "",
  });
  await waitUntil("the file", async () => (await cli(["files", "get", agent.name, "a.txt"])).stdout === "one\n");
  const again = await cli(["approval", "deny", id]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already answered by owner: approved")]);
});

test("--json includes the approval, and the answer to it", async () => {
  const agent = await newAgent();
  const { code, stdout } = await cli(["run", agent.name, "write", "--json"]);
  expect(code).toBe(4);
  const outcome = JSON.parse(stdout);
  expect(outcome).toMatchObject({ status: "waiting", agent: agent.name, runId: expect.any(String), questions: [] });
  const [approval] = outcome.approvals;
  expect(approval).toMatchObject({ status: "pending", agent: `global~${agent.name}`, calls: [{ name: "writeFile" }] });
  expect(await json(["approval", "show"])).toEqual(approval);
  expect(await json(["approval", "approve"])).toMatchObject({
    id: approval.id,
    status: "approved",
    answeredBy: "owner",
  });
});

test("a denied call does not run, and the agent hears the reason", async () => {
  const { agent, approval } = await runAsked("write");
  const queued = await cli(["run", agent.name, "hello"]);
  expect([queued.code, queued.stderr]).toEqual([4, expect.stringContaining(`${agent.name} waits for your approval:`)]);
  const denied = await cli(["approval", "deny", approval.id.slice(0, 6), "--reason", "Not today."]);
  expect(denied).toMatchObject({ code: 0, stdout: `Denied writeFile of ${agent.name}. The turn goes on.\n` });
  expect(await getResult(agent, "write")).toMatch(/denied this call of writeFile.*Not today\./);
});

test("calls are decided one by one, with another input or a result", async () => {
  const { agent, approval } = await runAsked("both");
  const [first, second] = approval.calls.map(({ id }) => id);
  const unclear = await cli(["approval", "approve", "--input", "{}"]);
  expect([unclear.code, unclear.stderr]).toEqual([2, expect.stringContaining(`choose it with --call: ${first}`)]);
  const unknown = await cli(["approval", "approve", "--call", "none"]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining(`Its calls: ${first} (writeFile)`)]);
  const file = join(dirname(testbed.host().home), "edited.json");
  await writeFile(file, JSON.stringify({ path: "edited.txt", content: "two\n" }));
  const edited = await cli(["approval", "approve", "--call", first ?? "", "--input", `@${file}`]);
  expect(edited.stdout).toBe(`Approved writeFile of ${agent.name}. Still to decide: ${second} (writeFile).\n`);
  await cli(["approval", "approve", "--call", second ?? "", "--result", "I did it."]);
  expect(await getResult(agent, "both")).toMatch(/^Created edited\.txt.* \| I did it\.$/);
  expect((await cli(["approval", "approve", "--input", "{"])).code).toBe(2);
  expect((await cli(["approval", "approve", "--input", "@missing.json"])).stderr).toContain("Cannot read missing.json");
});

test("without an id the only pending approval is meant, and a start of an id must be unique", async () => {
  expect(await cli(["approval", "approve"])).toMatchObject({ code: 1, stderr: "thinkery: No approval is pending.\n" });
  expect(await cli(["approval", "ls"])).toMatchObject({ code: 0, stdout: "Nothing waits for you.\n" });
  // Ids are random; of 17 hexadecimal digits, two are the same.
  const agents = await Promise.all(Array.from({ length: 17 }, () => newAgent()));
  await Promise.all(agents.map((agent) => agent.invoke({ message: "write" })));
  const approvals = await waitUntil("all approvals", async () => {
    const found = (await testbed.api("/approvals")).body.approvals as Approval[];
    return found.length === agents.length ? found : undefined;
  });
  expect((await cli(["approval", "approve"])).stderr).toMatch(/^thinkery: \d+ approvals are pending; pass an id\./);
  const same = findSameStart(approvals) ?? "";
  const ambiguous = await cli(["approval", "approve", same]);
  expect([ambiguous.code, ambiguous.stderr]).toEqual([2, expect.stringContaining(`“${same}” is ambiguous: `)]);
  expect(await cli(["approval", "show", "zzz"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("No approval “zzz”"),
  });
});

function findSameStart(approvals: Approval[]): string | undefined {
  const starts = approvals.map(({ id }) => id.slice(0, 1));
  return starts.find((start, index) => starts.indexOf(start) !== index);
}

test("an approval that has expired is listed as such and cannot be answered", async () => {
  const { agent, approval } = await runAsked("write", { hitl: { tools: ["writeFile"], expiresSeconds: 5 } });
  expect(await getResult(agent, "write")).toMatch(/Nobody approved this call/);
  const listed = await waitUntil("the expiry", async () => {
    const { stdout } = await cli(["approval", "ls", agent.name, "--status", "expired"]);
    return stdout.includes(approval.id.slice(0, 8)) ? stdout : undefined;
  });
  expect(listed).toMatch(/STATUS.*\n.*expired/);
  const late = await cli(["approval", "approve", approval.id]);
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("The approval has expired")]);
});

test("remembered approvals are listed, and asked about again when they are forgotten", async () => {
  const { agent } = await runAsked("write");
  const changed = await cli(["approval", "approve", "--remember", "agent", "--input", "{}"]);
  expect([changed.code, changed.stderr]).toEqual([2, expect.stringContaining("--remember cannot be combined")]);
  const approved = await cli(["approval", "approve", "--remember", "agent"]);
  expect(approved.stdout).toContain("Not asked about any more: writeFile (every call).");
  expect(await getResult(agent, "write")).toMatch(/^Heard: Created a\.txt/);
  expect((await cli(["run", agent.name, "write"])).code).toBe(0);
  const grants = await cli(["approval", "grants"]);
  expect(grants.stdout).toMatch(new RegExp(`writeFile +.+ +${agent.name} +owner`));
  const [{ id }] = (await json(["approval", "grants"])).grants;
  expect((await cli(["approval", "forget", "none"])).code).toBe(1);
  expect(await cli(["approval", "forget", id])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("asked about again"),
  });
  expect((await cli(["run", agent.name, "write"])).code).toBe(4);
});

test("a token needs the scope approve to answer, and read to list", async () => {
  const { approval } = await runAsked("write");
  const newToken = async (...scopes: string[]) => ({
    env: {
      THINKERY_TOKEN: (await json(["token", "new", scopes.join(), ...scopes.flatMap((scope) => ["--scope", scope])]))
        .token,
    },
  });
  const talker = await newToken("chat");
  expect(await cli(["approval", "ls"], talker)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("writeFile"),
  });
  const refused = await cli(["approval", "approve", approval.id], talker);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("scope “approve”")]);
  expect(refused.stderr).toContain("thinkery token new approver --scope read,approve");
  const approver = await newToken("approve,read");
  expect((await cli(["approval", "ls"], approver)).stdout).toContain("writeFile");
  expect((await cli(["approval", "show"], approver)).stdout).toContain("+one");
  expect((await cli(["approval", "approve"], approver)).code).toBe(0);
  const blind = await cli(["approval", "ls"], await newToken("approve"));
  expect([blind.code, blind.stderr]).toEqual([3, expect.stringContaining("scope “read”")]);
});

test("the ask of a sub-agent ends the command of its parent, and is answered like any other", async () => {
  const agent = await newAgent({ hitl: { tools: ["writeFile"] } });
  const { code, stderr } = await cli(["run", agent.name, "delegate"]);
  expect(code).toBe(4);
  expect(stderr).toMatch(new RegExp(`^${agent.name}/\\S+ waits for your approval:$`, "m"));
  expect((await cli(["info", agent.name])).stdout).toMatch(/^waits for +approval of writeFile c\.txt/m);
  expect((await cli(["ls"])).stdout).toMatch(new RegExp(`^${agent.name}/\\S+ .* waits for approval`, "m"));
  await cli(["approval", "approve"]);
  await waitUntil("the result", async () =>
    (await cli(["peek", agent.name, "-n", "1"])).stdout.startsWith("They said: Done"),
  );
});

test("questions are shown, checked and answered", async () => {
  const agent = await newAgent();
  const { code, stderr } = await cli(["run", agent.name, "color"]);
  expect(code).toBe(4);
  expect(stderr).toContain(`${agent.name} waits for your answer:\n  Which color?\n`);
  expect(stderr).toContain(`thinkery answer ${agent.name} "…"`);
  expect((await cli(["approval", "ls"])).stdout).toMatch(new RegExp(`${agent.name} +“Which color\\?”`));
  expect(await cli(["answer", agent.name])).toMatchObject({ code: 0, stdout: "Which color?\n" });
  expect(await cli(["answer", agent.name, "blue", "green"])).toMatchObject({
    code: 0,
    stdout: `Answered ${agent.name}. The turn goes on.\n`,
  });
  await waitUntil("the result", async () => (await cli(["peek", agent.name, "-n", "1"])).stdout === "blue green\n");
  expect(await cli(["answer", agent.name, "red"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("asks nothing"),
  });

  const form = await newAgent();
  await cli(["run", form.name, "form"]);
  expect((await cli(["answer", form.name])).stdout).toContain('"color"');
  const wrong = await cli(["answer", form.name, '{"color": 5}']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("value.color")]);
  expect((await cli(["answer", form.name, "-"], { input: '{"color": "red"}\n' })).code).toBe(0);
  await waitUntil("the result", async () =>
    (await cli(["peek", form.name, "-n", "1"])).stdout.includes('"color":"red"'),
  );
});

test("peek, info and ls show that an agent waits, and for what", async () => {
  const { agent, approval } = await runAsked("write");
  const id = approval.id.slice(0, 8);
  expect((await cli(["peek", agent.name])).stdout).toContain(
    `Waits for approval of writeFile a.txt (thinkery approval show ${id})`,
  );
  expect((await cli(["peek"])).stdout).toMatch(new RegExp(`^${agent.name} +paused \\(Approve writeFile\\?\\)`, "m"));
  expect((await cli(["info", agent.name])).stdout).toMatch(/^waits for +approval of writeFile a\.txt/m);
  expect((await json(["info", agent.name])).approvals).toEqual([approval]);
  expect((await cli(["ls"])).stdout).toMatch(new RegExp(`^${agent.name} .* waits for approval$`, "m"));
});

test("the rules of an agency are set from a file with comments, and shown", async () => {
  const rules =
    '// ours\n[{ "tool": "deleteFile", "action": "deny" }, { "tool": "bash", "match": "rm *", "action": "ask", },]';
  const set = await cli(["policy", "set", "-"], { input: rules });
  expect(set).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/deny +deleteFile +every call +all\nask +bash +rm \* +all/),
  });
  const shown = (await cli(["policy", "show", "--json"])).stdout;
  expect(JSON.parse(shown).rules).toHaveLength(2);
  expect((await cli(["policy", "set", "@global"], { input: shown })).stdout).toBe(set.stdout);
  const invalid = await cli(["policy", "set"], { input: '[{ "tool": "bash", "acton": "ask" }]' });
  expect([invalid.code, invalid.stderr]).toEqual([2, expect.stringContaining("rules.0")]);
  expect((await cli(["policy", "set", "none.jsonc"])).stderr).toContain("Cannot read none.jsonc");
  expect((await cli(["policy", "set"], { input: "[]" })).stdout).toBe(
    "global has no rules. Blueprints may have their own.\n",
  );
});

test("a temporary agent that waits is kept, and a piped chat stops at what waits", async () => {
  const kept = await cli(["run", "--new", "color"]);
  expect([kept.code, kept.stderr]).toEqual([
    4,
    expect.stringMatching(/Kept the agent job-\w+, because its turn waits/),
  ]);
  const agent = await newAgent();
  const chat = await cli(["chat", agent.name], { input: "write\nboth\n" });
  expect([chat.code, chat.stdout]).toEqual([4, ""]);
});
