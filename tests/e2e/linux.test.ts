import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent, ToolErrorCode } from "@thinkery/sdk";
import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, onTestFinished, test as baseTest } from "vitest";
import { WebSocket } from "ws";
import { hasBubblewrap } from "../kit/has-bubblewrap.ts";
import { runCli } from "../kit/host-process.ts";
import { findProgramProcesses } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Programs of this machine in an agent's Linux sandbox: through the tool, over HTTP and from the CLI.

let testbed: Testbed;

const callTool = (tool: string, input: object) => [{ call: { tool, input } }, { text: "{{ results.0 }}" }];

/** The message is the command, unless it matches one of the first cases. */
const script = [
  {
    when: "/^in the background$/",
    steps: callTool("sandbox", {
      command: "echo up; until [ -e go ]; do sleep 0.05; done; echo done; sleep 300",
      background: true,
    }),
  },
  { when: "/^in time$/", steps: callTool("sandbox", { command: "echo before; sleep 300", timeoutMs: 2000 }) },
  { when: "/^list$/", steps: callTool("sandbox", {}) },
  { when: "/^[0-9a-f]{8}$/", steps: callTool("sandbox", { process: "{{ message }}" }) },
  { when: "/^return /", steps: callTool("executeCode", { code: "{{ message }}" }) },
  { steps: callTool("sandbox", { command: "{{ message }}" }) },
];

const worker = new URL("../kit/worker/system.worker.ts", import.meta.url);

const canRun = await hasBubblewrap();
if (!canRun) console.warn("Skipping tests: they need bubblewrap, which is not installed or not permitted.");
const test = baseTest.skipIf(!canRun);

beforeAll(async () => {
  testbed = await openTestbed({
    worker,
    config: { maxFailuresPerMinute: 1000, linux: { maxProcesses: 3 } },
    scripts: { default: script },
  });
});

afterAll(() => testbed?.stop());

async function runAndGetResult(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect(type).toBe("agent.completed");
  return (data as { result: string }).result;
}

const listErrors = (log: AgentEvent[]): [ToolErrorCode, string][] =>
  log.flatMap(({ type, data }) => (type === "tool.error" ? [[data.errorCode, data.error]] : [])) as never;

const getFolder = ({ name }: TestAgent) => join(testbed.home, "linux/global", name);
const signalGo = (agent: TestAgent) => writeFile(join(getFolder(agent), "go"), "");

/** A unique word by which a process can be found in the command lines of this machine. */
const createMark = () => `mark-${Math.random().toString(36).slice(2)}`;
const isRunning = (word: string) => findProgramProcesses(word).length > 0;
const waitForProcessEnd = (word: string) => waitUntil("the process to end", () => !isRunning(word));

/** Starts a background process with the tool, which returns its id. */
async function startInBackground(): Promise<{ agent: TestAgent; id: string; at: string }> {
  const agent = await testbed.newAgent();
  const [, id = ""] = /^Started process ([0-9a-f]{8})\.$/.exec(await runAndGetResult(agent, "in the background")) ?? [];
  const at = `${agent.at}/processes/${id}`;
  await waitUntil("its first output", async () => (await testbed.api(at)).body.output === "up\n");
  return { agent, id, at };
}

test("a command returns its output and a nonzero exit code, and its folder persists", async () => {
  const agent = await testbed.newAgent();
  expect(await runAndGetResult(agent, "echo hello | tee note")).toBe("hello\n");
  expect(await runAndGetResult(agent, "cat note; ls missing; exit 3")).toMatch(
    /^hello\nls: .*missing.*\n\nexit code 3$/,
  );
  expect(await runAndGetResult(agent, "true")).toBe("The command produced no output.");
  const { actions } = (await testbed.api(`${agent.at}/actions?tool=sandbox`)).body;
  expect(actions[0]).toMatchObject({
    tool: "sandbox",
    action: "run",
    success: true,
    outputSummary: "The command produced no output.",
  });
  expect(actions[1]).toMatchObject({ outputSummary: "2 lines, exit code 3" });
  expect(actions.at(-1)).toMatchObject({ input: expect.stringContaining("echo hello"), outputSummary: "1 line" });
});

test("a command works on the workspace, and its changes are one version of its call", async () => {
  const agent = await testbed.newAgent();
  const { url, token } = testbed.host();
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
  const { data } = (await agent.waitForEnd(runId)) as { data: { result: string } };
  expect(data.result).toBe(
    "one\n\n[“link” stays in the sandbox and is not copied to the workspace: it is a symbolic link.]",
  );
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
  // After a revert, the next command sees the reverted files.
  await files.revert({ turn: runId });
  expect(await runAndGetResult(agent, "cat src/a.txt; ls")).toBe("one\ngone\nlink\nphoto.bin\nsrc\n");
  expect((await files.versions()).versions).toHaveLength(3);
});

