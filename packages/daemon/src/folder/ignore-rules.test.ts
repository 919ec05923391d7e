import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRandom } from "../../../../tests/kit/random.ts";
import { createTempFolder } from "../host/fixture.ts";
import { IgnoreRules } from "./ignore-rules.ts";

/** Evaluates like a scan: everything in an ignored folder is ignored. */
function isIgnored(rules: IgnoreRules, path: string): boolean {
  const names = path.split("/");
  return names.some(
    (_, index) => rules.evaluate(names.slice(0, index + 1).join("/"), index < names.length - 1) === true,
  );
}

test.each([
  ["*.log", ["a.log", "x/y.log", ".log"], ["a.logs", "log"]],
  ["/build", ["build", "build/x"], ["x/build"]],
  ["build/", ["build/x", "x/build/y"], ["build", "x/build"]],
  ["doc/*.txt", ["doc/a.txt"], ["doc/x/a.txt", "x/doc/a.txt", "a.txt"]],
  ["**/tmp", ["tmp", "a/tmp", "a/b/tmp/c"], ["tmpx"]],
  ["a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]],
  ["a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["z", "a/zz"]],
  ["*.log\n!keep.log", ["a.log"], ["keep.log", "x/keep.log"]],
  ["# all\n\n\\#x\n\\!y", ["#x", "!y"], ["# all", "x", "y"]],
  ["a \nb\\ ", ["a", "b "], ["a ", "b"]],
  ["[a-c]?[!x]", ["ab1", "czy"], ["abx", "dab", "ab"]],
  ["[[:digit:]].txt", ["1.txt"], ["a.txt"]],
  ["[abc", [], ["a", "[abc"]],
  ["\r\na.txt\r\n", ["a.txt"], ["b.txt"]],
])("%j ignores %j and not %j", (text, ignored, others) => {
  const rules = new IgnoreRules(text);
  expect(ignored.filter((path) => !isIgnored(rules, path))).toEqual([]);
  expect(others.filter((path) => isIgnored(rules, path))).toEqual([]);
});

test("a malicious pattern does not take long", () => {
  const rules = new IgnoreRules(`${"*a".repeat(60)}b\n${"**/a/".repeat(60)}b\n${"[!b]*".repeat(60)}b`);
  const name = "a".repeat(255);
  const cpu = process.cpuUsage();
  for (let index = 0; index < 20; index++) expect(isIgnored(rules, Array(4).fill(name).join("/"))).toBe(false);
  // With regular expressions it would take years.
  expect(process.cpuUsage(cpu).user).toBeLessThan(5_000_000);
});

const hasGit = spawnSync("git", ["--version"]).status === 0;

test.skipIf(!hasGit)("random rules match the same paths as git", () => {
  const random = createRandom("ignore rules");
  const word = () => random.text(1 + random.below(3), "ab.");
  const kinds = [
    word,
    word,
    () => "*",
    () => "**",
    () => `${word()}*`,
    () => `*${word()}`,
    () => "?",
    () => "[ab]",
    () => "[!a]",
    () => "[a-b]b",
    () => `${word()}*${word()}`,
    () => "\\a",
    () => "a**b",
    () => "[[:alpha:]]*",
    () => "[]a.]",
    () => "[^.]?",
    () => "[\\a-b]*",
  ];
  const pattern = () =>
    [
      random.chance(0.2) ? "!" : "",
      random.chance(0.2) ? "/" : "",
      Array.from({ length: 1 + random.below(3) }, () => random.pick(kinds)()).join("/"),
      random.chance(0.2) ? "/" : "",
      random.chance(0.1) ? "  " : "",
    ].join("");
  const path = () => Array.from({ length: 1 + random.below(3) }, () => word().replace(/^\.+$/, "a")).join("/");
  const folder = createTempFolder();
  execFileSync("git", ["init", "-q", folder]);
  for (let round = 0; round < 40; round++) {
    const text = Array.from({ length: 1 + random.below(3) }, pattern).join("\n");
    const paths = [...new Set(Array.from({ length: 60 }, path))];
    writeFileSync(join(folder, ".gitignore"), text);
    const { stdout } = spawnSync("git", ["-C", folder, "check-ignore", "--no-index", "--stdin"], {
      input: paths.join("\n"),
    });
    const rules = new IgnoreRules(text);
    expect({ text, ignored: paths.filter((path) => isIgnored(rules, path)) }).toEqual({
      text,
      ignored: stdout.toString().split("\n").filter(Boolean),
    });
  }
});
