import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { cliPath } from "../kit/host-process.ts";
import { findMain, waitForExit } from "../kit/processes.ts";
import { spawnProgram } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { createSolo, team, useWorkflowHost } from "../kit/workflow-host.ts";

// `thinkery run` and `serve` with workflow files: what they print, how they end, and what interrupts them.

const { host, createFolder } = useWorkflowHost();

const describeRun = (agency: string) => host().client.workflowRun(agency).describe();

test("run prints messages and replies on stderr and the result on stdout", async () => {
  const { run } = await createFolder({ "team.yaml": team });
  const { code, stdout, stderr } = await run(["run", "team.yaml", "--tag", "plain", "--var", "what=that"]);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: "It is done.\n[msg-3 from worker in #general]\n@lead finished\n",
  });
  const lines = stderr.split("\n");
  expect(lines[0]).toBe("Running team as @team:plain.");
  expect(stderr).toContain("owner → lead: @lead Do that\nlead → worker: @worker please\n  do it\n");
  expect(stderr).toContain("worker · writeFile");
  expect(stderr).toContain("worker → lead: @lead finished\n");
  expect(stderr).toContain("worker finished: I have finished.\n");
  expect(stderr).toMatch(/\nCompleted: 3 turns of 2 agents in \d+s, [\d.]+k tokens\.\n$/);
  expect(stderr).not.toContain("\u001b");
});

test("a message replaces the kickoff, and --json prints the run as it ended", async () => {
  const { run } = await createFolder({
    "solo.json": JSON.stringify({ name: "solo", agents: { lead: { model: "scripted:lead" } } }),
  });
  const { code, stdout, stderr } = await run(["run", "solo.json", "work", "alone", "--tag", "json", "--json"]);
  expect({ code, stderr: stderr.includes("Running solo") }).toEqual({ code: 0, stderr: true });
  expect(JSON.parse(stdout)).toMatchObject({
    agency: "solo:json",
    status: "completed",
    kickoff: "work alone",
    result: "\u001b[31mDone\u001b[0m alone.",
    turns: 1,
  });
  // Untrusted text does not reach the terminal as it is.
  expect((await run(["run", "solo.json", "alone"])).stdout).toBe("\ufffd[31mDone\ufffd[0m alone.\n");
  const { code: missing, stderr: reason } = await run(["run", "solo.json"]);
  expect([missing, reason]).toEqual([
    2,
    "thinkery: The workflow solo has no kickoff. Pass a message to start it with.\n",
  ]);
});

