import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { cliPath, type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitForExit, findMain } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

// `thinkery files sync` with a real folder and a real host.

let host: HostProcess;
let agentCount = 0;

beforeAll(async () => {
  host = await startHostProcess();
});

afterAll(() => host?.stop());

async function newPair() {
  const { name } = await host.client.agents().create({ name: `mirror-${++agentCount}` });
  const folder = await mkdtemp(join(tmpdir(), "thinkery-sync-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const agent = host.client.agent(name);
  const readRemote = async () => {
    const all: Record<string, string> = {};
    for await (const { path } of agent.allFiles()) all[path] = (await agent.file(path)).text();
    return all;
  };
  const readLocal = (path: string) => readFile(join(folder, path), "utf8").catch(() => undefined);
  return { name, folder, agent, readRemote, readLocal };
}

/** Runs the sync until the test ends. */
function startSync(name: string, folder: string, ...args: string[]): { child: ChildProcess; readOutput(): string } {
  const child = spawn(process.execPath, [cliPath, "files", "sync", name, folder, ...args], {
    env: { ...process.env, THINKERY_HOME: host.home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await waitForExit(child);
  });
  return { child, readOutput: () => output };
}

test("--once makes both sides equal, keeps both versions of a conflict, and does nothing the second time", async () => {
  const { name, folder, agent, readRemote, readLocal } = await newPair();
  await agent.editFiles([
    { write: "there.txt", content: "there" },
    { write: "both.txt", content: "theirs" },
    { write: ".gitignore", content: "*.log\n" },
    { write: "b.bin", base64: "AP8=" },
  ]);
  await mkdir(join(folder, "src"));
  for (const [path, content] of Object.entries({ "src/here.txt": "here", "both.txt": "mine", "x.log": "log" }))
    await writeFile(join(folder, path), content);
  const first = await host.runCli(["files", "sync", name, folder, "--once", "--json"]);
  expect(first.code).toBe(0);
  const events = first.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { conflictCopy } = events.find(({ action }) => action === "conflict");
  expect(conflictCopy).toMatch(/^both\.conflict-[0-9a-f]{8}\.txt$/);
  expect(await readRemote()).toEqual({
    ".gitignore": "*.log\n",
    "b.bin": expect.anything(),
    "both.txt": "mine",
    [conflictCopy]: "theirs",
    "src/here.txt": "here",
    "there.txt": "there",
  });
  expect([await readLocal("there.txt"), await readLocal("both.txt"), await readLocal(conflictCopy)]).toEqual([
    "there",
    "mine",
    "theirs",
  ]);
  expect([...(await readFile(join(folder, "b.bin")))]).toEqual([0, 255]);
  const { versions } = await agent.versions();
  expect(await host.runCli(["files", "sync", name, folder, "--once"])).toMatchObject({ code: 0, stdout: "" });
  expect((await agent.versions()).versions).toHaveLength(versions.length);
  // The sync leaves no files of its own in the folder.
  expect((await readdir(folder)).sort()).toEqual([
    ".gitignore",
    "b.bin",
    conflictCopy,
    "both.txt",
    "src",
    "there.txt",
    "x.log",
  ]);
  // A local deletion is applied remotely.
  await rm(join(folder, "there.txt"));
  expect(await host.runCli(["files", "sync", name, folder, "--once"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("there.txt"),
  });
  expect(await readRemote()).not.toHaveProperty("there.txt");
});

test("a running sync applies changes in both directions, and Ctrl+C ends it", async () => {
  const { name, folder, agent, readRemote, readLocal } = await newPair();
  await agent.putFile("a.txt", "1");
  const { child, readOutput } = startSync(name, folder);
  await waitUntil("the first sync", () => readOutput().includes("are in sync"));
  expect(await readLocal("a.txt")).toBe("1");
  await agent.putFile("a.txt", "2");
  await waitUntil("the remote change", async () => (await readLocal("a.txt")) === "2");
  await writeFile(join(folder, "b.txt"), "b");
  await waitUntil("the local change", async () => (await readRemote())["b.txt"] === "b");
  await agent.deleteFile("a.txt");
  await waitUntil("the deletion", async () => (await readLocal("a.txt")) === undefined);
  child.kill("SIGINT");
  expect(await waitForExit(child)).toBe(0);
});

test("a running sync continues after main is killed and applies changes made meanwhile", async () => {
  const { name, folder, agent, readRemote, readLocal } = await newPair();
  const { readOutput } = startSync(name, folder);
  await waitUntil("the first sync", () => readOutput().includes("are in sync"));
  const main = findMain(host.home);
  process.kill(main?.pid as number, "SIGKILL");
  await writeFile(join(folder, "meanwhile.txt"), "m");
  await waitUntil(
    "the file written meanwhile",
    async () => (await readRemote().catch(() => ({}) as Record<string, string>))["meanwhile.txt"] === "m",
  );
  await agent.putFile("after.txt", "a");
  await waitUntil("the file written afterwards", async () => (await readLocal("after.txt")) === "a");
});

test("recreating an agent under the same name deletes no local files", async () => {
  const { name, folder, agent, readLocal } = await newPair();
  await writeFile(join(folder, "a.txt"), "mine");
  expect((await host.runCli(["files", "sync", name, folder, "--once"])).code).toBe(0);
  await agent.delete();
  const other = await host.client.agents().create({ name });
  for (const content of ["1", "2", "3"]) await other.putFile("b.txt", content);
  expect((await host.runCli(["files", "sync", name, folder, "--once"])).code).toBe(0);
  expect([await readLocal("a.txt"), await readLocal("b.txt"), (await other.file("a.txt")).text()]).toEqual([
    "mine",
    "3",
    "mine",
  ]);
});

test("a file is moved with its history; files that cannot be synced are reported, and the exit code is 1", async () => {
  const { name, folder, agent } = await newPair();
  await mkdir(join(folder, "src"));
  for (let index = 0; index < 12; index++) await writeFile(join(folder, `src/f${index}`), `${index}`);
  await agent.createBranch({ name: "try" });
  const sync = () => host.runCli(["files", "sync", name, folder, "--once", "--branch", "try"]);
  expect((await sync()).code).toBe(0);
  await rename(join(folder, "src"), join(folder, "lib"));
  expect(await sync()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("moved remote   src/f3 -> lib/f3\n"),
  });
  const {
    versions: [latest],
  } = await agent.versions({ branch: "try" });
  expect([latest?.changes.length, latest?.changes.slice(0, 2)]).toEqual([
    12,
    [
      { path: "lib/f0", kind: "move", from: "src/f0" },
      { path: "lib/f1", kind: "move", from: "src/f1" },
    ],
  ]);
  expect((await agent.files()).files).toEqual([]);
  await agent.putFile("readme", "theirs", { branch: "try" });
  await writeFile(join(folder, "README"), "mine");
  const { code, stderr } = await sync();
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /skipped +readme \(“README” already exists locally[^]*skipped +README \(“readme” already exists[^]*2 files could not be synced/,
    ),
  ]);
});

test("the data folder, the root and the home folder are not synced, and a missing disk deletes nothing", async () => {
  const { name, folder, agent } = await newPair();
  for (const forbidden of ["/", host.home, join(host.home, "..")])
    expect((await host.runCli(["files", "sync", name, forbidden, "--once"])).code).toBe(2);
  for (let index = 0; index < 12; index++) await writeFile(join(folder, `f${index}`), `${index}`);
  await host.runCli(["files", "sync", name, folder, "--once"]);
  for (let index = 0; index < 12; index++) await rm(join(folder, `f${index}`));
  expect(await host.runCli(["files", "sync", name, folder, "--once"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("12 of 12 files disappeared from the folder"),
  });
  expect((await agent.files()).files).toHaveLength(12);
  expect((await host.runCli(["files", "sync", name, folder, "--once", "--force"])).code).toBe(0);
  expect((await agent.files()).files).toEqual([]);
});
