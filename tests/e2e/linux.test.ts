import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent, ToolErrorCode } from "@thinkery/sdk";
import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, onTestFinished, test as always } from "vitest";
import { WebSocket } from "ws";
import { runCli } from "../kit/host-process.ts";
import { findProgramProcesses } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Programs of this machine in an agent's Linux sandbox: through the tool, over HTTP and with the command line.

let workshop: Testbed;

const say = (tool: string, input: object) => [{ call: { tool, input } }, { text: "{{ results.0 }}" }];

/** What is said is the command; or, with a word before it, what to do with it. */
const script = [
  {
    when: "/^in the background$/",
    steps: say("sandbox", {
      command: "echo up; until [ -e go ]; do sleep 0.05; done; echo done; sleep 300",
      background: true,
    }),
  },
  { when: "/^in time$/", steps: say("sandbox", { command: "echo before; sleep 300", timeoutMs: 2000 }) },
  { when: "/^list$/", steps: say("sandbox", {}) },
  { when: "/^[0-9a-f]{8}$/", steps: say("sandbox", { process: "{{ message }}" }) },
  { when: "/^return /", steps: say("executeCode", { code: "{{ message }}" }) },
  { steps: say("sandbox", { command: "{{ message }}" }) },
];

const worker = new URL("../kit/worker/system.worker.ts", import.meta.url);

const hasBubblewrap = await new Promise<boolean>((resolve) =>
  execFile("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"], (error) => resolve(!error)),
);
if (!hasBubblewrap) console.warn("These tests need bubblewrap, which is not installed here or not allowed to work.");
const test = always.skipIf(!hasBubblewrap);

beforeAll(async () => {
  workshop = await openTestbed({
    worker,
    config: { maxFailuresPerMinute: 1000, linux: { maxProcesses: 3 } },
    scripts: { default: script },
  });
});

afterAll(() => workshop?.stop());

async function runAndGetResult(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect(type).toBe("agent.completed");
  return (data as { result: string }).result;
}

const listErrors = (log: AgentEvent[]): [ToolErrorCode, string][] =>
  log.flatMap(({ type, data }) => (type === "tool.error" ? [[data.errorCode, data.error]] : [])) as never;

const getFolder = ({ name }: TestAgent) => join(workshop.home, "linux/global", name);
const signalGo = (agent: TestAgent) => writeFile(join(getFolder(agent), "go"), "");

/** A word that is nowhere else, and whether a process of this machine has it in its command line. */
const createMark = () => `mark-${Math.random().toString(36).slice(2)}`;
const isRunning = (word: string) => findProgramProcesses(word).length > 0;
const waitForEnd = (word: string) => waitUntil("the command to be over", () => !isRunning(word));

/** Starts a process by the tool; its id stands in the answer. */
async function startInBackground(): Promise<{ agent: TestAgent; id: string; at: string }> {
  const agent = await workshop.newAgent();
  const [, id = ""] =
    /^It runs as process ([0-9a-f]{8})\.$/.exec(await runAndGetResult(agent, "in the background")) ?? [];
  const at = `${agent.at}/processes/${id}`;
  await waitUntil("its first words", async () => (await workshop.api(at)).body.output === "up\n");
  return { agent, id, at };
}

test("a command's output is the answer, with its exit code where that is not 0; its folder stays", async () => {
  const agent = await workshop.newAgent();
  expect(await runAndGetResult(agent, "echo hello | tee note")).toBe("hello\n");
  expect(await runAndGetResult(agent, "cat note; ls missing; exit 3")).toMatch(
    /^hello\nls: .*missing.*\n\nexit code 3$/,
  );
  expect(await runAndGetResult(agent, "true")).toBe("It ran, and wrote nothing.");
  const { actions } = (await workshop.api(`${agent.at}/actions?tool=sandbox`)).body;
  expect(actions[0]).toMatchObject({
    tool: "sandbox",
    action: "run",
    success: true,
    outputSummary: "It ran, and wrote nothing.",
  });
  expect(actions[1]).toMatchObject({ outputSummary: "2 lines, exit code 3" });
  expect(actions.at(-1)).toMatchObject({ input: expect.stringContaining("echo hello"), outputSummary: "1 line" });
});

