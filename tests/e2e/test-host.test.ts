import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startHost, type TestHost } from "@thinkery/sdk/test";
import { expect, onTestFinished, test } from "vitest";
import { waitForExit, findHomeProcesses } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const parrot = [{ text: "You said: {{ message }}" }];

async function open(options: Parameters<typeof startHost>[0] = {}): Promise<TestHost> {
  const host = await startHost(options);
  onTestFinished(() => host.stop());
  return host;
}

const isRemoved = async (home: string) => !existsSync(dirname(home)) && findHomeProcesses(home).length === 0;

test("a test host plays its scripts and leaves nothing behind", async () => {
  let home: string;
  {
    await using host = await startHost({ scripts: { parrot }, config: { turn: { maxSteps: 3 } } });
    home = host.home;
    expect(host.url).not.toContain(":5099");
    const alice = await host.agent("alice", { model: "scripted:parrot" });
    const turn = await alice.send("hello");
    expect(await turn.outcome()).toMatchObject({ status: "completed", content: "You said: hello" });
    expect(
      (await host.client.call("listAgents", { params: { agency: "global" } })).agents.map(({ name }) => name),
    ).toEqual(["alice"]);
    expect(await host.log()).toContain(`ready at ${host.url}`);
  }
  expect(await isRemoved(home)).toBe(true);
});

test("after a kill and a restart, the host has the same address and its agents continue", async () => {
  const host = await open({ scripts: { parrot } });
  const alice = await host.agent("alice", { model: "scripted:parrot" });
  await (await alice.send("before")).outcome();
  const { restarts } = await host.client.call("health");
  await host.kill();
  expect((await host.client.call("health")).restarts).toBe((restarts ?? 0) + 1);
  await host.restart();
  await (await alice.send("after")).outcome();
  const replies = (await alice.messages()).messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content);
  expect(replies).toEqual(["You said: before", "You said: after"]);
});

test("a test host does not inherit the environment, only what is passed to it", async () => {
  process.env.OPENAI_API_KEY = "sk-not-inherited";
  onTestFinished(() => void delete process.env.OPENAI_API_KEY);
  const host = await open({ env: { ANTHROPIC_API_KEY: "sk-given-for-this-test" } });
  expect((await host.client.call("health")).models?.configured).toEqual(["anthropic"]);
});

test("a host that cannot start throws the reason and leaves nothing behind", async () => {
  const folder = await mkdtemp(join(tmpdir(), "test-host-"));
  const { TMPDIR: before } = process.env;
  process.env.TMPDIR = folder;
  onTestFinished(async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(folder, { recursive: true });
  });
  await expect(startHost({ config: { prot: 1 } })).rejects.toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("did you mean “port”"),
  });
  await expect(startHost({ worker: "none.ts" })).rejects.toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("There is no file"),
  });
  await expect(startHost({ scripts: { odd: [{ steps: [{ txt: "oops" } as never] }] } })).rejects.toMatchObject({
    code: "bad_request",
    message: "Invalid script “odd”: 0.steps.0.txt: unknown field.",
  });
  await expect(startHost({ program: "/nowhere/thinkery.js" })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("/nowhere/thinkery.js"),
  });
  expect(await readdir(folder)).toEqual([]);
  const host = await open();
  expect(dirname(dirname(host.home))).toBe(folder);
});

/** A separate process that starts a host, prints its home, and then runs the given code. */
async function startTestProcess(code: string): Promise<{ child: ChildProcess; home: string }> {
  const folder = await mkdtemp(join(tmpdir(), "test-process-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "main.ts");
  const entry = fileURLToPath(new URL("../../packages/sdk/src/test/test.ts", import.meta.url));
  await writeFile(
    file,
    `import { startHost } from ${JSON.stringify(entry)};\nconst host = await startHost();\nconsole.log(host.home);\n${code}`,
  );
  const child = spawn(process.execPath, ["--import", "./scripts/typescript.mjs", file], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [home] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, home };
}

test("a host is removed with its folder when the process that started it is killed", async () => {
  const { child, home } = await startTestProcess("setInterval(() => {}, 1000);");
  expect(findHomeProcesses(home)).not.toEqual([]);
  child.kill("SIGKILL");
  await waitForExit(child);
  await waitUntil("the host to be removed", () => isRemoved(home));
});

test("a process that does not stop its host can exit, and the host is removed", async () => {
  const { child, home } = await startTestProcess("");
  expect(await waitForExit(child)).toBe(0);
  await waitUntil("the host to be removed", () => isRemoved(home));
});