test("a user and a command can change the same file without losing anything", async () => {
  const agent = await testbed.newAgent();
  const { url, token } = testbed.host();
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
  const { data } = (await agent.waitForEnd(runId)) as { data: { result: string } };
  expect(data.result).toContain("“b” was changed in the workspace and in the sandbox.");
  expect((await files.file("a")).text()).toBe(lines("one", "2", "3", "4", "5", "6", "seven"));
  expect((await files.file("b")).text()).toMatch(/person\n[^]*command\n/);
  expect(await runAndGetResult(agent, "cat a | head -1; rm go")).toBe("one\n");
});

test("a command's output is streamed while it runs", async () => {
  const agent = await testbed.newAgent();
  const { port, token } = testbed.host();
  const socket = new WebSocket(`ws://127.0.0.1:${port}${agent.at}/ws?only=chat`, {
    headers: { authorization: `Bearer ${token}` },
  });
  onTestFinished(() => socket.terminate());
  const frames: { type: string; text?: string }[] = [];
  socket.on("message", (data) => frames.push(...[JSON.parse(String(data))].flat()));
  await waitUntil("the initial frames", () => frames.some(({ type }) => type === "history"));
  const { runId } = await agent.invoke({ message: "echo first; until [ -e go ]; do sleep 0.05; done; echo second" });
  await waitUntil("the first output", () =>
    frames.some(({ type, text }) => type === "tool_progress" && text === "first\n"),
  );
  expect(frames.map(({ type }) => type)).not.toContain("tool_result");
  await signalGo(agent);
  expect(await agent.waitForEnd(runId)).toMatchObject({ data: { result: "first\nsecond\n" } });
});

test("a command that times out fails with its error code and its output so far", async () => {
  const agent = await testbed.newAgent();
  await runAndGetResult(agent, "in time");
  expect(listErrors(await agent.log())).toEqual([
    ["timeout", expect.stringMatching(/^before\n\nThe command did not finish within [\d.]+ m?s and was stopped\.$/)],
  ]);
});

test("a command ends when its turn is canceled and when main is killed", async () => {
  const agent = await testbed.newAgent();
  for (const end of [() => agent.cancel(), () => testbed.restartMain()]) {
    const word = createMark();
    const { runId } = await agent.invoke({ message: `exec -a ${word} sleep 300` });
    await waitUntil("the command", () => isRunning(word));
    await end();
    await waitForProcessEnd(word);
    await agent.waitForEnd(runId);
  }
  expect(listErrors(await agent.log()).map(([errorCode]) => errorCode)).toEqual(["canceled", "outcome_unknown"]);
});

test("the changes of a canceled command are a version, and the log says so", async () => {
  const agent = await testbed.newAgent();
  const { runId } = await agent.invoke({ message: "echo half > half; sleep 300" });
  await waitUntil("the file", () => existsSync(join(getFolder(agent), "half")));
  await agent.cancel();
  await agent.waitForEnd(runId);
  const changed = await agent.waitForEvent("the files", ({ type }) => type === "files.changed");
  expect(changed.data).toMatchObject({
    origin: { turn: runId, tool: "sandbox" },
    changes: [{ path: "half", kind: "add" }],
  });
});

