import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type House, openHouse, type Ran, runCli } from "../kit/house.ts";

let house: House;

beforeAll(async () => {
  house = await openHouse();
});

afterAll(() => house?.stop());

async function json(...args: string[]) {
  const { code, stdout, stderr } = await house.run([...args, "--json"]);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** The command failed with this code and one sentence, and printed nothing for the next program in a pipe. */
function expectRefused({ code, stdout, stderr }: Ran, expected: number, sentence: RegExp): void {
  expect({ code, stdout }).toEqual({ code: expected, stdout: "" });
  expect(stderr).toMatch(/^thinkery: [^\n]+\n$/);
  expect(stderr).toMatch(sentence);
}

test("every command with --json prints exactly one JSON value and nothing else", async () => {
  expect(await json("status")).toMatchObject({ running: true, url: house.url, pid: house.daemon.pid });
  expect(await json("new", "ann", "--system", "Be brief.")).toMatchObject({ name: "ann", agency: "global", system: "Be brief." });
  expect(await json("ls")).toMatchObject({ agents: [{ name: "ann" }] });
  expect(await json("info", "ann")).toMatchObject({ name: "ann" });
  expect(await json("info", "@global")).toMatchObject({ id: "global", agents: ["ann"] });
  expect(await json("rm", "ann", "--yes")).toEqual({ deleted: "ann", agency: "global" });
  expect(await json("agency", "new", "review:pr-1", "--name", "One")).toMatchObject({ id: "review:pr-1", name: "One" });
  expect((await json("agency", "ls")).agencies.map(({ id }: { id: string }) => id)).toEqual(["global", "review:pr-1"]);
  expect((await json("blueprint", "ls", "@review:pr-1")).blueprints).toMatchObject([{ name: "think" }]);
  expect(await json("agency", "rm", "review:pr-1", "--yes")).toEqual({ deleted: "review:pr-1" });
  const { id, token } = await json("token", "new", "ci", "--expires", "1h");
  expect(token).toMatch(/\S{32,}/);
  expect(JSON.stringify(await json("token", "ls"))).not.toContain(token);
  expect(await json("token", "rm", id)).toEqual({ revoked: id });
  expect((await json("open", "--print")).login).toContain(`${house.url}/#code=`);
  expect((await json("logs", "-n", "5")).lines.length).toBeGreaterThan(0);
  expect(await json("config", "show")).toMatchObject({ home: house.home, files: [] });
  expect((await json("config", "schema")).type).toBe("object");
  expect((await json("completion", "bash")).script).toContain("thinkery");
});

test("the doctor answers with one JSON value, whatever it finds", async () => {
  const { code, stdout, stderr } = await house.run(["doctor", "--json"]);
  const { ok, checks } = JSON.parse(stdout);
  expect({ code, stderr }).toEqual({ code: ok ? 0 : 1, stderr: "" });
  expect(checks.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(["Node", "workerd", "host"]));
});

test("what is not there, or is there already, is exit code 1", async () => {
  expect((await house.run(["new", "bob"])).code).toBe(0);
  expectRefused(await house.run(["new", "bob"]), 1, /bob/);
  expectRefused(await house.run(["rm", "nobody", "--yes"]), 1, /nobody/);
  expectRefused(await house.run(["info", "nobody"]), 1, /nobody/);
  expectRefused(await house.run(["info", "@nowhere"]), 1, /nowhere/);
  expectRefused(await house.run(["ls", "@nowhere"]), 1, /nowhere/);
});

test("a failure with --json is one JSON value too", async () => {
  const { code, stdout } = await house.run(["info", "nobody", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "not_found", message: expect.stringContaining("nobody") } });
});

test("a name that cannot be one is exit code 2, and nothing is created", async () => {
  const before = await json("ls");
  // The last begins with a Cyrillic letter.
  const names = ["a/b", "..", ".", "think", "Think", "sub", "user", "agency", "a b", "", "-", "x".repeat(65), "a\nb", "\u0430lice"];
  const ran = await Promise.all(names.map((name) => house.run(["new", "--", name])));
  for (const [index, { code, stdout, stderr }] of ran.entries()) {
    expect([names[index], code, stdout]).toEqual([names[index], 2, ""]);
    expect(stderr).toMatch(/^thinkery: /);
  }
  expect((await house.run(["agency", "new", "a/b"])).code).toBe(2);
  expect(await json("ls")).toEqual(before);
});

test("a misspelt command or option is exit code 2 with a suggestion", async () => {
  expectRefused(await house.run(["stauts"]), 2, /Did you mean .*\bstatus\b.*\?/);
  expectRefused(await house.run(["ls", "--jsn"]), 2, /Did you mean --json\?/);
  expectRefused(await house.run(["new", "carl", "--backend", "magic"]), 2, /magic/);
  expectRefused(await house.run(["new", "carl", "-m", "no-provider"]), 2, /provider:model/);
});

test("rm asks only a person: in a script it deletes", async () => {
  await house.run(["new", "dora"]);
  expect(await house.run(["rm", "dora"])).toEqual({ code: 0, stdout: "Deleted dora in global.\n", stderr: "" });
  expect((await house.run(["info", "dora"])).code).toBe(1);
});

test("a token the host does not know, or that may only read, is exit code 3", async () => {
  const there = { THINKERY_URL: house.url };
  expectRefused(await house.run(["ls"], { env: { ...there, THINKERY_TOKEN: "wrong".repeat(8) } }), 3, /token/i);
  expectRefused(await house.run(["ls"], { env: { THINKERY_TOKEN: "wrong".repeat(8) } }), 3, /token/i);

  const reader = { ...there, THINKERY_TOKEN: (await json("token", "new", "reader")).token };
  expect((await house.run(["ls"], { env: reader })).code).toBe(0);
  expectRefused(await house.run(["new", "eve"], { env: reader }), 3, /admin|may not|scope/i);
  expect((await house.run(["info", "eve"])).code).toBe(1);
});

test("an answer that never comes is exit code 3, with a sentence", async () => {
  // What Node's own fetch does when the host is killed in the wrong moment.
  const NODE_OPTIONS = "--import=data:text/javascript,globalThis.fetch=()=>new(Promise)(()=>{})";
  expectRefused(await house.run(["ls"], { env: { NODE_OPTIONS } }), 3, /went away without an answer; try again/);
});

test("where no host runs, status is exit code 3 and starts none", async () => {
  const nowhere = `${house.home}-without-host`;
  const { code, stdout, stderr } = await runCli(["status"], nowhere);
  expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
  expect(stdout).toContain("not running");
  expect(existsSync(nowhere)).toBe(false);
});
