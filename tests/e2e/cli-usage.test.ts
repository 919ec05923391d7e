import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess, CliResult } from "../kit/host-process.ts";
import { openScriptedHost } from "../kit/scripted-host.ts";

let host: HostProcess;

beforeAll(async () => {
  host = await openScriptedHost(["alice", "bob"]);
});

afterAll(() => host?.stop());

async function runJson(...args: string[]) {
  const { code, stdout, stderr } = await host.runCli([...args, "--json"]);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return JSON.parse(stdout);
}

async function expectError(args: string[], code: number, message: RegExp): Promise<void> {
  const result: CliResult = await host.runCli(args);
  expect({ args, code: result.code, stdout: result.stdout }).toEqual({ args, code, stdout: "" });
  expect(result.stderr).toMatch(message);
}

test("usage shows days and models of an agent, an agency or all agencies", async () => {
  expect((await host.runCli(["usage", "alice"])).stdout).toBe("No usage in the last 30 days.\n");
  for (const agent of ["alice", "bob"]) expect((await host.runCli(["serve", agent, "hello"])).code).toBe(0);
  const today = new Date().toISOString().slice(0, 10);
  for (const [args, calls] of [
    [["usage", "alice"], 1],
    [["usage", "@global", "--days", "1"], 2],
    [["usage"], 2],
  ] as const) {
    const { code, stdout, stderr } = await host.runCli([...args]);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
    expect(stdout).toMatch(/^DAY +MODEL +CALLS +IN +OUT +COST\n/);
    expect(stdout).toMatch(new RegExp(`\n${today}  scripted:talker  ${calls} +\\d+ +\\d+ +\\$0\n`));
    expect(stdout).toMatch(new RegExp(`\ntotal +${calls} `));
  }
  expect((await host.runCli(["usage", "@global"])).stdout).toMatch(/\nAGENT +CALLS[^\n]+\nalice +1 [^\n]+\nbob +1 /);
  expect(await runJson("usage", "@global")).toMatchObject({
    total: { calls: 2 },
    byAgent: [{ agent: "alice" }, { agent: "bob" }],
    budget: [],
  });
  expect(await runJson("usage")).toMatchObject({ total: { calls: 2 }, byAgency: [{ agency: "global", calls: 2 }] });
  expect(await runJson("stats", "@global")).toMatchObject({ total: { calls: 2 } });
  await expectError(["usage", "nobody"], 1, /nobody/);
  await expectError(["usage", "@nowhere"], 1, /nowhere/);
  for (const days of ["0", "-1", "x", "1.5", "4000"])
    await expectError(["usage", "--days", days], 2, /number of days|argument/);
});

test("a budget is set, merged, shown and cleared", async () => {
  expect((await host.runCli(["budget"])).stdout).toBe(
    "No budget is set for you. Set one with `thinkery budget set --cost 5 --per day`.\n",
  );
  const set = await runJson("budget", "set", "@global", "--tokens", "2M", "--cost", "$0.1", "--per", "day");
  expect(set.budget).toEqual({ tokens: 2_000_000, costUsd: 0.1, per: "day" });
  // Limits that are not named stay unchanged.
  expect((await runJson("budget", "set", "@global", "--time", "90m", "--steps", "1.5k")).budget).toEqual({
    tokens: 2_000_000,
    costUsd: 0.1,
    seconds: 5400,
    steps: 1500,
    per: "day",
  });
  expect(
    (await runJson("budget", "set", "@global", "--cost", "none", "--steps", "none", "--per", "ever")).budget,
  ).toEqual({ tokens: 2_000_000, seconds: 5400, per: "ever" });
  const { stdout } = await host.runCli(["budget", "@global"]);
  expect(stdout).toMatch(
    /^SCOPE +KIND +PERIOD +SPENT +RESERVED +LIMIT +USED\nagency +tokens +total +\d+ +- +2000000 +0%\nagency +time +total +\S+ +- +1h 30m +0%\n$/,
  );
  expect((await host.runCli(["budget", "alice"])).stdout).toMatch(
    /^No limits per turn\.\n\nSCOPE[^]+\n\nalice's own budget is set in the blueprint “think”, under config\.budget\.\n$/,
  );
  expect((await host.runCli(["usage", "@global"])).stdout).toContain("2000000");
  expect(await runJson("budget", "set", "@global", "--tokens", "none", "--time", "none")).toEqual({
    budget: null,
    statuses: [],
  });
  await runJson("budget", "set", "--cost", "5");
  expect((await runJson("budget")).statuses).toMatchObject([{ level: "user", kind: "costUsd", limit: 5 }]);
  expect((await host.runCli(["budget", "clear"])).stdout).toContain("No budget is set for you");
  expect(await runJson("budget")).toEqual({ budget: null, statuses: [] });
});

