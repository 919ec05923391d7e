import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { cli, type House, openHouse } from "../kit/house.ts";
import { exitOf, mainOf } from "../kit/processes.ts";
import { until } from "../kit/until.ts";

const words = Array.from({ length: 120 }, (_, index) => `word${index + 1}`).join(" ");

const script = `
pace: 10
exchanges:
  - when: plan
    steps:
      - text: "Let me plan."
      - call: { tool: set_title, input: { title: "A plan" } }
      - call: { tool: write_todos, input: { todos: [{ content: one, status: in_progress }, { content: two, status: pending }] } }
      - call: { tool: no_such_tool, input: { a: 1 } }
      - text: "Planned."
  - when: refuse
    steps: [{ fail: 401 }]
  - when: count
    steps: [{ reasoning: "I count." }, { text: "${words}" }]
  - when: evil
    steps: [{ text: "\\e[2J\\e]0;owned\\a\\u009b31mred\\rover" }]
  - steps: [{ text: "You said: {{ message }}" }]
`;

let house: House;

beforeAll(async () => {
  house = await openHouse();
  await mkdir(join(house.home, "scripts"));
  await writeFile(join(house.home, "scripts", "talker.yaml"), script);
  for (const name of ["alice", "bob", "counter", "crasher", "chatter", "queuer", "piped"]) {
    const body = { name, model: "scripted:talker" };
    await house.client.call("createAgent", { params: { agency: "global" }, body });
  }
});

afterAll(() => house?.stop());

const state = async (agent: string) => house.client.call("getState", { params: { agency: "global", agent } });

async function storedDeltas(agent: string): Promise<number> {
  const { events } = await house.client.call("listEvents", { params: { agency: "global", agent }, query: { limit: 1000 } });
  return events.filter(({ type }) => type === "model.delta").length;
}

interface Running {
  child: ChildProcess;
  out(): string;
  err(): string;
}

function begin(program: string, args: string[]): Running {
  const env = { PATH: process.env.PATH ?? "", HOME: dirname(house.home), THINKERY_HOME: house.home, NO_COLOR: "1" };
  const child = spawn(program, args, { env, cwd: dirname(house.home), stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk) => (out += chunk));
  child.stderr?.on("data", (chunk) => (err += chunk));
  return { child, out: () => out, err: () => err };
}

const thinkery = (...args: string[]) => begin(process.execPath, [cli, ...args]);

test("run streams the answer to stdout and everything else to stderr", async () => {
  const { code, stdout, stderr } = await house.run(["run", "alice", "make", "a", "plan"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Let me plan.\nPlanned.\n" });
  expect(stderr).toContain("Title: A plan\n  [~] one\n  [ ] two\n");
  expect(stderr).toMatch(/^· no_such_tool \{"a":1\} → failed: .+$/m);
  expect(stdout + stderr).not.toContain("\u001b");

  const reasoned = await house.run(["run", "alice", "--reasoning", "count"]);
  expect(reasoned).toMatchObject({ code: 0, stdout: `${words}\n`, stderr: "I count.\n" });
});

test("the exit code is the outcome's, and a failure says what to do", async () => {
  const failed = await house.run(["run", "alice", "refuse"]);
  expect({ code: failed.code, stdout: failed.stdout }).toEqual({ code: 1, stdout: "" });
  expect(failed.stderr).toMatch(/^thinkery: .*key.*\n$/);

  const json = await house.run(["run", "alice", "refuse", "--json"]);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ status: "error", failure: { code: "model_auth" } });
});

test("what cannot be run is refused before anything is said", async () => {
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await house.run(args);
    expect(stdout).toBe("");
    return { code, stderr };
  };
  expect(await refused("run", "alcie", "hi")).toEqual({ code: 1, stderr: expect.stringContaining("did you mean alice?") });
  expect(await refused("send", "alcie", "hi")).toEqual({ code: 1, stderr: expect.stringContaining("did you mean alice?") });
  expect(await refused("run", "review.yaml")).toEqual({ code: 2, stderr: expect.stringContaining("workflow files") });
  expect(await refused("run", "alice")).toEqual({ code: 2, stderr: expect.stringContaining("empty") });
  expect(await refused("run", "alice", "hi", "-m", "scripted:talker")).toEqual({ code: 2, stderr: expect.stringContaining("--new") });
  expect(await refused("serve", "@global", "hi")).toEqual({ code: 2, stderr: expect.stringContaining("agency") });
});

