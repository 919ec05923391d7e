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

test("a host for a test plays the scripts it was given, and nothing is left of it", async () => {
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

test("killed and restarted, it is at the same address and its agents go on", async () => {
  const host = await open({ scripts: { parrot } });
  const alice = await host.agent("alice", { model: "scripted:parrot" });
  await (await alice.send("before")).outcome();
  const { restarts } = await host.client.call("health");
  await host.kill();
  expect((await host.client.call("health")).restarts).toBe((restarts ?? 0) + 1);
  await host.restart();
  await (await alice.send("after")).outcome();
  const said = (await alice.messages()).messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content);
  expect(said).toEqual(["You said: before", "You said: after"]);
});

test("nothing of the tester's environment reaches it but what is given", async () => {
  process.env.OPENAI_API_KEY = "sk-the-testers-own";
  onTestFinished(() => void delete process.env.OPENAI_API_KEY);
  const host = await open({ env: { ANTHROPIC_API_KEY: "sk-given-for-this-test" } });
  expect((await host.client.call("health")).models?.configured).toEqual(["anthropic"]);
});

test("what cannot start says why, and leaves nothing", async () => {
  const place = await mkdtemp(join(tmpdir(), "place-"));
  const { TMPDIR: before } = process.env;
  process.env.TMPDIR = place;
  onTestFinished(async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(place, { recursive: true });
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
    message: "The script “odd” is not valid at 0.steps.0.txt: unknown field.",
  });
  await expect(startHost({ program: "/nowhere/thinkery.js" })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("/nowhere/thinkery.js"),
  });
  expect(await readdir(place)).toEqual([]);
  const well = await open();
  expect(dirname(dirname(well.home))).toBe(place);
});

/** A tester in a process of its own: starts a host, says where it is, and does what it is told then. */
async function startTester(then: string): Promise<{ child: ChildProcess; home: string }> {
  const folder = await mkdtemp(join(tmpdir(), "tester-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "tester.ts");
  const entry = fileURLToPath(new URL("../../packages/sdk/src/test/test.ts", import.meta.url));
  await writeFile(
    file,
    `import { startHost } from ${JSON.stringify(entry)};\nconst host = await startHost();\nconsole.log(host.home);\n${then}`,
  );
  const child = spawn(process.execPath, ["--import", "./scripts/typescript.mjs", file], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [home] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, home };
}

test("a tester that is killed takes its host along, folder and all", async () => {
  const { child, home } = await startTester("setInterval(() => {}, 1000);");
  expect(findHomeProcesses(home)).not.toEqual([]);
  child.kill("SIGKILL");
  await waitForExit(child);
  await waitUntil("everything to be gone", () => isRemoved(home));
});

test("a tester that forgets its host comes to an end, and so does the host", async () => {
  const { child, home } = await startTester("");
  expect(await waitForExit(child)).toBe(0);
  await waitUntil("everything to be gone", () => isRemoved(home));
});
