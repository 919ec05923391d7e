import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess } from "../kit/host-process.ts";
import { waitForExit, findMain } from "../kit/processes.ts";
import { openScriptedHost, readAgentState, bindCli, countingText } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";

let house: HostProcess;
let thinkery: ReturnType<typeof bindCli>;

beforeAll(async () => {
  house = await openScriptedHost(["alice", "bob", "counter", "crasher", "followed"]);
  thinkery = bindCli(house);
});

afterAll(() => house?.stop());

const readState = (agent: string) => readAgentState(house, agent);

test("run streams the answer to stdout and everything else to stderr", async () => {
  const { code, stdout, stderr } = await house.runCli(["run", "alice", "make", "a", "plan"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Let me plan.\nPlanned.\n" });
  expect(stderr).toContain("Title: A plan\n  [~] one\n  [ ] two\n");
  expect(stderr).toMatch(/^· no_such_tool \{"a":1\} → failed: .+$/m);
  expect(stdout + stderr).not.toContain("\u001b");

  const reasoned = await house.runCli(["run", "alice", "--reasoning", "count"]);
  expect(reasoned).toMatchObject({ code: 0, stdout: `${countingText}\n`, stderr: "I count.\n" });
});

test("the exit code is the outcome's, and a failure says what to do", async () => {
  const failed = await house.runCli(["run", "alice", "refuse"]);
  expect({ code: failed.code, stdout: failed.stdout }).toEqual({ code: 1, stdout: "" });
  expect(failed.stderr).toMatch(/^thinkery: .*key.*\n$/);

  const json = await house.runCli(["run", "alice", "refuse", "--json"]);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ status: "error", failure: { code: "model_auth" } });
});

test("what cannot be run is refused before anything is said", async () => {
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await house.runCli(args);
    expect(stdout).toBe("");
    return { code, stderr };
  };
  expect(await refused("run", "alcie", "hi")).toEqual({
    code: 1,
    stderr: expect.stringContaining("did you mean alice?"),
  });
  expect(await refused("send", "alcie", "hi")).toEqual({
    code: 1,
    stderr: expect.stringContaining("did you mean alice?"),
  });
  expect(await refused("run", "review.yaml")).toEqual({ code: 2, stderr: expect.stringContaining("workflow files") });
  expect(await refused("run", "alice")).toEqual({ code: 2, stderr: expect.stringContaining("empty") });
  expect(await refused("run", "alice", "hi", "-m", "scripted:talker")).toEqual({
    code: 2,
    stderr: expect.stringContaining("--new"),
  });
  expect(await refused("serve", "@global", "hi")).toEqual({ code: 2, stderr: expect.stringContaining("agency") });
});

test("a message of five megabytes is refused with a sentence, and the agent is as it was", async () => {
  const { code, stdout, stderr } = await house.runCli(["send", "bob"], { input: "x".repeat(5_000_000) });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^thinkery: The message has 5000000 characters/);
  expect((await readState("bob")).state.messages).toEqual([]);
});

test("serve prints the answer alone, with --json the whole outcome", async () => {
  expect(await house.runCli(["serve", "alice", "-"], { input: "from stdin\n" })).toEqual({
    code: 0,
    stdout: "You said: from stdin\n",
    stderr: "",
  });
  const { code, stdout } = await house.runCli(["serve", "alice", "plan", "--json"]);
  expect(code).toBe(0);
  const outcome = JSON.parse(stdout);
  expect(outcome).toMatchObject({ agent: "alice", status: "completed", content: "Planned.", usage: { costUsd: 0 } });
  expect(outcome.toolCalls).toMatchObject([
    { name: "set_title", input: { title: "A plan" }, output: expect.any(String) },
    { name: "write_todos" },
    { name: "no_such_tool", failed: true },
  ]);
});

