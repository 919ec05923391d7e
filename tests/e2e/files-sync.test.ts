import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { cliPath, type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitForExit, findMain } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

// `thinkery files sync`: a real folder and a real host, as a person has them.

let house: HostProcess;
let agentCount = 0;

beforeAll(async () => {
  house = await startHostProcess();
});

afterAll(() => house?.stop());

async function newPair() {
  const { name } = await house.client.agents().create({ name: `mirror-${++agentCount}` });
  const folder = await mkdtemp(join(tmpdir(), "thinkery-sync-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const agent = house.client.agent(name);
  const there = async () => {
    const all: Record<string, string> = {};
    for await (const { path } of agent.allFiles()) all[path] = (await agent.file(path)).text();
    return all;
  };
  const text = (path: string) => readFile(join(folder, path), "utf8").catch(() => undefined);
  return { name, folder, agent, there, text };
}

/** Runs it until the test is over. */
function startSync(name: string, folder: string, ...more: string[]): { child: ChildProcess; said(): string } {
  const child = spawn(process.execPath, [cliPath, "files", "sync", name, folder, ...more], {
    env: { ...process.env, THINKERY_HOME: house.home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (said += chunk));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await waitForExit(child);
  });
  return { child, said: () => said };
}

test("once: both sides have the same, conflicts lie beside each other, and a second time does nothing", async () => {
  const { name, folder, agent, there, text } = await newPair();
  await agent.editFiles([
    { write: "there.txt", content: "there" },
    { write: "both.txt", content: "theirs" },
    { write: ".gitignore", content: "*.log\n" },
    { write: "b.bin", base64: "AP8=" },
  ]);
  await mkdir(join(folder, "src"));
  for (const [path, content] of Object.entries({ "src/here.txt": "here", "both.txt": "mine", "x.log": "log" }))
    await writeFile(join(folder, path), content);
  const first = await house.runCli(["files", "sync", name, folder, "--once", "--json"]);
  expect(first.code).toBe(0);
  const events = first.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { beside } = events.find(({ did }) => did === "conflict");
  expect(beside).toMatch(/^both\.conflict-[0-9a-f]{8}\.txt$/);
  expect(await there()).toEqual({
    ".gitignore": "*.log\n",
    "b.bin": expect.anything(),
    "both.txt": "mine",
    [beside]: "theirs",
    "src/here.txt": "here",
    "there.txt": "there",
  });
  expect([await text("there.txt"), await text("both.txt"), await text(beside)]).toEqual(["there", "mine", "theirs"]);
  expect([...(await readFile(join(folder, "b.bin")))]).toEqual([0, 255]);
  const { versions } = await agent.versions();
  expect(await house.runCli(["files", "sync", name, folder, "--once"])).toMatchObject({ code: 0, stdout: "" });
  expect((await agent.versions()).versions).toHaveLength(versions.length);
  // Nothing of ours lies in the folder.
  expect((await readdir(folder)).sort()).toEqual([
    ".gitignore",
    "b.bin",
    beside,
    "both.txt",
    "src",
    "there.txt",
    "x.log",
  ]);
  // Deleted here is deleted there.
  await rm(join(folder, "there.txt"));
  expect(await house.runCli(["files", "sync", name, folder, "--once"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("there.txt"),
  });
  expect(await there()).not.toHaveProperty("there.txt");
});

test("while it runs, what changes on one side is on the other; it ends with Ctrl+C", async () => {
  const { name, folder, agent, there, text } = await newPair();
  await agent.putFile("a.txt", "1");
  const { child, said } = startSync(name, folder);
  await waitUntil("them to be alike", () => said().includes("are alike"));
  expect(await text("a.txt")).toBe("1");
  await agent.putFile("a.txt", "2");
  await waitUntil("the news from there", async () => (await text("a.txt")) === "2");
  await writeFile(join(folder, "b.txt"), "b");
  await waitUntil("the news from here", async () => (await there())["b.txt"] === "b");
  await agent.deleteFile("a.txt");
  await waitUntil("the deletion", async () => (await text("a.txt")) === undefined);
  child.kill("SIGINT");
  expect(await waitForExit(child)).toBe(0);
});

test("it goes on when main was killed, and with whatever happened meanwhile", async () => {
  const { name, folder, agent, there, text } = await newPair();
  const { said } = startSync(name, folder);
  await waitUntil("them to be alike", () => said().includes("are alike"));
  const main = findMain(house.home);
  process.kill(main?.pid as number, "SIGKILL");
  await writeFile(join(folder, "meanwhile.txt"), "m");
  await waitUntil(
    "what was written meanwhile",
    async () => (await there().catch(() => ({}) as Record<string, string>))["meanwhile.txt"] === "m",
  );
  await agent.putFile("after.txt", "a");
  await waitUntil("what was written after", async () => (await text("after.txt")) === "a");
});

test("an agent that was made anew under the same name has deleted nothing here", async () => {
  const { name, folder, agent, text } = await newPair();
  await writeFile(join(folder, "a.txt"), "mine");
  expect((await house.runCli(["files", "sync", name, folder, "--once"])).code).toBe(0);
  await agent.delete();
  const other = await house.client.agents().create({ name });
  for (const content of ["1", "2", "3"]) await other.putFile("b.txt", content);
  expect((await house.runCli(["files", "sync", name, folder, "--once"])).code).toBe(0);
  expect([await text("a.txt"), await text("b.txt"), (await other.file("a.txt")).text()]).toEqual(["mine", "3", "mine"]);
});

test("a file is moved with its history; one that cannot be mirrored is told of, and is no success", async () => {
  const { name, folder, agent } = await newPair();
  await mkdir(join(folder, "src"));
  for (let index = 0; index < 12; index++) await writeFile(join(folder, `src/f${index}`), `${index}`);
  await agent.createBranch({ name: "try" });
  const sync = () => house.runCli(["files", "sync", name, folder, "--once", "--branch", "try"]);
  expect((await sync()).code).toBe(0);
  await rename(join(folder, "src"), join(folder, "lib"));
  expect(await sync()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("moved there   lib/f3: it was src/f3\n"),
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
      /left +readme: “README” is here already[^]*left +README: “readme” is there already[^]*2 files could not be made alike/,
    ),
  ]);
});

test("the data folder, the root and one's home are not mirrored, and a disk that is gone deletes nothing", async () => {
  const { name, folder, agent } = await newPair();
  for (const wrong of ["/", house.home, join(house.home, "..")])
    expect((await house.runCli(["files", "sync", name, wrong, "--once"])).code).toBe(2);
  for (let index = 0; index < 12; index++) await writeFile(join(folder, `f${index}`), `${index}`);
  await house.runCli(["files", "sync", name, folder, "--once"]);
  for (let index = 0; index < 12; index++) await rm(join(folder, `f${index}`));
  expect(await house.runCli(["files", "sync", name, folder, "--once"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("12 of 12 files are gone from the folder at once"),
  });
  expect((await agent.files()).files).toHaveLength(12);
  expect((await house.runCli(["files", "sync", name, folder, "--once", "--force"])).code).toBe(0);
  expect((await agent.files()).files).toEqual([]);
});
