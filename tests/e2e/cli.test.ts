import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess, type CliResult, runCli } from "../kit/host-process.ts";

let house: HostProcess;

beforeAll(async () => {
  house = await startHostProcess();
});

afterAll(() => house?.stop());

async function runJson(...args: string[]) {
  const { code, stdout, stderr } = await house.runCli([...args, "--json"]);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** The command failed with this code and one sentence, and printed nothing for the next program in a pipe. */
function expectRefused({ code, stdout, stderr }: CliResult, expected: number, sentence: RegExp): void {
  expect({ code, stdout }).toEqual({ code: expected, stdout: "" });
  expect(stderr).toMatch(/^thinkery: [^\n]+\n$/);
  expect(stderr).toMatch(sentence);
}

test("every command with --json prints exactly one JSON value and nothing else", async () => {
  expect(await runJson("status")).toMatchObject({ running: true, url: house.url, pid: house.daemon.pid });
  expect(await runJson("new", "ann", "--system", "Be brief.")).toMatchObject({
    name: "ann",
    agency: "global",
    system: "Be brief.",
  });
  expect(await runJson("ls")).toMatchObject({ agents: [{ name: "ann" }] });
  expect(await runJson("info", "ann")).toMatchObject({ name: "ann" });
  expect(await runJson("info", "@global")).toMatchObject({ id: "global", agents: ["ann"] });
  expect(await runJson("rm", "ann", "--yes")).toEqual({ deleted: "ann", agency: "global" });
  expect(await runJson("agency", "new", "review:pr-1", "--name", "One")).toMatchObject({
    id: "review:pr-1",
    name: "One",
  });
  expect((await runJson("agency", "ls")).agencies.map(({ id }: { id: string }) => id)).toEqual([
    "global",
    "review:pr-1",
  ]);
  expect((await runJson("blueprint", "ls", "@review:pr-1")).blueprints).toMatchObject([{ name: "think" }]);
  expect(await runJson("agency", "rm", "review:pr-1", "--yes")).toEqual({ deleted: "review:pr-1" });
  const { id, token } = await runJson("token", "new", "ci", "--expires", "1h");
  expect(token).toMatch(/\S{32,}/);
  expect(JSON.stringify(await runJson("token", "ls"))).not.toContain(token);
  expect(await runJson("token", "rm", id)).toEqual({ revoked: id });
  expect((await runJson("open", "--print")).login).toContain(`${house.url}/#code=`);
  expect((await runJson("logs", "-n", "5")).lines.length).toBeGreaterThan(0);
  expect(await runJson("config", "show")).toMatchObject({ home: house.home, files: [] });
  expect((await runJson("config", "schema")).type).toBe("object");
  expect((await runJson("completion", "bash")).script).toContain("thinkery");
});

test("the doctor answers with one JSON value, whatever it finds", async () => {
  const { code, stdout, stderr } = await house.runCli(["doctor", "--json"]);
  const { ok, checks } = JSON.parse(stdout);
  expect({ code, stderr }).toEqual({ code: ok ? 0 : 1, stderr: "" });
  expect(checks.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(["Node", "workerd", "host"]));
});

test("what is not there, or is there already, is exit code 1", async () => {
  expect((await house.runCli(["new", "bob"])).code).toBe(0);
  expectRefused(await house.runCli(["new", "bob"]), 1, /bob/);
  expectRefused(await house.runCli(["rm", "nobody", "--yes"]), 1, /nobody/);
  expectRefused(await house.runCli(["info", "nobody"]), 1, /nobody/);
  expectRefused(await house.runCli(["info", "@nowhere"]), 1, /nowhere/);
  expectRefused(await house.runCli(["ls", "@nowhere"]), 1, /nowhere/);
});

test("a failure with --json is one JSON value too", async () => {
  const { code, stdout } = await house.runCli(["info", "nobody", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "not_found", message: expect.stringContaining("nobody") },
  });
});

test("a name that cannot be one is exit code 2, and nothing is created", async () => {
  const before = await runJson("ls");
  // The last begins with a Cyrillic letter.
  const names = [
    "a/b",
    "..",
    ".",
    "think",
    "Think",
    "sub",
    "user",
    "agency",
    "a b",
    "",
    "-",
    "x".repeat(65),
    "a\nb",
    "\u0430lice",
  ];
  const ran = await Promise.all(names.map((name) => house.runCli(["new", "--", name])));
  for (const [index, { code, stdout, stderr }] of ran.entries()) {
    expect([names[index], code, stdout]).toEqual([names[index], 2, ""]);
    expect(stderr).toMatch(/^thinkery: /);
  }
  expect((await house.runCli(["agency", "new", "a/b"])).code).toBe(2);
  expect(await runJson("ls")).toEqual(before);
});

test("a misspelt command or option is exit code 2 with a suggestion", async () => {
  expectRefused(await house.runCli(["stauts"]), 2, /Did you mean .*\bstatus\b.*\?/);
  expectRefused(await house.runCli(["ls", "--jsn"]), 2, /Did you mean --json\?/);
  expectRefused(await house.runCli(["new", "carl", "--backend", "magic"]), 2, /magic/);
  expectRefused(await house.runCli(["new", "carl", "-m", "no-provider"]), 2, /provider:model/);
});

test("rm asks only a person: in a script it deletes", async () => {
  await house.runCli(["new", "dora"]);
  expect(await house.runCli(["rm", "dora"])).toEqual({ code: 0, stdout: "Deleted dora in global.\n", stderr: "" });
  expect((await house.runCli(["info", "dora"])).code).toBe(1);
});

test("a token the host does not know, or that may only read, is exit code 3", async () => {
  const there = { THINKERY_URL: house.url };
  expectRefused(await house.runCli(["ls"], { env: { ...there, THINKERY_TOKEN: "wrong".repeat(8) } }), 3, /token/i);
  expectRefused(await house.runCli(["ls"], { env: { THINKERY_TOKEN: "wrong".repeat(8) } }), 3, /token/i);

  const reader = { ...there, THINKERY_TOKEN: (await runJson("token", "new", "reader")).token };
  expect((await house.runCli(["ls"], { env: reader })).code).toBe(0);
  expectRefused(await house.runCli(["new", "eve"], { env: reader }), 3, /admin|may not|scope/i);
  expect((await house.runCli(["info", "eve"])).code).toBe(1);
});

test("an answer that never comes is exit code 3, with a sentence", async () => {
  // What Node's own fetch does when the host is killed in the wrong moment.
  const NODE_OPTIONS = "--import=data:text/javascript,globalThis.fetch=()=>new(Promise)(()=>{})";
  expectRefused(await house.runCli(["ls"], { env: { NODE_OPTIONS } }), 3, /went away without an answer; try again/);
});

test("where no host runs, status is exit code 3 and starts none", async () => {
  const nowhere = `${house.home}-without-host`;
  const { code, stdout, stderr } = await runCli(["status"], nowhere);
  expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
  expect(stdout).toContain("not running");
  expect(existsSync(nowhere)).toBe(false);
});
