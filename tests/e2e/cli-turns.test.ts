import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess } from "../kit/host-process.ts";
import { waitForExit, findMain } from "../kit/processes.ts";
import { openScriptedHost, readAgentState, bindCli, countingText } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";

let host: HostProcess;
let thinkery: ReturnType<typeof bindCli>;

beforeAll(async () => {
  host = await openScriptedHost(["alice", "bob", "counter", "crasher", "followed"]);
  thinkery = bindCli(host);
});

afterAll(() => host?.stop());

const readState = (agent: string) => readAgentState(host, agent);

test("run streams the response to stdout and everything else to stderr", async () => {
  const { code, stdout, stderr } = await host.runCli(["run", "alice", "make", "a", "plan"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Let me plan.\nPlanned.\n" });
  expect(stderr).toContain("Title: A plan\n  [~] one\n  [ ] two\n");
  expect(stderr).toMatch(/^· no_such_tool \{"a":1\} → failed: .+$/m);
  expect(stdout + stderr).not.toContain("\u001b");

  const reasoned = await host.runCli(["run", "alice", "--reasoning", "count"]);
  expect(reasoned).toMatchObject({ code: 0, stdout: `${countingText}\n`, stderr: "I count.\n" });
});

test("the exit code reflects the outcome, and a failure says what to do", async () => {
  const failed = await host.runCli(["run", "alice", "refuse"]);
  expect({ code: failed.code, stdout: failed.stdout }).toEqual({ code: 1, stdout: "" });
  expect(failed.stderr).toMatch(/^thinkery: .*key.*\n$/);

  const json = await host.runCli(["run", "alice", "refuse", "--json"]);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ status: "error", failure: { code: "model_auth" } });
});

test("invalid input is rejected before a message is sent", async () => {
  const runForError = async (...args: string[]) => {
    const { code, stdout, stderr } = await host.runCli(args);
    expect(stdout).toBe("");
    return { code, stderr };
  };
  expect(await runForError("run", "alcie", "hi")).toEqual({
    code: 1,
    stderr: expect.stringContaining("Did you mean alice?"),
  });
  expect(await runForError("send", "alcie", "hi")).toEqual({
    code: 1,
    stderr: expect.stringContaining("Did you mean alice?"),
  });
  expect(await runForError("run", "review.yaml")).toEqual({
    code: 2,
    stderr: "thinkery: review.yaml does not exist.\n",
  });
  expect(await runForError("run", "alice")).toEqual({ code: 2, stderr: expect.stringContaining("empty") });
  expect(await runForError("run", "alice", "hi", "-m", "scripted:talker")).toEqual({
    code: 2,
    stderr: expect.stringContaining("--new"),
  });
  expect(await runForError("serve", "@global", "hi")).toEqual({ code: 2, stderr: expect.stringContaining("agency") });
});

test("a message of five megabytes is rejected with an error, and the agent is unchanged", async () => {
  const { code, stdout, stderr } = await host.runCli(["send", "bob"], { input: "x".repeat(5_000_000) });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^thinkery: The message has 5000000 characters/);
  expect((await readState("bob")).state.messages).toEqual([]);
});

test("serve prints only the response, or the whole outcome with --json", async () => {
  expect(await host.runCli(["serve", "alice", "-"], { input: "from stdin\n" })).toEqual({
    code: 0,
    stdout: "You said: from stdin\n",
    stderr: "",
  });
  const { code, stdout } = await host.runCli(["serve", "alice", "plan", "--json"]);
  expect(code).toBe(0);
  const outcome = JSON.parse(stdout);
  expect(outcome).toMatchObject({ agent: "alice", status: "completed", content: "Planned.", usage: { costUsd: 0 } });
  expect(outcome.toolCalls).toMatchObject([
    { name: "set_title", input: { title: "A plan" }, output: expect.any(String) },
    { name: "write_todos" },
    { name: "no_such_tool", failed: true },
  ]);
});

test("send returns at once; the same key yields the same turn, with and without --wait", async () => {
  const first = JSON.parse((await host.runCli(["send", "bob", "--key", "k1", "hello", "--json"])).stdout);
  expect(first).toMatchObject({ runId: expect.any(String), position: 0 });
  const again = JSON.parse((await host.runCli(["send", "bob", "--key", "k1", "hello", "--json"])).stdout);
  expect(again).toMatchObject({ runId: first.runId, duplicate: true });
  const waited = await host.runCli(["send", "bob", "--key", "k1", "--wait", "hello"]);
  expect(waited).toMatchObject({ code: 0, stdout: "You said: hello\n" });
  expect((await readState("bob")).state.messages.filter(({ role }) => role === "user")).toHaveLength(1);
  expect(await host.runCli(["send", "bob", "--wait"], { input: "piped" })).toMatchObject({
    code: 0,
    stdout: "You said: piped\n",
  });
});

