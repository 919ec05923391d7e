import type { Subagent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { hasBubblewrap } from "../kit/has-bubblewrap.ts";
import { runCli } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// Sub-agents that work on branches of their parent's files, and the merges of those.

const team = 8;
let testbed: Testbed;

const call = (tool: string, input: object) => ({ call: { tool, input } });
const task = (description: string, more: object = {}) => ({
  tool: "task",
  input: { description, workspace: "fork", ...more },
});
const delegate = (description: string, more: object = {}) => [
  { call: task(description, more) },
  { text: "{{ results.0 }}" },
];
const write = (path: string, content: string) => call("writeFile", { path, content });
const edit = (path: string, oldString: string, newString: string) => call("editFile", { path, oldString, newString });

const hangingCheck = "while true; do sleep 1; done";
const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join("");

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      maxFailuresPerMinute: 1000,
      sandboxSlots: 2,
      model: "scripted:parent",
      models: { fast: "scripted:child" },
      turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
      subagents: { mergeCheckSeconds: 8, initialCheckSeconds: 2, checkIntervalSeconds: 2 },
    },
    scripts: {
      parent: [
        {
          when: "/^team$/",
          steps: [
            { calls: Array.from({ length: team }, (_, index) => task(`member ${index}`)) },
            { text: "{{ results.0 }}" },
          ],
        },
        { when: "/^passes$/", steps: delegate("add a", { check: "grep -q A a.txt && touch artefact.txt" }) },
        { when: "/^fails$/", steps: delegate("add a", { check: "echo looked; grep -q B a.txt" }) },
        { when: "/^hangs$/", steps: delegate("add a", { check: hangingCheck }) },
        {
          when: "/^two$/",
          steps: [
            { calls: [task("add a", { check: hangingCheck }), task("add b later")] },
            { text: "{{ results.0 }}" },
          ],
        },
        {
          when: "/^passes in a shell$/",
          steps: delegate("add a", { check: "grep -q A a.txt && echo x > artefact.txt" }),
        },
        { when: "/^warm up$/", steps: [call("bash", { command: "printf ready" }), { text: "{{ results.0 }}" }] },
        { when: "/^evades$/", steps: delegate("add a", { check: 'c=touch; "$c" artefact.txt' }) },
        { when: "/^forbidden$/", steps: delegate("add a", { check: "cat a.txt; rm -f a.txt" }) },
        { when: "/^shared check$/", steps: delegate("add a", { workspace: "shared", check: "true" }) },
        {
          when: "/^broken$/",
          steps: [{ calls: [task("add a and break"), task("break")] }, { text: "{{ results.0 }}|{{ results.1 }}" }],
        },
        { when: "/^every shell$/", steps: delegate("use every shell") },
        { when: "/^nested$/", steps: delegate("pass it on") },
        { when: "/^shared below$/", steps: delegate("share it") },
        { when: "/^left below$/", steps: delegate("leave it below") },
        { when: "/^forever$/", steps: delegate("add a and wait") },
        { when: "/^slow check$/", steps: delegate("add a", { check: "sleep 2; grep -q A a.txt" }) },
        { steps: [{ text: "ok" }] },
      ],
      child: [
        ...Array.from({ length: team }, (_, index) => ({
          when: `/^member ${index}$/`,
          steps: [
            call("readFile", { path: "shared.txt" }),
            // Two neighbours each change the same line, in different ways. Other pairs are far away.
            edit("shared.txt", `line ${5 + 5 * (index >> 1)}\n`, `line of ${index}\n`),
            write(`own-${index}.txt`, `${index}\n`),
            call("glob", { pattern: "own-*.txt" }),
            { text: "{{ results.glob }}" },
          ],
        })),
        { when: "/^add a$/", steps: [write("a.txt", "A\n"), { text: "added" }] },
        { when: "/^add b later$/", steps: [{ wait: 1500 }, write("b.txt", "B\n"), { text: "added" }] },
        { when: "/^add a and break$/", steps: [write("a.txt", "A\n"), { fail: { status: 400 } }] },
        { when: "/^break$/", steps: [{ fail: { status: 400 } }] },
        {
          when: "/^pass it on$/",
          steps: [
            write("above.txt", "1\n"),
            { call: task("look around") },
            call("glob", { pattern: "*" }),
            { text: "{{ results.glob }}" },
          ],
        },
        {
          when: "/^look around$/",
          steps: [call("glob", { pattern: "*" }), write("below.txt", "2\n"), { text: "{{ results.glob }}" }],
        },
        {
          when: "/^share it$/",
          steps: [
            write("above.txt", "1\n"),
            { call: task("look around", { workspace: "shared" }) },
            { text: "{{ results.task }}" },
          ],
        },
        {
          when: "/^leave it below$/",
          steps: [
            call("createSubtask", { title: "add b later" }),
            call("delegateToSubagent", { taskId: "{{ results.0.taskId }}", workspace: "fork" }),
            { text: "left" },
          ],
        },
        {
          when: "/^use every shell$/",
          steps: [
            write("a.txt", "A\n"),
            call("bash", { command: "cat a.txt; echo B > b.txt" }),
            call("executeCode", { code: "return fs.readFile('/work/b.txt')" }),
            call("sandbox", { command: "cat a.txt b.txt; echo C > c.txt" }),
            { text: "{{ results.bash }}|{{ results.executeCode }}|{{ results.sandbox }}" },
          ],
        },
        { when: "/^add a and wait$/", steps: [write("a.txt", "A\n"), { wait: 60_000 }, { text: "late" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

vi.setConfig({ testTimeout: 120_000 });

async function say(agent: TestAgent, message: string): Promise<string> {
  const { runId } = await agent.invoke({ message });
  const { type, data } = await agent.waitForEnd(runId, 60_000);
  expect([message, type, JSON.stringify(data)]).toEqual([message, "agent.completed", expect.any(String)]);
  return (data as { result: string }).result;
}

/** A slot may start slowly on a busy machine. */
const warmUp = (agent: TestAgent) =>
  waitUntil("a shell", async () => (await say(agent, "warm up")) === "ready", { timeoutMs: 60_000 });

const list = async ({ at }: TestAgent): Promise<Subagent[]> => (await testbed.api(`${at}/subagents`)).body.subagents;
const read = async ({ at }: Pick<TestAgent, "at">, path: string) => {
  const { status, body } = await testbed.api(`${at}/files/${path}`);
  return status === 200 ? (body as string) : status;
};
const put = ({ at }: TestAgent, path: string, content: string) =>
  testbed.api(`${at}/files`, "POST", { edits: [{ write: path, content }] });
const listFiles = async ({ at }: TestAgent) =>
  (await testbed.api(`${at}/files`)).body.files.map(({ path }: { path: string }) => path);
const listBranches = async ({ at }: TestAgent): Promise<string[]> =>
  (await testbed.api(`${at}/branches`)).body.branches.map(({ id }: { id: string }) => id);
/** A branch is removed right after the report. */
const waitForNoBranches = (agent: TestAgent) =>
  waitUntil("all branches to be removed", async () => (await listBranches(agent)).length === 0);

test(`${team} sub-agents change one repository at the same time, and everything they did is there`, async () => {
  const agent = await testbed.newAgent();
  await put(agent, "shared.txt", lines);
  // Each saw its own files only.
  expect(await say(agent, "team")).toMatch(/^own-0\.txt\n\n/);
  await waitForNoBranches(agent);
  const text = (await read(agent, "shared.txt")) as string;
  for (let index = 0; index < team; index++) {
    expect(await read(agent, `own-${index}.txt`)).toBe(`${index}\n`);
    expect(text).toContain(`line of ${index}\n`);
  }
  const subagents = await list(agent);
  expect(subagents.map(({ merge }) => merge?.isMerged)).toEqual(Array.from({ length: team }, () => true));
  // Of each pair, the second to be merged met the first.
  const overlaps = subagents.flatMap(({ merge }) => merge?.overlaps ?? []);
  expect(overlaps).toHaveLength(team / 2);
  expect(overlaps[0]).toEqual({
    path: "shared.txt",
    line: expect.any(Number),
    reason: expect.stringContaining("kept"),
  });
  expect(text.match(/^<{7} /gm)).toHaveLength(team / 2);
  const results = (await agent.log()).flatMap(({ type, data }) =>
    type === "tool.output" ? [String(data.output)] : [],
  );
  expect(results.filter((result) => result.includes("Both changes are kept"))).toHaveLength(team / 2);
  const { versions } = (await testbed.api(`${agent.at}/versions`)).body;
  const merges = versions.flatMap((version: { merges?: string }) => version.merges ?? []);
  expect(merges.toSorted()).toEqual(subagents.map(({ facetName }) => facetName).toSorted());
  const state = await agent.state();
  expect(state.subagents.map(({ merge }: Subagent) => merge?.isMerged)).not.toContain(false);
  // The merges belong to the turn.
  const { runId } = await agent.run();
  expect((await testbed.api(`${agent.at}/revert`, "POST", { turn: runId })).status).toBe(201);
  expect(await listFiles(agent)).toEqual(["shared.txt"]);
});

test.skipIf(!(await hasBubblewrap()))("the shell, code and programs of a fork work on its branch", async () => {
  const agent = await testbed.newAgent();
  await warmUp(agent);
  expect(await say(agent, "every shell")).toMatch(/^A\n?\|.*B.*\|A\nB\n/s);
  expect(await listFiles(agent)).toEqual(["a.txt", "b.txt", "c.txt"]);
  const { versions } = (await testbed.api(`${agent.at}/versions`)).body;
  // Only the merge is on main.
  expect(versions).toHaveLength(1);
});

test("a check that succeeds lets the merge land, without what the check wrote", async () => {
  const agent = await testbed.newAgent();
  expect(await say(agent, "passes")).toMatch(
    /^added\n\nIts branch was merged as version \d+\. 1 file changed: a\.txt\.$/,
  );
  expect(await listFiles(agent)).toEqual(["a.txt"]);
  expect((await list(agent))[0]?.merge?.check).toMatchObject({ exitCode: 0 });
  await waitForNoBranches(agent);
});

test("a check that fails leaves the branch and says so", async () => {
  const agent = await testbed.newAgent();
  const result = await say(agent, "fails");
  const [subagent] = await list(agent);
  const branch = subagent?.facetName ?? "";
  expect(result).toBe(
    `added\n\nThe work is on branch “${branch}”. It was not merged: the check “echo looked; grep -q B a.txt” failed (exit code 1).\nlooked`,
  );
  expect(subagent).toMatchObject({
    status: "complete",
    branch,
    merge: { isMerged: false, check: { exitCode: 1, output: expect.stringContaining("looked") } },
  });
  expect(await listFiles(agent)).toEqual([]);
  // The sub-agent's own files are still there.
  expect(await read({ at: `${agent.at}/sub/${branch}` }, "a.txt")).toBe("A\n");
  const below = `${agent.at}/sub/${branch}`;
  const edits = [{ write: "note.txt", content: "N\n" }];
  expect((await testbed.api(`${below}/files`, "POST", { edits })).status).toBe(201);
  expect((await testbed.api(`${below}/versions`)).body.versions).toHaveLength(2);
  expect((await testbed.api(`${below}/files?branch=main`)).body.files).toEqual([]);
  expect((await testbed.api(`${below}/files/note.txt`, "DELETE")).status).toBe(204);
  expect(await listFiles(agent)).toEqual([]);
  const merge = (body: object) => testbed.api(`${agent.at}/branches/${branch}/merge`, "POST", body);
  const refused = await merge({ check: "cat a.txt; exit 3" });
  expect(refused).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining("exit code 3") } } });
  expect(refused.body.error.message).toContain("\nA");
  expect(await merge({ check: "grep -q A a.txt", dryRun: true })).toMatchObject({
    status: 200,
    body: { check: { exitCode: 0 } },
  });
  expect(await listFiles(agent)).toEqual([]);
  expect(await merge({ check: "grep -q A a.txt" })).toMatchObject({
    status: 201,
    body: { changes: [{ path: "a.txt" }], check: { exitCode: 0 } },
  });
  expect(await listFiles(agent)).toEqual(["a.txt"]);
  expect((await testbed.api(`${agent.at}/subagents/${subagent?.taskId}`, "DELETE")).status).toBe(204);
  expect(await listBranches(agent)).toEqual([]);
});

test("a check that hangs is killed, and the other sub-agents go on meanwhile", async () => {
  const agent = await testbed.newAgent();
  expect(await say(agent, "two")).toContain("did not finish within 8 s.");
  const subagents = await list(agent);
  const [first, second] = ["add a", "add b later"].map((job) => subagents.find(({ title }) => title === job));
  expect(first?.merge).toMatchObject({ isMerged: false, check: { endedBy: "timeout" } });
  expect(second?.merge).toMatchObject({ isMerged: true });
  const order = (await agent.log()).flatMap(({ type, data }) =>
    type === "subagent.reported" || type === "subagent.completed" ? [[type, data.taskId]] : [],
  );
  expect(order).toEqual([
    ["subagent.reported", first?.taskId],
    ["subagent.reported", second?.taskId],
    ["subagent.completed", first?.taskId],
    ["subagent.completed", second?.taskId],
  ]);
  expect(await listFiles(agent)).toEqual(["b.txt"]);
  expect(await listBranches(agent)).toEqual([first?.facetName]);
});

test("an agent without the sandbox tool checks in a shell", async () => {
  const config = {
    policy: [
      { tool: "sandbox", action: "deny" },
      { tool: "bash", match: "touch", action: "deny" },
    ],
  };
  const agent = await testbed.newAgent({ blueprint: await testbed.newBlueprint({ config }) });
  await warmUp(agent);
  expect(await say(agent, "fails")).toContain("failed (exit code 1).\nlooked");
  expect(await say(agent, "hangs")).toContain("did not finish within 8 s.");
  // The shell itself enforces the policy, whatever the command line looks like.
  expect(await say(agent, "evades")).toContain("It was not merged: the check");
  expect(await listFiles(agent)).toEqual([]);
  expect(await say(agent, "passes in a shell")).toContain("Its branch was merged as version");
  expect(await listFiles(agent)).toEqual(["a.txt"]);
});

test("a check needs a fork, and what the policy denies", async () => {
  const config = { policy: [{ tool: "bash", match: "rm", action: "deny" }] };
  const blueprint = await testbed.newBlueprint({ config });
  const agent = await testbed.newAgent({ blueprint });
  expect(await say(agent, "forbidden")).toMatch(/The check “.*” is not allowed\. .*“rm”/);
  expect(await say(agent, "shared check")).toContain("A check is for the merge of a fork.");
  expect(await list(agent)).toEqual([]);
  await testbed.api(`${agent.at}/branches`, "POST", { name: "mine" });
  const { status } = await testbed.api(`${agent.at}/branches/mine/merge`, "POST", { check: "rm -f a.txt" });
  expect(status).toBe(403);
});

test("the branch of a sub-agent that failed stays only if there is something on it", async () => {
  const agent = await testbed.newAgent();
  const [changed = "", unchanged = ""] = (await say(agent, "broken")).split("|");
  const kept = (await list(agent)).find(({ title }) => title === "add a and break");
  expect(changed).toContain(`The work is on branch “${kept?.facetName}”. It was not merged`);
  expect(unchanged).not.toContain("branch");
  expect(await listBranches(agent)).toEqual([kept?.facetName]);
  expect(await listFiles(agent)).toEqual([]);
  await testbed.api(`${agent.at}/messages`, "DELETE");
  expect(await listBranches(agent)).toEqual([]);
});

test("a fork of a fork is merged into that", async () => {
  const agent = await testbed.newAgent();
  expect(await say(agent, "nested")).toMatch(/^above\.txt\nbelow\.txt\n/);
  expect(await listFiles(agent)).toEqual(["above.txt", "below.txt"]);
  await waitForNoBranches(agent);
});

test("a fork is merged after those that its sub-agent left working", async () => {
  const agent = await testbed.newAgent();
  expect(await say(agent, "left below")).toMatch(/^left\n\n.*added.*Its branch was merged.*1 file changed: b\.txt\.$/s);
  expect(await listFiles(agent)).toEqual(["b.txt"]);
  await waitForNoBranches(agent);
});

test("a sub-agent of one with a fork can share that fork", async () => {
  const agent = await testbed.newAgent();
  expect(await say(agent, "shared below")).toMatch(/^above\.txt/);
  expect(await listFiles(agent)).toEqual(["above.txt", "below.txt"]);
  await waitForNoBranches(agent);
});

test("a sub-agent that is cancelled is not merged, and what it wrote is kept on its branch", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "forever" });
  const branch = await waitUntil("its file", async () => {
    const [subagent] = await list(agent);
    const at = `${agent.at}/sub/${subagent?.facetName}`;
    return (await read({ at }, "a.txt")) === "A\n" && subagent?.facetName;
  });
  expect(await read(agent, "a.txt")).toBe(404);
  await agent.cancel({ runId });
  const closed = await agent.waitForEvent("the end", ({ type }) => type === "subagent.closed");
  expect(closed.data).toMatchObject({ merge: { branch, isMerged: false } });
  expect((await list(agent))[0]).toMatchObject({ status: "cancelled", branch, merge: { isMerged: false } });
  expect(await listBranches(agent)).toEqual([branch]);
});