test("a message of five megabytes is refused with a sentence, and the agent is as it was", async () => {
  const { code, stdout, stderr } = await house.run(["send", "bob"], { input: "x".repeat(5_000_000) });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^thinkery: The message has 5000000 characters/);
  expect((await state("bob")).state.messages).toEqual([]);
});

test("serve prints the answer alone, with --json the whole outcome", async () => {
  expect(await house.run(["serve", "alice", "-"], { input: "from stdin\n" })).toEqual({ code: 0, stdout: "You said: from stdin\n", stderr: "" });
  const { code, stdout } = await house.run(["serve", "alice", "plan", "--json"]);
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
  const first = JSON.parse((await house.run(["send", "bob", "--key", "k1", "hello", "--json"])).stdout);
  expect(first).toMatchObject({ runId: expect.any(String), position: 0 });
  const again = JSON.parse((await house.run(["send", "bob", "--key", "k1", "hello", "--json"])).stdout);
  expect(again).toMatchObject({ runId: first.runId, duplicate: true });
  const waited = await house.run(["send", "bob", "--key", "k1", "--wait", "hello"]);
  expect(waited).toMatchObject({ code: 0, stdout: "You said: hello\n" });
  expect((await state("bob")).state.messages.filter(({ role }) => role === "user")).toHaveLength(1);
  expect(await house.run(["send", "bob", "--wait"], { input: "piped" })).toMatchObject({ code: 0, stdout: "You said: piped\n" });
});

test("Ctrl+C in run cancels the turn on the host and exits with 130", async () => {
  const run = thinkery("run", "counter", "count");
  await until("the answer to begin", () => run.out().includes("word5 "));
  run.child.kill("SIGINT");
  expect(await exitOf(run.child)).toBe(130);
  expect(run.err()).toContain("The turn was canceled.");
  expect(run.out()).not.toContain("word120");
  expect((await state("counter")).run.status).toBe("canceled");
});

test("a message may join the turn that runs, end it, or wait for it", async () => {
  const first = thinkery("run", "counter", "count");
  await until("the answer to begin", () => first.out().includes("word5 "));
  const joined = await house.run(["run", "counter", "--mode", "steer", "by the way"]);
  expect(joined).toEqual({ code: 0, stdout: "You said: by the way\n", stderr: "" });
  expect(await exitOf(first.child)).toBe(0);
  expect(first.out()).toBe(`${words}\nYou said: by the way\n`);

  const second = thinkery("run", "counter", "count");
  await until("the answer to begin", () => second.out().includes("word5 "));
  const queued = thinkery("run", "counter", "later");
  await until("it to wait", () => queued.err() === "Queued; 1 turn goes first.\n");
  expect(await house.run(["run", "counter", "--mode", "interrupt", "now"])).toEqual({ code: 0, stdout: "You said: now\n", stderr: "" });
  expect(await exitOf(second.child)).toBe(1);
  expect(await exitOf(queued.child)).toBe(0);
  expect(queued.out()).toBe("You said: later\n");
});

test("stop cancels an agent's turn and leaves the host alone", async () => {
  expect((await house.run(["stop", "counter"])).stdout).toBe("counter has no turn to cancel.\n");
  const run = thinkery("run", "counter", "count");
  await until("the answer to begin", () => run.out().includes("word5 "));
  expect(JSON.parse((await house.run(["stop", "counter", "--json"])).stdout)).toMatchObject({ canceled: true, agent: "counter" });
  expect(await exitOf(run.child)).toBe(1);
  expect(run.err()).toContain("The turn was canceled.");
  expect((await house.run(["status"])).code).toBe(0);
});

test("stop --all cancels every turn, what waits behind one too, and leaves the host alone", async () => {
  const run = thinkery("run", "counter", "count");
  await until("the answer to begin", () => run.out().includes("word5 "));
  await house.run(["send", "counter", "count"]);
  expect(JSON.parse((await house.run(["stop", "--all", "--json"])).stdout)).toEqual({ canceled: ["counter@global", "counter@global"] });
  expect(await exitOf(run.child)).toBe(1);
  expect((await house.run(["stop", "--all"])).stdout).toBe("No agent has a turn to cancel.\n");
  expect((await house.run(["stop", "counter", "--all"])).code).toBe(2);
});