test("Ctrl+C in run cancels the turn on the host and exits with 130", async () => {
  const run = thinkery("run", "counter", "count slowly");
  await waitUntil("the response to start", () => run.out().includes("word5 "));
  run.child.kill("SIGINT");
  expect(await waitForExit(run.child)).toBe(130);
  expect(run.err()).toContain("The turn was canceled.");
  expect(run.out()).not.toContain("word120");
  expect((await readState("counter")).run.status).toBe("canceled");
});

test("a message can steer the running turn, interrupt it or queue behind it", async () => {
  const first = thinkery("run", "counter", "count slowly");
  await waitUntil("the response to start", () => first.out().includes("word5 "));
  const joined = await host.runCli(["run", "counter", "--mode", "steer", "by the way"]);
  expect(joined).toEqual({ code: 0, stdout: "You said: by the way\n", stderr: "" });
  expect(await waitForExit(first.child)).toBe(0);
  expect(first.out()).toBe(`${countingText}\nYou said: by the way\n`);

  const second = thinkery("run", "counter", "count slowly");
  await waitUntil("the response to start", () => second.out().includes("word5 "));
  const queued = thinkery("run", "counter", "later");
  await waitUntil("the turn to be queued", () => queued.err() === "Queued behind 1 other turn.\n");
  expect(await host.runCli(["run", "counter", "--mode", "interrupt", "now"])).toEqual({
    code: 0,
    stdout: "You said: now\n",
    stderr: "",
  });
  expect(await waitForExit(second.child)).toBe(1);
  expect(await waitForExit(queued.child)).toBe(0);
  expect(queued.out()).toBe("You said: later\n");
});

test("cancel cancels an agent's turn and leaves the agent and the host running", async () => {
  expect((await host.runCli(["cancel", "counter"])).stdout).toBe("counter has no turn to cancel.\n");
  const run = thinkery("run", "counter", "count slowly");
  await waitUntil("the response to start", () => run.out().includes("word5 "));
  expect(JSON.parse((await host.runCli(["cancel", "counter", "--json"])).stdout)).toMatchObject({
    canceled: true,
    agent: "counter",
  });
  expect(await waitForExit(run.child)).toBe(1);
  expect(run.err()).toContain("The turn was canceled.");
  expect((await host.runCli(["status"])).code).toBe(0);
});

test("cancel --all cancels every turn, queued ones included", async () => {
  const run = thinkery("run", "counter", "count slowly");
  await waitUntil("the response to start", () => run.out().includes("word5 "));
  await host.runCli(["send", "counter", "count slowly"]);
  expect(JSON.parse((await host.runCli(["cancel", "--all", "--json"])).stdout)).toEqual({
    canceled: ["counter@global", "counter@global"],
  });
  expect(await waitForExit(run.child)).toBe(1);
  expect((await host.runCli(["cancel", "--all"])).stdout).toBe("No agent has a turn to cancel.\n");
  expect((await host.runCli(["cancel", "counter", "--all"])).code).toBe(2);
  expect((await host.runCli(["cancel"])).code).toBe(2);
});

test("stop stops an agent until start, and the host only with --all", async () => {
  const run = thinkery("run", "counter", "count slowly");
  await waitUntil("the response to start", () => run.out().includes("word5 "));
  await host.runCli(["send", "counter", "later"]);
  expect(await host.runCli(["stop", "counter"])).toMatchObject({
    code: 0,
    stdout: "Stopped counter. 1 queued turn waits.\n",
  });
  expect(await waitForExit(run.child)).toBe(1);
  expect((await host.runCli(["info", "counter"])).stdout).toMatch(/status +stopped/);
  const refused = await host.runCli(["send", "counter", "no"]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("thinkery start")]);
  expect((await host.runCli(["stop", "counter", "--all"])).code).toBe(2);
  expect((await host.runCli(["start", "counter", "--port", "1"])).code).toBe(2);
  expect(await host.runCli(["start", "counter"])).toMatchObject({ code: 0, stdout: "Started counter.\n" });
  await waitUntil("the queued turn to run", async () =>
    (await host.runCli(["peek", "counter"])).stdout.includes("You said: later"),
  );
  expect((await host.runCli(["status"])).code).toBe(0);
});

