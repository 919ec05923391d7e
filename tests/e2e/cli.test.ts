import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess, type CliResult, runCli } from "../kit/host-process.ts";

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess();
});

afterAll(() => host?.stop());

async function runJson(...args: string[]) {
  const { code, stdout, stderr } = await host.runCli([...args, "--json"]);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** Expects this exit code, one line on stderr, and nothing on stdout for the next program in a pipe. */
function expectError({ code, stdout, stderr }: CliResult, expectedCode: number, message: RegExp): void {
  expect({ code, stdout }).toEqual({ code: expectedCode, stdout: "" });
  expect(stderr).toMatch(/^thinkery: [^\n]+\n$/);
  expect(stderr).toMatch(message);
}

test("every command with --json prints exactly one JSON value and nothing else", async () => {
  expect(await runJson("status")).toMatchObject({ running: true, url: host.url, pid: host.daemon.pid });
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
  expect((await runJson("open", "--print")).login).toContain(`${host.url}/#code=`);
  expect((await runJson("logs", "-n", "5")).lines.length).toBeGreaterThan(0);
  expect(await runJson("config", "show")).toMatchObject({ home: host.home, files: [] });
  expect((await runJson("config", "schema")).type).toBe("object");
  expect((await runJson("completion", "bash")).script).toContain("thinkery");
});

test("doctor --json prints one JSON value, whatever it finds", async () => {
  const { code, stdout, stderr } = await host.runCli(["doctor", "--json"]);
  const { ok, checks } = JSON.parse(stdout);
  expect({ code, stderr }).toEqual({ code: ok ? 0 : 1, stderr: "" });
  expect(checks.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(["Node", "workerd", "host"]));
});

test("missing agents and duplicate names exit with code 1", async () => {
  expect((await host.runCli(["new", "bob"])).code).toBe(0);
  expectError(await host.runCli(["new", "bob"]), 1, /bob/);
  expectError(await host.runCli(["rm", "nobody", "--yes"]), 1, /nobody/);
  expectError(await host.runCli(["info", "nobody"]), 1, /nobody/);
  expectError(await host.runCli(["info", "@nowhere"]), 1, /nowhere/);
  expectError(await host.runCli(["ls", "@nowhere"]), 1, /nowhere/);
});

test("a failure with --json prints one JSON value too", async () => {
  const { code, stdout } = await host.runCli(["info", "nobody", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "not_found", message: expect.stringContaining("nobody") },
  });
});

test("an invalid name exits with code 2 and creates nothing", async () => {
  const before = await runJson("ls");
  // The last one starts with a Cyrillic letter.
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
  const results = await Promise.all(names.map((name) => host.runCli(["new", "--", name])));
  for (const [index, { code, stdout, stderr }] of results.entries()) {
    expect([names[index], code, stdout]).toEqual([names[index], 2, ""]);
    expect(stderr).toMatch(/^thinkery: /);
  }
  expect((await host.runCli(["agency", "new", "a/b"])).code).toBe(2);
  expect(await runJson("ls")).toEqual(before);
});

test("a misspelled command or option exits with code 2 and a suggestion", async () => {
  expectError(await host.runCli(["stauts"]), 2, /Did you mean .*\bstatus\b.*\?/);
  expectError(await host.runCli(["ls", "--jsn"]), 2, /Did you mean --json\?/);
  expectError(await host.runCli(["new", "carl", "--backend", "magic"]), 2, /magic/);
  expectError(await host.runCli(["new", "carl", "-m", "no-provider"]), 2, /provider:model/);
});

test("without a terminal to ask at, destructive commands refuse, whatever stdin says", async () => {
  await host.runCli(["new", "dora"]);
  await host.runCli(["agency", "new", "doomed"]);
  for (const args of [
    ["rm", "dora"],
    ["clear", "dora"],
    ["agency", "rm", "doomed"],
  ]) {
    expectError(await host.runCli(args, { input: "y\n" }), 2, /Pass --yes to confirm/);
  }
  expect((await host.runCli(["info", "@doomed"])).code).toBe(0);
  const deleted = { code: 0, stdout: "Deleted dora in global.\n", stderr: "" };
  expect(await host.runCli(["rm", "dora", "--yes"])).toEqual(deleted);
  expect((await host.runCli(["info", "dora"])).code).toBe(1);
});

test("an unknown token, and a read-only one used to write, exit with code 3", async () => {
  const remote = { THINKERY_URL: host.url };
  expectError(await host.runCli(["ls"], { env: { ...remote, THINKERY_TOKEN: "wrong".repeat(8) } }), 3, /token/i);
  expectError(await host.runCli(["ls"], { env: { THINKERY_TOKEN: "wrong".repeat(8) } }), 3, /token/i);

  const reader = { ...remote, THINKERY_TOKEN: (await runJson("token", "new", "reader")).token };
  expect((await host.runCli(["ls"], { env: reader })).code).toBe(0);
  expectError(await host.runCli(["new", "eve"], { env: reader }), 3, /admin|may not|scope/i);
  expect((await host.runCli(["info", "eve"])).code).toBe(1);
});

test("a response that never arrives exits with code 3 and an error message", async () => {
  // Node's own fetch does this when the host is killed at the wrong moment.
  const NODE_OPTIONS = "--import=data:text/javascript,globalThis.fetch=()=>new(Promise)(()=>{})";
  expectError(await host.runCli(["ls"], { env: { NODE_OPTIONS } }), 3, /stopped without responding\. Try again/);
});

test("without a running host, status exits with code 3 and starts none", async () => {
  const missingHome = `${host.home}-without-host`;
  const { code, stdout, stderr } = await runCli(["status"], missingHome);
  expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
  expect(stdout).toContain("not running");
  expect(existsSync(missingHome)).toBe(false);
});