test("send leaves at once; the same key twice is the same turn, waited for or not", async () => {
  const first = JSON.parse((await house.runCli(["send", "bob", "--key", "k1", "hello", "--json"])).stdout);
  expect(first).toMatchObject({ runId: expect.any(String), position: 0 });
  const again = JSON.parse((await house.runCli(["send", "bob", "--key", "k1", "hello", "--json"])).stdout);
  expect(again).toMatchObject({ runId: first.runId, duplicate: true });
  const waited = await house.runCli(["send", "bob", "--key", "k1", "--wait", "hello"]);
  expect(waited).toMatchObject({ code: 0, stdout: "You said: hello\n" });
  expect((await readState("bob")).state.messages.filter(({ role }) => role === "user")).toHaveLength(1);
  expect(await house.runCli(["send", "bob", "--wait"], { input: "piped" })).toMatchObject({
    code: 0,
    stdout: "You said: piped\n",
  });
});

test("Ctrl+C in run cancels the turn on the host and exits with 130", async () => {
  const run = thinkery("run", "counter", "count slowly");
  await waitUntil("the answer to begin", () => run.out().includes("word5 "));
  run.child.kill("SIGINT");
  expect(await waitForExit(run.child)).toBe(130);
  expect(run.err()).toContain("The turn was canceled.");
  expect(run.out()).not.toContain("word120");
  expect((await readState("counter")).run.status).toBe("canceled");
});

test("a message may join the turn that runs, end it, or wait for it", async () => {
  const first = thinkery("run", "counter", "count slowly");
  await waitUntil("the answer to begin", () => first.out().includes("word5 "));
  const joined = await house.runCli(["run", "counter", "--mode", "steer", "by the way"]);
  expect(joined).toEqual({ code: 0, stdout: "You said: by the way\n", stderr: "" });
  expect(await waitForExit(first.child)).toBe(0);
  expect(first.out()).toBe(`${countingText}\nYou said: by the way\n`);

  const second = thinkery("run", "counter", "count slowly");
  await waitUntil("the answer to begin", () => second.out().includes("word5 "));
  const queued = thinkery("run", "counter", "later");
  await waitUntil("it to wait", () => queued.err() === "Queued; 1 turn goes first.\n");
  expect(await house.runCli(["run", "counter", "--mode", "interrupt", "now"])).toEqual({
    code: 0,
    stdout: "You said: now\n",
    stderr: "",
  });
  expect(await waitForExit(second.child)).toBe(1);
  expect(await waitForExit(queued.child)).toBe(0);
  expect(queued.out()).toBe("You said: later\n");
});

test("stop cancels an agent's turn and leaves the host alone", async () => {
  expect((await house.runCli(["stop", "counter"])).stdout).toBe("counter has no turn to cancel.\n");
  const run = thinkery("run", "counter", "count slowly");
  await waitUntil("the answer to begin", () => run.out().includes("word5 "));
  expect(JSON.parse((await house.runCli(["stop", "counter", "--json"])).stdout)).toMatchObject({
    canceled: true,
    agent: "counter",
  });
  expect(await waitForExit(run.child)).toBe(1);
  expect(run.err()).toContain("The turn was canceled.");
  expect((await house.runCli(["status"])).code).toBe(0);
});

test("stop --all cancels every turn, what waits behind one too, and leaves the host alone", async () => {
  const run = thinkery("run", "counter", "count slowly");
  await waitUntil("the answer to begin", () => run.out().includes("word5 "));
  await house.runCli(["send", "counter", "count slowly"]);
  expect(JSON.parse((await house.runCli(["stop", "--all", "--json"])).stdout)).toEqual({
    canceled: ["counter@global", "counter@global"],
  });
  expect(await waitForExit(run.child)).toBe(1);
  expect((await house.runCli(["stop", "--all"])).stdout).toBe("No agent has a turn to cancel.\n");
  expect((await house.runCli(["stop", "counter", "--all"])).code).toBe(2);
});

test("kill -9 of main in the middle of an answer: it still arrives whole, and once", async () => {
  const run = thinkery("run", "crasher", "count");
  await waitUntil("the answer to begin", () => run.out().includes("word40 "));
  const main = findMain(house.home);
  process.kill(main?.pid ?? 0, "SIGKILL");
  expect(await waitForExit(run.child)).toBe(0);
  expect(run.out()).toBe(`${countingText}\n`);
  expect(run.err()).toContain("The connection is lost; trying again.");
  expect((await readState("crasher")).state.messages.filter(({ role }) => role === "user")).toHaveLength(1);
});