test("a command works on the workspace, and what it changes there is one version of its call", async () => {
  const agent = await workshop.newAgent();
  const { url, token } = workshop.house();
  const files = createClient({ url, token }).agent(agent.name);
  await files.editFiles([
    { write: "src/a.txt", content: "one\n" },
    { write: "gone", content: "x" },
    { write: "photo.bin", base64: "AAEC/w==" },
  ]);
  const { runId } = await agent.invoke({
    message:
      "cat src/a.txt; echo two >> src/a.txt; rm gone; cp photo.bin copy.bin; seq 200000 > big.txt; ln -s /etc/passwd link",
  });
  const { data } = (await agent.over(runId)) as { data: { result: string } };
  expect(data.result).toBe("one\n\n[“link” stays in the sandbox and does not come into the workspace: it is a link.]");
  const { versions } = await files.versions();
  expect(versions).toHaveLength(2);
  expect(versions[0]).toMatchObject({
    origin: { kind: "agent", agent: expect.stringContaining(agent.name), turn: runId, tool: "sandbox" },
    changes: [
      { path: "big.txt", kind: "add" },
      { path: "copy.bin", kind: "add" },
      { path: "gone", kind: "delete" },
      { path: "src/a.txt", kind: "edit" },
    ],
  });
  expect((await files.file("src/a.txt")).text()).toBe("one\ntwo\n");
  expect([...(await files.file("copy.bin")).bytes]).toEqual([0, 1, 2, 255]);
  expect((await files.file("big.txt")).size).toBe(1288895);
  // Somebody takes it back, and the next command finds it so.
  await files.revert({ turn: runId });
  expect(await runAndGetResult(agent, "cat src/a.txt; ls")).toBe("one\ngone\nlink\nphoto.bin\nsrc\n");
  expect((await files.versions()).versions).toHaveLength(3);
});

test("a person and a command that change the same file lose nothing", async () => {
  const agent = await workshop.newAgent();
  const { url, token } = workshop.house();
  const files = createClient({ url, token }).agent(agent.name);
  const lines = (...texts: string[]) => `${texts.join("\n")}\n`;
  await files.putFile("a", lines("1", "2", "3", "4", "5", "6", "7"));
  await files.putFile("b", lines("1"));
  const { runId } = await agent.invoke({
    message: "sed -i s/7/seven/ a; echo command > b; until [ -e go ]; do sleep 0.05; done",
  });
  await waitUntil("the command", () => existsSync(join(getFolder(agent), "a")));
  await files.putFile("a", lines("one", "2", "3", "4", "5", "6", "7"));
  await files.putFile("b", lines("person"));
  await signalGo(agent);
  const { data } = (await agent.over(runId)) as { data: { result: string } };
  expect(data.result).toContain("“b” was changed in the workspace while it was changed in the sandbox.");
  expect((await files.file("a")).text()).toBe(lines("one", "2", "3", "4", "5", "6", "seven"));
  expect((await files.file("b")).text()).toMatch(/person\n[^]*command\n/);
  expect(await runAndGetResult(agent, "cat a | head -1; rm go")).toBe("one\n");
});

test("what a command writes is shown while it runs", async () => {
  const agent = await workshop.newAgent();
  const { port, token } = workshop.house();
  const socket = new WebSocket(`ws://127.0.0.1:${port}${agent.at}/ws?only=chat`, {
    headers: { authorization: `Bearer ${token}` },
  });
  onTestFinished(() => socket.terminate());
  const frames: { type: string; text?: string }[] = [];
  socket.on("message", (data) => frames.push(...[JSON.parse(String(data))].flat()));
  await waitUntil("the greeting", () => frames.some(({ type }) => type === "history"));
  const { runId } = await agent.invoke({ message: "echo first; until [ -e go ]; do sleep 0.05; done; echo second" });
  await waitUntil("the first words", () =>
    frames.some(({ type, text }) => type === "tool_progress" && text === "first\n"),
  );
  expect(frames.map(({ type }) => type)).not.toContain("tool_result");
  await signalGo(agent);
  expect(await agent.over(runId)).toMatchObject({ data: { result: "first\nsecond\n" } });
});

test("a command that takes too long fails with its kind and what it had written", async () => {
  const agent = await workshop.newAgent();
  await runAndGetResult(agent, "in time");
  expect(listErrors(await agent.log())).toEqual([
    ["timeout", expect.stringMatching(/^before\n\nThe command did not end within [\d.]+ m?s and was ended\.$/)],
  ]);
});