test("a run without a tag gets one of its own, and the same tag again is the same agents", async () => {
  const { run } = await createFolder({ "solo.yaml": createSolo("alone") });
  const tags = await Promise.all([1, 2].map(async () => (await run(["run", "solo.yaml", "--json"])).stdout));
  const [one, two] = tags.map((text) => (JSON.parse(text) as { agency: string }).agency);
  expect(one).toMatch(/^solo:\d{4}-\d\d-\d\d-\d{4}-[a-z0-9]{4}$/);
  expect(two).not.toBe(one);
  const again = await run(["run", "solo.yaml", "--tag", String(one).slice(5)]);
  expect(again).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Running again in @${one}, which completed`),
  });
});

test("a run that fails says why, and its exit code tells a budget from the rest", async () => {
  const { run } = await createFolder({
    "broken.yaml": createSolo("break"),
    "spender.yaml": createSolo("spend").replace("{ model", "{ max_steps: 1, model"),
    "long.yaml": team.replace("name: team", "name: long\nlimits: { max_turns: 2 }"),
  });
  const broken = await run(["run", "broken.yaml"]);
  expect({ code: broken.code, stdout: broken.stdout }).toEqual({ code: 1, stdout: "" });
  expect(broken.stderr).toMatch(/thinkery: The run failed: .*key/);
  expect(await run(["run", "spender.yaml"])).toMatchObject({ code: 5, stderr: expect.stringContaining("lead: ") });
  const long = await run(["run", "long.yaml", "--json"]);
  expect({ code: long.code, run: JSON.parse(long.stdout) }).toMatchObject({
    code: 1,
    run: { status: "failed", reason: "turn_limit" },
  });
});

test("setup runs in the current folder, shows its progress, and stops the run if it fails", async () => {
  const setup = `setup:\n  - shell: echo "$GREETING \${{ env.NAME }}" > out.txt; cat out.txt; echo busy >&2\n    as: hello\n`;
  const { run, cwd } = await createFolder({
    "solo.yaml": createSolo("alone ${{ hello }}!", setup),
    "failing.yaml": createSolo("alone", `${setup}  - shell: echo no luck >&2; exit 3\n`),
    ".env": "GREETING=Hello\n",
  });
  const env = { NAME: "Ann" };
  const fine = await run(["run", "solo.yaml", "--tag", "setup"], { env });
  expect(fine.stderr).toContain("Setup 1/1 (hello): $ echo");
  expect(fine.stderr).toContain("  │ busy\n  → 1 line (");
  expect((await describeRun("solo:setup")).kickoff).toBe("alone Hello Ann!");
  expect(await readFile(join(cwd, "out.txt"), "utf8")).toBe("Hello Ann\n");

  const failing = await run(["run", "failing.yaml", "--tag", "failing"], { env });
  expect(failing).toMatchObject({ code: 1, stdout: "" });
  expect(failing.stderr).toContain(
    "thinkery: Setup step 2 failed with exit code 3, so the workflow was not started:\n  no luck\n",
  );
  await expect(describeRun("solo:failing")).rejects.toThrow("not found");
  const unset = await run(["run", "solo.yaml"]);
  expect(unset).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the environment variable “NAME” is not set"),
  });
});

test("Ctrl+C ends the setup and starts nothing", async () => {
  const { spawn, cwd } = await createFolder({
    "solo.yaml": createSolo("alone", "setup: [{ shell: 'echo $$ > pid; sleep 600' }]\n"),
  });
  const { child, err } = spawn(["run", "solo.yaml", "--tag", "interrupted"]);
  const pid = await waitUntil("the setup", async () => Number(await readFile(join(cwd, "pid"), "utf8")));
  child.kill("SIGINT");
  expect(await waitForExit(child)).toBe(130);
  expect(err()).toContain("Interrupted. The workflow was not started.\n");
  await waitUntil("the step to end", () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
  await expect(describeRun("solo:interrupted")).rejects.toThrow("not found");
});

test("Ctrl+C stops a run, which can be resumed and followed to its result", async () => {
  const { run, spawn } = await createFolder({ "team.yaml": team });
  const { child, err } = spawn(["run", "team.yaml", "--tag", "stopped"]);
  await waitUntil("the worker to be asked", () => err().includes("lead → worker"));
  child.kill("SIGINT");
  expect(await waitForExit(child)).toBe(130);
  expect(err()).toContain("Stopping the run… Press Ctrl+C again to quit and leave it going.\n");
  expect(err()).toContain("Stopped. Resume it with `thinkery workflow start @team:stopped`.\n");
  expect((await describeRun("team:stopped")).status).toBe("stopped");

  const refused = await run(["run", "team.yaml", "--tag", "stopped"]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("The run @team:stopped is stopped. Resume it"),
  });
  expect(await run(["workflow", "start", "@team:stopped"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Resumed @team:stopped."),
  });
  const followed = await run(["workflow", "follow", "team", "--tag", "stopped"]);
  expect(followed).toMatchObject({ code: 0, stdout: expect.stringContaining("It is done.") });
});

test("a run goes on after kill -9 of main, and each message is printed once", async () => {
  const { spawn } = await createFolder({ "team.yaml": team });
  const { child, out, err } = spawn(["run", "team.yaml", "--tag", "killed"]);
  await waitUntil("the worker to be asked", () => err().includes("lead → worker"));
  const main = findMain(host().home);
  if (!main) throw new Error("main is not running");
  process.kill(main.pid, "SIGKILL");
  expect(await waitForExit(child)).toBe(0);
  expect(out()).toContain("It is done.");
  expect(err()).toContain("Connection lost; reconnecting…\n");
  expect(err()).toContain("Reconnected.\n");
  const senders = err()
    .split("\n")
    .flatMap((line) => /^(\w+ → \w+): /.exec(line)?.[1] ?? []);
  expect(senders).toEqual(["owner → lead", "lead → worker", "worker → lead"]);
});

test("without a terminal, a run that waits for a person exits with 4 and says how to answer and to go on", async () => {
  const { run } = await createFolder({ "solo.yaml": createSolo("delete a file") });
  const waiting = await run(["run", "solo.yaml", "--tag", "waiting"]);
  expect({ code: waiting.code, stdout: waiting.stdout }).toEqual({ code: 4, stdout: "" });
  expect(waiting.stderr).toContain("lead@solo:waiting waits for your approval:");
  expect(waiting.stderr).toContain("Follow it with `thinkery workflow follow @solo:waiting`.");
  expect(await run(["run", "solo.yaml", "--tag", "waiting"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("The run @solo:waiting is waiting. Follow it"),
  });
  expect((await run(["approval", "approve"])).code).toBe(0);
  expect(await run(["workflow", "follow", "@solo:waiting"])).toMatchObject({
    code: 0,
    stdout: "Heard: Deleted a.txt.\n",
  });
});

/** Runs the CLI in a terminal, as a person would. */
function openTerminal(cwd: string, ...args: string[]) {
  const command = `cd '${cwd}'; stty cols 100 rows 40; exec '${process.execPath}' '${cliPath}' ${args.join(" ")}`;
  const { child, out } = spawnProgram(host(), "script", ["-qec", command, "/dev/null"]);
  const read = () => stripVTControlCharacters(out()).replaceAll("\r", "");
  return { child, read, readRaw: out, type: (keys: string) => child.stdin?.write(keys) };
}

test("at a terminal, each agent has a line, and questions are asked there", async () => {
  const { cwd } = await createFolder({ "solo.yaml": createSolo("ask me"), "team.yaml": team });
  const solo = openTerminal(cwd, "run", "solo.yaml", "--tag", "asking");
  await waitUntil("the question", () => solo.read().includes("Which color?") && solo.read().includes("Answer: "));
  solo.type("blue\r");
  expect(await waitForExit(solo.child)).toBe(0);
  expect(solo.read()).toContain("Color: blue");

  const { child, read, readRaw } = openTerminal(cwd, "run", "team.yaml", "--tag", "live");
  expect(await waitForExit(child)).toBe(0);
  expect(read()).toMatch(/^worker {2}working +\d+s +[\d.k]+ tokens/m);
  expect(read()).toMatch(/^lead {4}idle +[\d.k]+ tokens$/m);
  // Lines are drawn over, and none is left below the result.
  expect(readRaw()).toContain("\u001b[2A\r\u001b[J");
  expect(read()).toMatch(/@lead finished\nCompleted: [^\n]*\n$/);
});

test("serve prints messages and replies until Ctrl+C, as lines of JSON if asked to", async () => {
  const { run, spawn } = await createFolder({ "team.yaml": team });
  const { child, out } = spawn(["serve", "team.yaml", "--tag", "served", "--json"]);
  await waitUntil("the result", () => out().includes("It is done."));
  await run(["channel", "send", "#general@team:served", "@worker hello"]);
  await waitUntil("the reply", () => out().includes("Worker heard"));
  child.kill("SIGINT");
  expect(await waitForExit(child)).toBe(0);
  const events = out()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; message?: { content: string }; run?: { status: string } });
  expect(events.flatMap(({ message }) => message?.content ?? [])).toEqual([
    "@lead Do it",
    "@worker please\ndo it",
    "@lead finished",
    "@worker hello",
  ]);
  expect(events.at(-1)).toMatchObject({ type: "done", run: { status: "stopped", resident: true } });
});