test("kill -9 of main in the middle of an answer: it still arrives whole, and once", async () => {
  const run = thinkery("run", "crasher", "count");
  await until("the answer to begin", () => run.out().includes("word40 "));
  const main = await mainOf(house.home);
  process.kill(main?.pid ?? 0, "SIGKILL");
  expect(await exitOf(run.child)).toBe(0);
  expect(run.out()).toBe(`${words}\n`);
  expect(run.err()).toContain("The connection is lost; trying again.");
  expect((await state("crasher")).state.messages.filter(({ role }) => role === "user")).toHaveLength(1);
});

test("run --new takes its agent away again", async () => {
  const before = (await house.run(["ls", "--json"])).stdout;
  const ran = await house.run(["run", "--new", "-m", "scripted:talker", "good", "day"]);
  expect(ran).toEqual({ code: 0, stdout: "You said: good day\n", stderr: "" });
  expect((await house.run(["ls", "--json"])).stdout).toBe(before);
});

test("what a model says cannot drive the terminal", async () => {
  const control = /[^\P{Cc}\n\t]/u;
  const ran = await house.run(["run", "alice", "evil"]);
  expect(ran.stdout).toBe("\ufffd[2J\ufffd]0;owned\ufffd\ufffd31mred\ufffdover\n");
  for (const args of [["peek", "alice"], ["peek"], ["export", "alice", "--format", "markdown"], ["export", "alice"], ["serve", "alice", "evil", "--json"]]) {
    const { code, stdout, stderr } = await house.run(args);
    expect({ args, code }).toEqual({ args, code: 0 });
    expect(stdout).toContain("owned");
    expect(stdout + stderr).not.toMatch(control);
  }
});

test("peek, stats, info, export and clear tell of what was said", async () => {
  await house.run(["run", "bob", "plan"]);
  const peeked = await house.run(["peek", "bob", "-n", "2"]);
  expect(peeked.stdout.trimEnd().split("\n")).toHaveLength(2);
  expect(peeked.stdout).toMatch(/Planned\.\n$/);
  expect((await house.run(["peek"])).stdout).toMatch(/^bob +completed +A plan +Planned\.$/m);

  const usage = JSON.parse((await house.run(["stats", "bob", "--json"])).stdout);
  expect(usage).toMatchObject({ agent: "bob", total: { costUsd: 0 }, byModel: [{ model: "scripted:talker" }] });
  const { agents, total } = JSON.parse((await house.run(["stats", "--json"])).stdout);
  expect(total.calls).toBe(agents.reduce((all: number, agent: any) => all + agent.total.calls, 0));
  expect((await house.run(["stats"])).stdout).toMatch(new RegExp(`^all +\\d+ +${total.calls} `, "m"));

  const info = JSON.parse((await house.run(["info", "bob", "--json"])).stdout);
  expect(info).toMatchObject({ name: "bob", title: "A plan", usedModel: "scripted:talker", queued: 0, run: { status: "completed" } });

  expect((await house.run(["export", "bob", "-o", "bob.json"])).stdout).toBe("Exported bob to bob.json.\n");
  const exported = JSON.parse(await readFile(join(dirname(house.home), "bob.json"), "utf8"));
  expect(exported).toMatchObject({ format: "thinkery-agent", version: 1, title: "A plan" });
  expect((await house.run(["export", "bob", "--format", "markdown"])).stdout).toContain("# A plan\n");
  expect((await house.run(["export", "bob", "-o", "no/such/folder"])).code).toBe(2);

  expect(await house.run(["clear", "bob", "--yes"])).toMatchObject({ code: 0, stdout: "Cleared the conversation of bob in global.\n" });
  expect((await house.run(["peek", "bob", "--json"])).stdout).toContain('"messages": []');
});

test("peek -f shows what others say, as it comes", async () => {
  const peek = thinkery("peek", "piped", "-n", "0", "-f");
  await until("the socket", async () => {
    await house.run(["run", "piped", "over here"]);
    return peek.out().includes("You said: over here") && peek.err().includes("> over here");
  });
  peek.child.kill("SIGINT");
  expect(await exitOf(peek.child)).toBe(130);
});