test("a command ends when its turn is canceled, and when main is lost", async () => {
  const agent = await workshop.newAgent();
  for (const end of [() => agent.cancel(), () => workshop.restartMain()]) {
    const word = createMark();
    const { runId } = await agent.invoke({ message: `exec -a ${word} sleep 300` });
    await waitUntil("the command", () => isRunning(word));
    await end();
    await waitForEnd(word);
    await agent.over(runId);
  }
  expect(listErrors(await agent.log()).map(([errorCode]) => errorCode)).toEqual(["canceled", "outcome_unknown"]);
});

test("what a canceled command had done by then is a version, and the log says so", async () => {
  const agent = await workshop.newAgent();
  const { runId } = await agent.invoke({ message: "echo half > half; sleep 300" });
  await waitUntil("the file", () => existsSync(join(getFolder(agent), "half")));
  await agent.cancel();
  await agent.over(runId);
  const changed = await agent.seen("the files", ({ type }) => type === "files.changed");
  expect(changed.data).toMatchObject({
    origin: { turn: runId, tool: "sandbox" },
    changes: [{ path: "half", kind: "add" }],
  });
});

test("a script of the workspace can be run", async () => {
  const agent = await workshop.newAgent();
  const { url, token } = workshop.house();
  await createClient({ url, token })
    .agent(agent.name)
    .editFiles([
      { write: "bin/hi", content: "#!/bin/sh\necho hi $1\n" },
      { write: "text", content: "echo no" },
    ]);
  expect(await runAndGetResult(agent, "bin/hi you; ./text")).toMatch(
    /^hi you\n.*text: Permission denied\n\nexit code 126$/,
  );
});

test("code may run commands too, only so many at a time", async () => {
  const agent = await workshop.newAgent();
  expect(await runAndGetResult(agent, "return (await tools.sandbox({ command: 'echo from code' })).trim()")).toBe(
    "from code",
  );
  const many =
    "return (await Promise.allSettled([1, 2, 3, 4].map((n) => tools.sandbox({ command: `sleep 0.3; echo ${n}` })))).map((one) => one.value ?? one.reason.message)";
  expect(JSON.parse(await runAndGetResult(agent, many))).toEqual([
    "1\n",
    "2\n",
    "3\n",
    expect.stringContaining("3 commands of this agent are running"),
  ]);
  const wrong = "return await tools.sandbox({ command: 'x', process: 'y' }).catch((error) => error.message)";
  expect(await runAndGetResult(agent, wrong)).toContain("give a command or a process, not both");
});

test("a process goes on after the call and after a crash of main; it is read and stopped by the tool", async () => {
  const { agent, id } = await startInBackground();
  expect(await runAndGetResult(agent, "list")).toBe(
    `process ${id}, running: echo up; until [ -e go ]; do sleep 0.05; done; echo done; sleep 300`,
  );
  await workshop.restartMain();
  await signalGo(agent);
  await waitUntil("its last words", async () => (await runAndGetResult(agent, id)).endsWith("\n\nup\ndone\n"));
  expect(await runAndGetResult(agent, `return await tools.sandbox({ process: "${id}", stop: true })`)).toMatch(
    new RegExp(`^process ${id}, stopped: `),
  );
  expect(await runAndGetResult(agent, "list")).toMatch(new RegExp(`^process ${id}, stopped: `));
  await runAndGetResult(agent, "0badcafe");
  expect(listErrors(await agent.log())).toEqual([
    ["threw", expect.stringContaining("This agent has no process “0badcafe”.")],
  ]);
});

test("processes are listed, read and stopped over HTTP, by whoever may", async () => {
  const { agent, id, at } = await startInBackground();
  const { url, token, client } = workshop.house();
  expect((await workshop.api(`${agent.at}/processes`)).body.processes).toMatchObject([
    { id, state: "running", outputBytes: 3 },
  ]);
  await signalGo(agent);
  await waitUntil("more", async () => (await workshop.api(`${at}?after=3`)).body.output === "done\n");
  expect((await workshop.api(`${at}?after=x`)).status).toBe(400);
  expect(await workshop.api(`${agent.at}/processes/0badcafe`)).toMatchObject({
    status: 404,
    body: { error: { message: expect.stringContaining("Processes end with the host") } },
  });
  const other = await workshop.newAgent();
  expect((await workshop.api(`${other.at}/processes/${id}`)).status).toBe(404);
  const issued = await client.call("createToken", { body: { name: "reader", scopes: ["read"] } });
  const reader = createClient({ url, token: issued.token }).agent(agent.name);
  expect(await reader.process(id)).toMatchObject({ output: "up\ndone\n" });
  await expect(reader.stopProcess(id)).rejects.toMatchObject({ code: "forbidden" });
  const handle = createClient({ url, token }).agent(agent.name);
  expect(await handle.stopProcess(id)).toMatchObject({ id, state: "exited", exitCode: null, endedBy: "stop" });
  expect(await handle.processes()).toMatchObject([{ id, state: "exited" }]);
});

