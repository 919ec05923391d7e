import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { copyBuildForTest } from "../kit/build-copy.ts";
import { createHomePath, startHostProcess, removeHome, runCli } from "../kit/host-process.ts";
import { waitForExit, findHomeProcesses, findProgramProcesses } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

let home: string;

beforeEach(async () => {
  home = await createHomePath();
  onTestFinished(async () => {
    await runCli(["stop"], home);
    await removeHome(home);
  });
});

const readDaemonFile = async () => JSON.parse(await readFile(join(home, "daemon.json"), "utf8"));

test("a command starts a host when none lives, and says so beside its reply", async () => {
  const first = await runCli(["ls", "--json"], home);
  expect(first.code).toBe(0);
  expect(JSON.parse(first.stdout)).toEqual({ agents: [] });
  expect(first.stderr).toBe("No host is running; starting one.\n");
  const { pid } = await readDaemonFile();

  const second = await runCli(["ls", "--json"], home);
  expect(second).toEqual({ ...first, stderr: "" });
  expect((await readDaemonFile()).pid).toBe(pid);
});

test("four commands at once end with one host", async () => {
  const program = await copyBuildForTest();
  const all = await Promise.all(
    ["ann", "bob", "cid", "dot"].map((name) => runCli(["new", name, "--json"], home, { program })),
  );
  expect(all.map(({ code, stderr }) => [code, stderr.replace("No host is running; starting one.\n", "")])).toEqual(
    all.map(() => [0, ""]),
  );
  const { pid } = await readDaemonFile();
  // Those that came too late have said so already and are on their way out.
  await waitUntil("one process to be left", () =>
    findProgramProcesses(program).every((process) => process.pid === pid),
  );
  const { stdout } = await runCli(["ls", "--json"], home, { program });
  expect(JSON.parse(stdout).agents.map(({ name }: { name: string }) => name)).toEqual(["ann", "bob", "cid", "dot"]);

  expect((await runCli(["stop"], home, { program })).stdout).toBe("Thinkery has stopped.\n");
  await waitUntil("no process to be left", () => findProgramProcesses(program).length === 0);
  expect(findHomeProcesses(home)).toEqual([]);
});

test("a command of another version restarts the host, where it was and with all it knew", async () => {
  const house = await startHostProcess({ home });
  onTestFinished(() => house.stop());
  await house.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
  const before = await readDaemonFile();

  const program = await copyBuildForTest({ version: "0.2.0+other" });
  const { code, stdout, stderr } = await runCli(["ls", "--json"], home, { program });
  expect(code).toBe(0);
  expect(stderr).toBe(`The host is version ${before.version} and this is 0.2.0+other; restarting it.\n`);
  expect(JSON.parse(stdout).agents).toMatchObject([{ name: "alice" }]);
  expect(await waitForExit(house.daemon)).toBe(0);
  const after = await readDaemonFile();
  expect(after).toMatchObject({ version: "0.2.0+other", port: before.port });
  expect((await house.client.call("health")).version).toBe("0.2.0+other");

  const again = await runCli(["ls"], home, { program });
  expect(again.stderr).toBe("");
  expect((await readDaemonFile()).pid).toBe(after.pid);
});

test("start, restart and stop answer scripts with one JSON value each", async () => {
  const run = async (command: string, ...flags: string[]) => {
    const { code, stdout } = await runCli([command, "--json", ...flags], home);
    expect([command, code]).toEqual([command, 0]);
    return JSON.parse(stdout);
  };
  // Not the usual port: another host might take that while ours restarts.
  const first = await run("start", "--port", "0");
  expect(first).toMatchObject({ started: true, home, login: expect.stringContaining(`${first.url}/#code=`) });
  expect(await run("start")).toMatchObject({ started: false, url: first.url, pid: first.pid });
  const second = await run("restart");
  expect(second).toMatchObject({ started: true, url: first.url });
  expect(second.pid).not.toBe(first.pid);
  expect(await run("stop")).toEqual({ stopped: true });
  expect(await run("stop")).toEqual({ stopped: false });
  expect(findHomeProcesses(home)).toEqual([]);
});
