import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess, CliResult } from "../kit/host-process.ts";
import { openScriptedHost } from "../kit/scripted-host.ts";

let house: HostProcess;

beforeAll(async () => {
  house = await openScriptedHost(["alice", "bob"]);
});

afterAll(() => house?.stop());

async function runJson(...args: string[]) {
  const { code, stdout, stderr } = await house.runCli([...args, "--json"]);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return JSON.parse(stdout);
}

async function expectRefused(args: string[], code: number, sentence: RegExp): Promise<void> {
  const ran: CliResult = await house.runCli(args);
  expect({ args, code: ran.code, stdout: ran.stdout }).toEqual({ args, code, stdout: "" });
  expect(ran.stderr).toMatch(sentence);
}

test("usage shows days and models of an agent, an agency and everything", async () => {
  expect((await house.runCli(["usage", "alice"])).stdout).toBe("Nothing was used in 30 days.\n");
  for (const agent of ["alice", "bob"]) expect((await house.runCli(["serve", agent, "hello"])).code).toBe(0);
  const today = new Date().toISOString().slice(0, 10);
  for (const [args, calls] of [
    [["usage", "alice"], 1],
    [["usage", "@global", "--days", "1"], 2],
    [["usage"], 2],
  ] as const) {
    const { code, stdout, stderr } = await house.runCli([...args]);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
    expect(stdout).toMatch(/^DAY +MODEL +CALLS +IN +OUT +COST\n/);
    expect(stdout).toMatch(new RegExp(`\n${today}  scripted:talker  ${calls} +\\d+ +\\d+ +\\$0\n`));
    expect(stdout).toMatch(new RegExp(`\nall +${calls} `));
  }
  expect((await house.runCli(["usage", "@global"])).stdout).toMatch(/\nAGENT +CALLS[^\n]+\nalice +1 [^\n]+\nbob +1 /);
  expect(await runJson("usage", "@global")).toMatchObject({
    total: { calls: 2 },
    byAgent: [{ agent: "alice" }, { agent: "bob" }],
    budget: [],
  });
  expect(await runJson("usage")).toMatchObject({ total: { calls: 2 }, byAgency: [{ agency: "global", calls: 2 }] });
  expect(await runJson("stats", "@global")).toMatchObject({ total: { calls: 2 } });
  await expectRefused(["usage", "nobody"], 1, /nobody/);
  await expectRefused(["usage", "@nowhere"], 1, /nowhere/);
  for (const days of ["0", "-1", "x", "1.5", "4000"])
    await expectRefused(["usage", "--days", days], 2, /number of days|argument/);
});

test("a budget is set, merged, shown and cleared", async () => {
  expect((await house.runCli(["budget"])).stdout).toBe(
    "Nothing is limited for you; `thinkery budget set --cost 5 --per day` would.\n",
  );
  const set = await runJson("budget", "set", "@global", "--tokens", "2M", "--cost", "$0.1", "--per", "day");
  expect(set.budget).toEqual({ tokens: 2_000_000, costUsd: 0.1, per: "day" });
  // What is not named stays.
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
  const { stdout } = await house.runCli(["budget", "@global"]);
  expect(stdout).toMatch(
    /^BUDGET +OF +PER +SPENT +SET ASIDE +LIMIT +USED\nagency +tokens +for good +\d+ +- +2000000 +0 %\nagency +time +for good +\S+ +- +1h 30m +0 %\n$/,
  );
  expect((await house.runCli(["budget", "alice"])).stdout).toMatch(
    /^A turn has no budget of its own\.\n\nBUDGET[^]+\n\nalice's own budget stands in the blueprint “think”, under config\.budget\.\n$/,
  );
  expect((await house.runCli(["usage", "@global"])).stdout).toContain("2000000");
  expect(await runJson("budget", "set", "@global", "--tokens", "none", "--time", "none")).toEqual({
    budget: null,
    statuses: [],
  });
  await runJson("budget", "set", "--cost", "5");
  expect((await runJson("budget")).statuses).toMatchObject([{ level: "user", kind: "costUsd", limit: 5 }]);
  expect((await house.runCli(["budget", "clear"])).stdout).toContain("Nothing is limited for you");
  expect(await runJson("budget")).toEqual({ budget: null, statuses: [] });
});

test("nonsense for a budget is exit code 2 with a sentence, and changes nothing", async () => {
  const wrong: [string[], RegExp][] = [
    [["--cost", "0"], /“0” is no limit of cost; give an amount above 0, or none/],
    [["--cost", "-5"], /no limit of cost|argument/],
    [["--tokens", "0.5"], /“0.5” is no limit of tokens; give a whole number above 0, or none/],
    [["--tokens", "lots"], /“lots” is no limit of tokens/],
    [["--tokens", "1e99"], /no limit of tokens/],
    [["--steps", "0"], /no limit of steps/],
    [["--time", "0m"], /“0m” is no limit of time; give a time above 0/],
    [["--time", "soon"], /not a length of time/],
    [["--per", "week"], /day, ever/],
    [["--per", "day"], /There is no budget yet/],
    [[], /Say what to limit/],
    [["alice", "--cost", "1"], /alice is an agent; its budget stands in its blueprint/],
  ];
  for (const [args, sentence] of wrong) await expectRefused(["budget", "set", ...args], 2, sentence);
  await expectRefused(["budget", "clear", "alice"], 2, /alice is an agent/);
  expect(await runJson("budget")).toEqual({ budget: null, statuses: [] });
  const reader = { THINKERY_TOKEN: (await runJson("token", "new", "reader")).token };
  expect((await house.runCli(["budget"], { env: reader })).code).toBe(0);
  expect((await house.runCli(["budget", "set", "--cost", "1"], { env: reader })).code).toBe(3);
});

test("a turn that a budget ends is exit code 5, and says what would raise it", async () => {
  await runJson("agency", "new", "tight");
  await runJson("new", "carl@tight", "-m", "scripted:talker");
  await runJson("budget", "set", "@tight", "--steps", "1");
  const { code, stderr } = await house.runCli(["run", "carl@tight", "plan"]);
  expect(code).toBe(5);
  expect(stderr).toContain(
    "The agency “tight” has used 1 of the 1 call that its budget allows. Raise it with `thinkery budget set @tight --steps …`.",
  );
  for (const args of [
    ["serve", "carl@tight", "hello"],
    ["send", "carl@tight", "--wait", "hello"],
    ["run", "carl@tight", "hello", "--json"],
  ]) {
    expect([args, (await house.runCli(args)).code]).toEqual([args, 5]);
  }
  await runJson("budget", "set", "@tight", "--steps", "10");
  expect((await house.runCli(["serve", "carl@tight", "hello"])).code).toBe(0);
  // Over HTTP it is no passing trouble.
  await runJson("budget", "set", "@tight", "--steps", "1");
  const served = await fetch(`${house.url}/serve`, {
    method: "POST",
    headers: { authorization: `Bearer ${house.token}`, "content-type": "application/json" },
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
