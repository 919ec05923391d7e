import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import { openScriptedHost } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";

let host: HostProcess;

beforeAll(async () => {
  host = await openScriptedHost(["alice", "bob"]);
}, 60_000);

afterAll(() => host?.stop());

async function runJson(...args: string[]) {
  const { code, stdout, stderr } = await host.runCli(["--json", "schedule", ...args]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

test("a schedule is added, listed, paused, resumed, run and removed", async () => {
  const cron = ["--cron", "0 9 * * 1-5", "--tz", "Europe/Berlin", "--missed", "all", "--overlap", "skip"];
  const added = await host.runCli(["schedule", "add", "alice", "What is new?", ...cron]);
  const [, id = ""] =
    /^Added (schedule-\w+)\. It runs next at \d{4}-\d\d-\d\d \d\d:00:00 \(in \d+[dhms]\)\.\n$/.exec(added.stdout) ?? [];
  expect([added.code, id]).toEqual([0, expect.stringMatching(/^schedule-/)]);

  const list = await host.runCli(["schedule", "ls"]);
  expect(list.stdout).toMatch(/^TARGET +ID +WHEN +NEXT +LAST RUN +INPUT\n/);
  expect(list.stdout).toMatch(new RegExp(`alice +${id} +0 9 \\* \\* 1-5 Europe/Berlin +.* \\(in .*What is new\\?`));
  expect(await runJson("ls", "alice")).toMatchObject({
    schedules: [{ id, owner: "alice", missed: "all", overlap: "skip", timeZone: "Europe/Berlin" }],
  });

  expect((await host.runCli(["schedule", "pause", "alice", id])).stdout).toBe(`Paused ${id}.\n`);
  expect((await host.runCli(["schedule", "ls", "alice"])).stdout).toContain("  paused  ");
  expect((await host.runCli(["schedule", "resume", "alice", id])).stdout).toContain(`Resumed ${id}. It runs next at `);

  expect((await host.runCli(["schedule", "runs", "alice", id])).stdout).toBe(`${id} has not run yet.\n`);
  expect((await host.runCli(["schedule", "run", "alice", id])).stdout).toMatch(/^Started turn [\w-]+\.\n$/);
  const runs = await waitUntil("the turn to end", async () => {
    const { stdout } = await host.runCli(["schedule", "runs", "alice", id]);
    return stdout.includes("completed") && stdout;
  });
  expect(runs).toMatch(/^DUE +STATUS +TURN +NOTE\n.*ago\) +completed +[\w-]+ +run by request\n$/);

  expect((await host.runCli(["schedule", "rm", "alice", id])).stdout).toBe(`Deleted ${id}.\n`);
  expect((await host.runCli(["schedule", "ls", "alice"])).stdout).toBe(
    "No schedules. Add one with `thinkery schedule add`.\n",
  );
});

test("an agency's schedule names its agent", async () => {
  const schedule = await runJson("add", "@global", "Hello", "--agent", "bob", "--every", "1h");
  expect(schedule).toMatchObject({ agent: "bob", when: { every: 3600 }, missed: "once", overlap: "queue" });
  const { stdout } = await host.runCli(["schedule", "ls", "@global"]);
  expect(stdout).toMatch(/@global → bob +schedule-\w+ +every 1h/);
  expect((await host.runCli(["schedule", "rm", "@global", schedule.id])).code).toBe(0);
});

test("dates and durations run once", async () => {
  expect(await runJson("add", "bob", "x", "--in", "2h", "--name", "Later")).toMatchObject({
    when: 7200,
    name: "Later",
  });
  expect(await runJson("add", "bob", "x", "--at", "2050-01-01T09:00", "--tz", "Asia/Tokyo")).toMatchObject({
    nextAt: "2050-01-01T00:00:00.000Z",
  });
});

test.each([
  [["add", "alice", "x"], 2, "Pass one of --in, --at, --cron and --every."],
  [["add", "alice", "x", "--in", "2h", "--every", "1h"], 2, "Pass one of --in, --at, --cron and --every."],
  [["add", "alice", "x", "--in", "soon"], 2, "“soon” is not a duration."],
  [["add", "alice", "x", "--cron", "0 25 * * *"], 2, "Field 2 (hour) of the cron expression is “25”"],
  [["add", "alice", "x", "--at", "2020-01-01T00:00:00Z"], 2, "is in the past"],
  [["add", "alice", "x", "--every", "1h", "--missed", "maybe"], 2, "Allowed choices are skip, once, all"],
  [["add", "alice", "x", "--every", "1h", "--agent", "bob"], 2, "--agent is only for agencies."],
  [["add", "@global", "x", "--every", "1h"], 2, "An agency's schedule needs --agent"],
  [["add", "alcie", "x", "--every", "1h"], 1, "Did you mean alice?"],
  [["rm", "alice", "schedule-1"], 1, "List them with `thinkery schedule ls alice`."],
])("schedule %j fails with %i", async (args, code, message) => {
  const result = await host.runCli(["schedule", ...args]);
  expect([result.code, result.stderr]).toEqual([code, expect.stringContaining(message)]);
});

test("a run that the agent does not accept fails", async () => {
  const { id } = await runJson("add", "bob", "x", "--every", "1h");
  await host.runCli(["stop", "bob"]);
  const { code, stderr } = await host.runCli(["schedule", "run", "bob", id]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("The agent is stopped")]);
  await host.runCli(["start", "bob"]);
});