test("the command line lists processes, follows what they write, and stops them", async () => {
  const { agent, id, at } = await startInBackground();
  const run = (...args: string[]) => runCli(["process", ...args], workshop.home, { program: workshop.program });
  const [listed, json, logs] = await Promise.all([
    run("ls", agent.name),
    run("ls", agent.name, "--json"),
    run("logs", agent.name),
  ]);
  expect(listed.stdout).toMatch(new RegExp(`ID +STATE +STARTED +COMMAND\n${id} +running +20.*echo up;`));
  expect(JSON.parse(json.stdout)).toMatchObject({ processes: [{ id, state: "running" }] });
  // Without an id, the only one is meant.
  expect(logs).toMatchObject({ code: 0, stdout: "up\n", stderr: `${id}: running\n` });
  const following = run("logs", "-f", agent.name, id);
  await signalGo(agent);
  await waitUntil("more", async () => (await workshop.api(at)).body.output === "up\ndone\n");
  expect(await run("stop", agent.name, id)).toMatchObject({ code: 0, stdout: `Stopped ${id} of ${agent.name}.\n` });
  expect(await following).toMatchObject({ code: 0, stdout: "up\ndone\n", stderr: `${id}: stopped\n` });
  const { name } = await workshop.newAgent();
  const [near, both, none] = await Promise.all([
    run("logs", agent.name, `${id.slice(0, -1)}x`),
    run("logs", "-f", "--json", agent.name),
    run("stop", name),
  ]);
  expect(near).toMatchObject({ code: 1, stderr: expect.stringContaining(`Did you mean ${id}?`) });
  expect(both).toMatchObject({ code: 2 });
  expect(none).toMatchObject({ code: 1, stderr: `thinkery: ${name} runs nothing.\n` });
});

test("a deleted agent leaves neither processes nor files, and the next of its name finds nothing", async () => {
  const word = createMark();
  const agent = await workshop.newAgent();
  await runAndGetResult(
    agent,
    `return await tools.sandbox({ command: "touch mine; exec -a ${word} sleep 300", background: true })`,
  );
  await waitUntil("the process", () => isRunning(word) && existsSync(join(getFolder(agent), "mine")));
  expect((await workshop.api(agent.at, "DELETE")).status).toBe(204);
  await waitForEnd(word);
  await waitUntil(
    "the folder to be gone",
    async () => !(await readdir(join(workshop.home, "linux"))).some((name) => name.startsWith(".gone-")),
  );
  expect(existsSync(join(workshop.home, "linux/.beside", `global~${agent.name}`))).toBe(false);
  expect(existsSync(getFolder(agent))).toBe(false);
  const next = await workshop.newAgent({ name: agent.name });
  expect((await workshop.api(`${next.at}/processes`)).body.processes).toEqual([]);
  expect(await runAndGetResult(next, "ls -A")).toBe("It ran, and wrote nothing.");
});

test("processes end with the host, and are not known after it", async () => {
  const { agent, at } = await startInBackground();
  const word = createMark();
  await runAndGetResult(
    agent,
    `return await tools.sandbox({ command: "exec -a ${word} sleep 300", background: true })`,
  );
  await waitUntil("the process", () => isRunning(word));
  await workshop.stopHouse();
  await waitForEnd(word);
  await workshop.startHouse();
  expect(await workshop.api(at)).toMatchObject({
    status: 404,
    body: { error: { message: expect.stringContaining("Processes end with the host") } },
  });
  expect(await runAndGetResult(agent, "ls")).toBe("It ran, and wrote nothing.");
});

always("without bubblewrap the tool says what to install, and nothing else is wrong", async () => {
  const bare = await openTestbed({ worker, env: { PATH: "/nowhere" }, scripts: { default: script } });
  onTestFinished(() => bare.stop());
  const agent = await bare.newAgent();
  await agent.say("echo hello");
  expect(listErrors(await agent.log())).toEqual([
    ["no_sandbox", expect.stringMatching(/^The Linux sandbox needs bubblewrap\. .*apt-get install bubblewrap/)],
  ]);
  expect((await bare.api(`${agent.at}/processes`)).body).toEqual({ processes: [] });
  expect((await bare.api(agent.at, "DELETE")).status).toBe(204);
});