test("chat takes a message a line where nobody sits, and its exit code tells of failures", async () => {
  const fine = await house.run(["chat", "piped"], { input: "one\n\n/two\n" });
  expect(fine).toEqual({ code: 0, stdout: "You said: one\nYou said: /two\n", stderr: "" });
  const failed = await house.run(["chat", "piped"], { input: "one\nrefuse\ntwo\n" });
  expect(failed).toMatchObject({ code: 1, stdout: "You said: one\nYou said: two\n" });
  const { outcomes } = JSON.parse((await house.run(["chat", "piped", "--json"], { input: "one\n" })).stdout);
  expect(outcomes).toMatchObject([{ content: "You said: one", status: "completed" }]);
});

/** A person at a terminal of their own. */
function sitDown(...args: string[]) {
  const command = `stty cols 100 rows 30; exec '${process.execPath}' '${cli}' ${args.join(" ")}`;
  const terminal = begin("script", ["-qec", command, "/dev/null"]);
  // What the person could have read: colours and movements of the cursor taken out.
  const read = () => stripVTControlCharacters(terminal.out());
  return { ...terminal, read, type: (keys: string) => terminal.child.stdin?.write(keys) };
}

const ctrlC = "\u0003";
const ctrlD = "\u0004";

test("chat: messages, tool lines, commands; one Ctrl+C cancels the turn, the next leaves", async () => {
  const { child, read, type, out } = sitDown("chat", "chatter");
  await until("the prompt", () => read().includes("chatter> "));
  type("hello\r");
  await until("the answer", () => read().includes("You said: hello"));
  type("plan\r");
  await until("the plan", () => read().includes("Planned."));
  expect(read()).toMatch(/· no_such_tool .*→ failed: /);
  expect(read()).toContain("[~] one");
  type("/titel\r");
  await until("the suggestion", () => read().includes("did you mean /title?"));
  type("/title\r");
  await until("the title", () => read().match(/\/title\s+A plan/));
  type("evil\r");
  await until("the evil", () => read().includes("over"));
  for (const sequence of ["\u001b]0", "\u0007", "\u009b", "red\rover"]) expect(out()).not.toContain(sequence);

  type("count\r");
  await until("the count", () => read().includes("word5 "));
  type(ctrlC);
  await until("the end of the turn", () => read().includes("The turn was canceled."));
  expect((await state("chatter")).run.status).toBe("canceled");
  expect(child.exitCode).toBe(null);
  type("still here\r");
  await until("the answer", () => read().includes("You said: still here"));
  await until("the prompt", () => read().trimEnd().endsWith("chatter>"));
  type(ctrlC);
  expect(await exitOf(child)).toBe(130);
  expect(read()).not.toContain("word120");
});

test("chat: what is typed while a turn runs is queued; the agent's words wait for the typing", async () => {
  const { child, read, type } = sitDown("chat", "queuer");
  await until("the prompt", () => read().includes("queuer> "));
  type("count\r");
  await until("the count", () => read().includes("word5 "));
  type("and the next");
  await until("the typed words", () => read().includes("queuer> and the next"));
  const stored = await storedDeltas("queuer");
  await until("more words", async () => (await storedDeltas("queuer")) > stored + 1);
  expect(read().split("queuer> and the next")).toEqual([expect.any(String), ""]);
  type("\r");
  await until("the next answer", () => read().includes("You said: and the next"));
  // Nothing of the answer was lost to the typing, and nothing came twice.
  const heard = read().slice(read().indexOf("word1 ")).match(/word\d+/g) ?? [];
  expect(heard.join(" ")).toBe(words);
  await until("the prompt", () => read().trimEnd().endsWith("queuer>"));
  type(ctrlD);
  expect(await exitOf(child)).toBe(0);
});

test("chat goes on after the host's main was killed, and says so", async () => {
  const { child, read, type } = sitDown("chat", "queuer");
  await until("the prompt", () => read().includes("queuer> "));
  const main = await mainOf(house.home);
  process.kill(main?.pid ?? 0, "SIGKILL");
  await until("the news", () => read().includes("The connection is lost"));
  type("are you there\r");
  await until("the answer", () => read().includes("You said: are you there"));
  expect(read()).toContain("Connected again.");
  type("/exit\r");
  expect(await exitOf(child)).toBe(0);
});