test("an invalid budget exits with code 2 and a message, and changes nothing", async () => {
  const invalid: [string[], RegExp][] = [
    [["--cost", "0"], /“0” is not a valid limit for cost\. Use an amount above 0, or none/],
    [["--cost", "-5"], /not a valid limit for cost|argument/],
    [["--tokens", "0.5"], /“0.5” is not a valid limit for tokens\. Use a whole number above 0, or none/],
    [["--tokens", "lots"], /“lots” is not a valid limit for tokens/],
    [["--tokens", "1e99"], /not a valid limit for tokens/],
    [["--steps", "0"], /not a valid limit for steps/],
    [["--time", "0m"], /“0m” is not a valid limit for time\. Use a duration above 0/],
    [["--time", "soon"], /not a duration/],
    [["--per", "week"], /day, ever/],
    [["--per", "day"], /No budget is set yet/],
    [[], /Specify a limit/],
    [["alice", "--cost", "1"], /alice is an agent; set its budget in its blueprint/],
  ];
  for (const [args, message] of invalid) await expectError(["budget", "set", ...args], 2, message);
  await expectError(["budget", "clear", "alice"], 2, /alice is an agent/);
  expect(await runJson("budget")).toEqual({ budget: null, statuses: [] });
  const reader = { THINKERY_TOKEN: (await runJson("token", "new", "reader")).token };
  expect((await host.runCli(["budget"], { env: reader })).code).toBe(0);
  expect((await host.runCli(["budget", "set", "--cost", "1"], { env: reader })).code).toBe(3);
});

test("a turn ended by a budget exits with code 5 and says how to raise it", async () => {
  await runJson("agency", "new", "tight");
  await runJson("new", "carl@tight", "-m", "scripted:talker");
  await runJson("budget", "set", "@tight", "--steps", "1");
  const { code, stderr } = await host.runCli(["run", "carl@tight", "plan"]);
  expect(code).toBe(5);
  expect(stderr).toContain(
    "The agency “tight” has used 1 of the 1 call that its budget allows. Raise it with `thinkery budget set @tight --steps …`.",
  );
  for (const args of [
    ["serve", "carl@tight", "hello"],
    ["send", "carl@tight", "--wait", "hello"],
    ["run", "carl@tight", "hello", "--json"],
  ]) {
    expect([args, (await host.runCli(args)).code]).toEqual([args, 5]);
  }
  await runJson("budget", "set", "@tight", "--steps", "10");
  expect((await host.runCli(["serve", "carl@tight", "hello"])).code).toBe(0);
  // Over HTTP it is a conflict, not a transient error.
  await runJson("budget", "set", "@tight", "--steps", "1");
  const served = await fetch(`${host.url}/serve`, {
    method: "POST",
    headers: { authorization: `Bearer ${host.token}`, "content-type": "application/json" },
    body: JSON.stringify({ agent: "carl@tight", message: "hello" }),
  });
  expect([served.status, await served.json()]).toMatchObject([
    409,
    {
      error: {
        code: "conflict",
        details: { suggestion: expect.stringContaining("thinkery budget set @tight --steps") },
      },
    },
  ]);
});
