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

test("a command starts a host if none is running and says so on stderr", async () => {
  const first = await runCli(["ls", "--json"], home);
  expect(first.code).toBe(0);
  expect(JSON.parse(first.stdout)).toEqual({ agents: [] });
  expect(first.stderr).toBe("No host is running; starting one.\n");
  const { pid } = await readDaemonFile();

  const second = await runCli(["ls", "--json"], home);
  expect(second).toEqual({ ...first, stderr: "" });
  expect((await readDaemonFile()).pid).toBe(pid);
});

test("four concurrent commands start one host", async () => {
  const program = await copyBuildForTest();
  const results = await Promise.all(
    ["ann", "bob", "cid", "dot"].map((name) => runCli(["new", name, "--json"], home, { program })),
  );
  expect(results.map(({ code, stderr }) => [code, stderr.replace("No host is running; starting one.\n", "")])).toEqual(
    results.map(() => [0, ""]),
  );
  const { pid } = await readDaemonFile();
  // The hosts that lost the race have already reported it and are exiting.
  await waitUntil("one process to remain", () => findProgramProcesses(program).every((process) => process.pid === pid));
  const { stdout } = await runCli(["ls", "--json"], home, { program });
  expect(JSON.parse(stdout).agents.map(({ name }: { name: string }) => name)).toEqual(["ann", "bob", "cid", "dot"]);

  expect((await runCli(["stop"], home, { program })).stdout).toBe("Thinkery has stopped.\n");
  await waitUntil("all processes to exit", () => findProgramProcesses(program).length === 0);
  expect(findHomeProcesses(home)).toEqual([]);
});

test("a command of another version restarts the host on the same port with its data", async () => {
  const host = await startHostProcess({ home });
  onTestFinished(() => host.stop());
  await host.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
  const before = await readDaemonFile();

  const program = await copyBuildForTest({ version: "0.2.0+other" });
  const { code, stdout, stderr } = await runCli(["ls", "--json"], home, { program });
  expect(code).toBe(0);
  expect(stderr).toBe(`Restarting the host: it is version ${before.version}, this CLI is 0.2.0+other.\n`);
  expect(JSON.parse(stdout).agents).toMatchObject([{ name: "alice" }]);
  expect(await waitForExit(host.daemon)).toBe(0);
  const after = await readDaemonFile();
  expect(after).toMatchObject({ version: "0.2.0+other", port: before.port });
  expect((await host.client.call("health")).version).toBe("0.2.0+other");

  const again = await runCli(["ls"], home, { program });
  expect(again.stderr).toBe("");
  expect((await readDaemonFile()).pid).toBe(after.pid);
});

test("start, restart and stop print one JSON value each with --json", async () => {
  const run = async (command: string, ...flags: string[]) => {
    const { code, stdout } = await runCli([command, "--json", ...flags], home);
    expect([command, code]).toEqual([command, 0]);
    return JSON.parse(stdout);
  };
  // Not the default port: another host might take it while ours restarts.
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