test("a script in the workspace can be run", async () => {
  const agent = await testbed.newAgent();
  const { url, token } = testbed.host();
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

test("code can run commands too, up to a limit at a time", async () => {
  const agent = await testbed.newAgent();
  expect(await runAndGetResult(agent, "return (await tools.sandbox({ command: 'echo from code' })).trim()")).toBe(
    "from code",
  );
  const many =
    "return (await Promise.allSettled([1, 2, 3, 4].map((n) => tools.sandbox({ command: `sleep 0.3; echo ${n}` })))).map((result) => result.value ?? result.reason.message)";
  expect(JSON.parse(await runAndGetResult(agent, many))).toEqual([
    "1\n",
    "2\n",
    "3\n",
    expect.stringContaining("This agent already runs 3 commands"),
  ]);
  const invalid = "return await tools.sandbox({ command: 'x', process: 'y' }).catch((error) => error.message)";
  expect(await runAndGetResult(agent, invalid)).toContain("give a command or a process, not both");
});

test("a background process outlives its call and a crash of main; the tool reads and stops it", async () => {
  const { agent, id } = await startInBackground();
  expect(await runAndGetResult(agent, "list")).toBe(
    `process ${id}, running: echo up; until [ -e go ]; do sleep 0.05; done; echo done; sleep 300`,
  );
  await testbed.restartMain();
  await signalGo(agent);
  await waitUntil("its last output", async () => (await runAndGetResult(agent, id)).endsWith("\n\nup\ndone\n"));
  expect(await runAndGetResult(agent, `return await tools.sandbox({ process: "${id}", stop: true })`)).toMatch(
    new RegExp(`^process ${id}, stopped: `),
  );
  expect(await runAndGetResult(agent, "list")).toMatch(new RegExp(`^process ${id}, stopped: `));
  await runAndGetResult(agent, "0badcafe");
  expect(listErrors(await agent.log())).toEqual([
    ["threw", expect.stringContaining("This agent has no process “0badcafe”.")],
  ]);
});

test("processes are listed, read and stopped over HTTP, with the required scope", async () => {
  const { agent, id, at } = await startInBackground();
  const { url, token, client } = testbed.host();
  expect((await testbed.api(`${agent.at}/processes`)).body.processes).toMatchObject([
    { id, state: "running", outputBytes: 3 },
  ]);
  await signalGo(agent);
  await waitUntil("more output", async () => (await testbed.api(`${at}?after=3`)).body.output === "done\n");
  expect((await testbed.api(`${at}?after=x`)).status).toBe(400);
  expect(await testbed.api(`${agent.at}/processes/0badcafe`)).toMatchObject({
    status: 404,
    body: { error: { message: expect.stringContaining("Processes end with the host") } },
  });
  const other = await testbed.newAgent();
  expect((await testbed.api(`${other.at}/processes/${id}`)).status).toBe(404);
  const issued = await client.call("createToken", { body: { name: "reader", scopes: ["read"] } });
  const reader = createClient({ url, token: issued.token }).agent(agent.name);
  expect(await reader.process(id)).toMatchObject({ output: "up\ndone\n" });
  await expect(reader.stopProcess(id)).rejects.toMatchObject({ code: "forbidden" });
  const handle = createClient({ url, token }).agent(agent.name);
  expect(await handle.stopProcess(id)).toMatchObject({ id, state: "exited", exitCode: null, endedBy: "stop" });
  expect(await handle.processes()).toMatchObject([{ id, state: "exited" }]);
});

test("the CLI lists processes, follows their output and stops them", async () => {
  const { agent, id, at } = await startInBackground();
  const run = (...args: string[]) => runCli(["process", ...args], testbed.home, { program: testbed.program });
  const [listed, json, logs] = await Promise.all([
    run("ls", agent.name),
    run("ls", agent.name, "--json"),
    run("logs", agent.name),
  ]);
  expect(listed.stdout).toMatch(new RegExp(`ID +STATE +STARTED +COMMAND\n${id} +running +20.*echo up;`));
  expect(JSON.parse(json.stdout)).toMatchObject({ processes: [{ id, state: "running" }] });
  // Without an id, the only process is used.
  expect(logs).toMatchObject({ code: 0, stdout: "up\n", stderr: `${id}: running\n` });
  const following = run("logs", "-f", agent.name, id);
  await signalGo(agent);
  await waitUntil("more output", async () => (await testbed.api(at)).body.output === "up\ndone\n");
  expect(await run("stop", agent.name, id)).toMatchObject({
    code: 0,
    stdout: `Stopped process ${id} of ${agent.name}.\n`,
  });
  expect(await following).toMatchObject({ code: 0, stdout: "up\ndone\n", stderr: `${id}: stopped\n` });
  const { name } = await testbed.newAgent();
  const [near, both, none] = await Promise.all([
    run("logs", agent.name, `${id.slice(0, -1)}x`),
    run("logs", "-f", "--json", agent.name),
    run("stop", name),
  ]);
  expect(near).toMatchObject({ code: 1, stderr: expect.stringContaining(`Did you mean ${id}?`) });
  expect(both).toMatchObject({ code: 2 });
  expect(none).toMatchObject({ code: 1, stderr: `thinkery: ${name} has no processes.\n` });
});

test("deleting an agent removes its processes and files, and a new agent of that name starts empty", async () => {
  const word = createMark();
  const agent = await testbed.newAgent();
  await runAndGetResult(
    agent,
    `return await tools.sandbox({ command: "touch mine; exec -a ${word} sleep 300", background: true })`,
  );
  await waitUntil("the process", () => isRunning(word) && existsSync(join(getFolder(agent), "mine")));
  expect((await testbed.api(agent.at, "DELETE")).status).toBe(204);
  await waitForProcessEnd(word);
  await waitUntil(
    "the folder to be deleted",
    async () => !(await readdir(join(testbed.home, "linux"))).some((name) => name.startsWith(".gone-")),
  );
  expect(existsSync(join(testbed.home, "linux/.beside", `global~${agent.name}`))).toBe(false);
  expect(existsSync(getFolder(agent))).toBe(false);
  const next = await testbed.newAgent({ name: agent.name });
  expect((await testbed.api(`${next.at}/processes`)).body.processes).toEqual([]);
  expect(await runAndGetResult(next, "ls -A")).toBe("The command produced no output.");
});

test("processes end with the host and are unknown afterwards", async () => {
  const { agent, at } = await startInBackground();
  const word = createMark();
  await runAndGetResult(
    agent,
    `return await tools.sandbox({ command: "exec -a ${word} sleep 300", background: true })`,
  );
  await waitUntil("the process", () => isRunning(word));
  await testbed.stopHost();
  await waitForProcessEnd(word);
  await testbed.startHost();
  expect(await testbed.api(at)).toMatchObject({
    status: 404,
    body: { error: { message: expect.stringContaining("Processes end with the host") } },
  });
  expect(await runAndGetResult(agent, "ls")).toBe("The command produced no output.");
});

baseTest("without bubblewrap the tool says what to install, and everything else works", async () => {
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