test("run --new takes its agent away again", async () => {
  const before = (await house.runCli(["ls", "--json"])).stdout;
  const ran = await house.runCli(["run", "--new", "-m", "scripted:talker", "good", "day"]);
  expect(ran).toEqual({ code: 0, stdout: "You said: good day\n", stderr: "" });
  expect((await house.runCli(["ls", "--json"])).stdout).toBe(before);
});

test("what a model says cannot drive the terminal", async () => {
  const control = /[^\P{Cc}\n\t]/u;
  const ran = await house.runCli(["run", "alice", "evil"]);
  expect(ran.stdout).toBe("\ufffd[2J\ufffd]0;owned\ufffd\ufffd31mred\ufffdover\n");
  for (const args of [
    ["peek", "alice"],
    ["peek"],
    ["export", "alice", "--format", "markdown"],
    ["export", "alice"],
    ["serve", "alice", "evil", "--json"],
  ]) {
    const { code, stdout, stderr } = await house.runCli(args);
    expect({ args, code }).toEqual({ args, code: 0 });
    expect(stdout).toContain("owned");
    expect(stdout + stderr).not.toMatch(control);
  }
});

test("peek, stats, info, export and clear tell of what was said", async () => {
  await house.runCli(["run", "bob", "plan"]);
  const peeked = await house.runCli(["peek", "bob", "-n", "2"]);
  expect(peeked.stdout.trimEnd().split("\n")).toHaveLength(2);
  expect(peeked.stdout).toMatch(/Planned\.\n$/);
  expect((await house.runCli(["peek"])).stdout).toMatch(/^bob +completed +A plan +Planned\.$/m);

  const usage = JSON.parse((await house.runCli(["stats", "bob", "--json"])).stdout);
  expect(usage).toMatchObject({ agent: "bob", total: { costUsd: 0 }, byModel: [{ model: "scripted:talker" }] });
  const { agents, total } = JSON.parse((await house.runCli(["stats", "--json"])).stdout);
  expect(total.calls).toBe(agents.reduce((all: number, agent: any) => all + agent.total.calls, 0));
  expect((await house.runCli(["stats"])).stdout).toMatch(new RegExp(`^all +\\d+ +${total.calls} `, "m"));

  const info = JSON.parse((await house.runCli(["info", "bob", "--json"])).stdout);
  expect(info).toMatchObject({
    name: "bob",
    title: "A plan",
    usedModel: "scripted:talker",
    queued: 0,
    run: { status: "completed" },
  });

  expect((await house.runCli(["export", "bob", "-o", "bob.json"])).stdout).toBe("Exported bob to bob.json.\n");
  const exported = JSON.parse(await readFile(join(dirname(house.home), "bob.json"), "utf8"));
  expect(exported).toMatchObject({ format: "thinkery-agent", version: 1, title: "A plan" });
  expect((await house.runCli(["export", "bob", "--format", "markdown"])).stdout).toContain("# A plan\n");
  expect((await house.runCli(["export", "bob", "-o", "no/such/folder"])).code).toBe(2);

  expect(await house.runCli(["clear", "bob", "--yes"])).toMatchObject({
    code: 0,
    stdout: "Cleared the conversation of bob in global.\n",
  });
  expect((await house.runCli(["peek", "bob", "--json"])).stdout).toContain('"messages": []');
});

test("peek -f shows what others say, as it comes", async () => {
  const peek = thinkery("peek", "followed", "-n", "0", "-f");
  await waitUntil("the socket", async () => {
    await house.runCli(["run", "followed", "over here"]);
    return peek.out().includes("You said: over here") && peek.err().includes("> over here");
  });
  peek.child.kill("SIGINT");
  expect(await waitForExit(peek.child)).toBe(130);
});