test("a branch that cannot be created is the result of the call", async () => {
  const agent = await testbed.newAgent();
  for (let number = 1; number <= 100; number++)
    await testbed.api(`${agent.at}/branches`, "POST", { name: `b${number}` });
  expect(await say(agent, "passes")).toContain(
    "Its branch could not be created. A workspace can have at most 100 branches.",
  );
});

test("a branch of somebody else that has the name is left alone", async () => {
  const agent = await testbed.newAgent();
  const { taskId } = (await testbed.api(`${agent.at}/tasks`, "POST", { title: "add a" })).body;
  const name = `subagent-${taskId}`;
  await testbed.api(`${agent.at}/branches`, "POST", { name });
  await testbed.api(`${agent.at}/subagents/spawn`, "POST", { taskId, workspace: "fork" });
  await agent.waitForEvent("the end", ({ type }) => type === "subagent.closed");
  expect((await list(agent))[0]).toMatchObject({ status: "failed", error: expect.stringContaining("already exists") });
  await testbed.api(`${agent.at}/subagents/${taskId}`, "DELETE");
  expect(await listBranches(agent)).toEqual([name]);
});

test("the command line shows branches and merges them with a check", async () => {
  const run = (...args: string[]) => runCli(args, testbed.home, { program: testbed.program });
  const agent = await testbed.newAgent();
  await say(agent, "fails");
  const branch = (await list(agent))[0]?.facetName ?? "";
  expect((await run("ls", agent.name)).stdout).toMatch(
    new RegExp(`^NAME +BLUEPRINT +STATUS +BRANCH +TASK\n${branch} +think +complete +check failed +add a\n$`),
  );
  expect((await run("info", agent.name)).stdout).toContain(`${branch} (think, complete, not merged)`);
  const merge = (...more: string[]) => run("branch", "merge", agent.name, branch, ...more);
  const refused = await merge("--check", "cat a.txt; exit 3");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/was not merged: the check “cat a\.txt; exit 3” failed \(exit code 3\)\.\s+A/);
  expect(await listFiles(agent)).toEqual([]);
  const merged = await merge("--check", "grep -q A a.txt");
  expect([merged.code, merged.stdout]).toEqual([
    0,
    expect.stringMatching(/^The check succeeded\.\nMerged \S+ as version \d+: \+a\.txt\.\n$/),
  ]);
  const json = JSON.parse((await merge("--json", "--check", "true")).stdout);
  expect(json).toMatchObject({ changes: [], overlaps: [] });
});

test("a restart during a check changes nothing about the end", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "slow check" });
  await agent.waitForEvent("the merge", ({ type }) => type === "subagent.reported");
  expect((await list(agent))[0]).toMatchObject({ status: "running", activity: "Merging its branch" });
  await testbed.restartMain();
  const { data } = await agent.waitForEnd(runId, 40_000);
  expect(data).toMatchObject({ result: expect.stringContaining("Its branch was merged") });
  expect(await listFiles(agent)).toEqual(["a.txt"]);
  await waitForNoBranches(agent);
  expect((await agent.log()).filter(({ type }) => type === "subagent.completed")).toHaveLength(1);
});