test("a response interrupted by kill -9 of main still arrives completely, and once", async () => {
  const run = thinkery("run", "crasher", "count");
  await waitUntil("the response to start", () => run.out().includes("word40 "));
  const main = findMain(host.home);
  process.kill(main?.pid ?? 0, "SIGKILL");
  expect(await waitForExit(run.child)).toBe(0);
  expect(run.out()).toBe(`${countingText}\n`);
  expect(run.err()).toContain("Connection lost; reconnecting…");
  expect((await readState("crasher")).state.messages.filter(({ role }) => role === "user")).toHaveLength(1);
});

test("run --new deletes its agent afterwards", async () => {
  const before = (await host.runCli(["ls", "--json"])).stdout;
  const result = await host.runCli(["run", "--new", "-m", "scripted:talker", "good", "day"]);
  expect(result).toEqual({ code: 0, stdout: "You said: good day\n", stderr: "" });
  expect((await host.runCli(["ls", "--json"])).stdout).toBe(before);
});

test("model output cannot control the terminal", async () => {
  const control = /[^\P{Cc}\n\t]/u;
  const result = await host.runCli(["run", "alice", "evil"]);
  expect(result.stdout).toBe("\ufffd[2J\ufffd]0;owned\ufffd\ufffd31mred\ufffdover\n");
  for (const args of [
    ["peek", "alice"],
    ["peek"],
    ["export", "alice", "--format", "markdown"],
    ["export", "alice"],
    ["serve", "alice", "evil", "--json"],
  ]) {
    const { code, stdout, stderr } = await host.runCli(args);
    expect({ args, code }).toEqual({ args, code: 0 });
    expect(stdout).toContain("owned");
    expect(stdout + stderr).not.toMatch(control);
  }
});

test("peek, stats, info and export show the conversation, and clear deletes it", async () => {
  await host.runCli(["run", "bob", "plan"]);
  const peeked = await host.runCli(["peek", "bob", "-n", "2"]);
  expect(peeked.stdout.trimEnd().split("\n")).toHaveLength(2);
  expect(peeked.stdout).toMatch(/Planned\.\n$/);
  expect((await host.runCli(["peek"])).stdout).toMatch(/^bob +completed +A plan +Planned\.$/m);

  const usage = JSON.parse((await host.runCli(["stats", "bob", "--json"])).stdout);
  expect(usage).toMatchObject({ agent: "bob", total: { costUsd: 0 }, byModel: [{ model: "scripted:talker" }] });
  const { agents, total } = JSON.parse((await host.runCli(["stats", "--json"])).stdout);
  expect(total.calls).toBe(agents.reduce((sum: number, agent: any) => sum + agent.total.calls, 0));
  expect((await host.runCli(["stats"])).stdout).toMatch(new RegExp(`^total +\\d+ +${total.calls} `, "m"));

  const info = JSON.parse((await host.runCli(["info", "bob", "--json"])).stdout);
  expect(info).toMatchObject({
    name: "bob",
    title: "A plan",
    usedModel: "scripted:talker",
    queued: 0,
    run: { status: "completed" },
  });

  expect((await host.runCli(["export", "bob", "-o", "bob.json"])).stdout).toBe("Exported bob to bob.json.\n");
  const exported = JSON.parse(await readFile(join(dirname(host.home), "bob.json"), "utf8"));
  expect(exported).toMatchObject({ format: "thinkery-agent", version: 1, title: "A plan" });
  expect((await host.runCli(["export", "bob", "--format", "markdown"])).stdout).toContain("# A plan\n");
  expect((await host.runCli(["export", "bob", "-o", "no/such/folder"])).code).toBe(2);

  expect(await host.runCli(["clear", "bob", "--yes"])).toMatchObject({
    code: 0,
    stdout: "Cleared the conversation of bob in global.\n",
  });
  expect((await host.runCli(["peek", "bob", "--json"])).stdout).toContain('"messages": []');
});

test("peek -f shows messages from other clients as they arrive", async () => {
  const peek = thinkery("peek", "followed", "-n", "0", "-f");
  await waitUntil("the socket", async () => {
    await host.runCli(["run", "followed", "over here"]);
    return peek.out().includes("You said: over here") && peek.err().includes("> over here");
  });
  peek.child.kill("SIGINT");
  expect(await waitForExit(peek.child)).toBe(130);
});
