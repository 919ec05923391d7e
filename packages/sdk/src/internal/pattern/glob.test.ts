import { basename, matchesGlob } from "node:path";
import { expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { Glob } from "./glob.ts";

const matches = (pattern: string, path: string) => new Glob(pattern).matches(path);

test.each([
  ["*.ts", ["a.ts", "src/deep/a.ts", ".ts"], ["a.tsx", "ts"]],
  ["src/*.ts", ["src/a.ts"], ["a.ts", "src/b/a.ts", "lib/src/a.ts"]],
  ["**/*.ts", ["a.ts", "src/a.ts", "src/b/c/a.ts"], ["a.js"]],
  ["src/**", ["src/a", "src/b/c"], ["src2/a"]],
  ["src/**/test/*.ts", ["src/test/a.ts", "src/a/b/test/c.ts"], ["src/test/a/b.ts", "test/a.ts"]],
  ["**/a/**/b", ["a/b", "x/a/y/b", "a/a/b/b"], ["a/c", "b/a"]],
  ["src/", ["src/a", "src/b/c"], ["src"]],
  ["/work/src/a.ts", ["src/a.ts"], ["a.ts"]],
  ["./a/b", ["a/b"], ["c/a/b"]],
  ["a?c", ["abc", "a😀c", "x/aéc"], ["ac", "abbc"]],
  ["*.{ts,tsx}", ["a.ts", "b/c.tsx"], ["a.js", "a.{ts,tsx}x"]],
  ["{src,lib}/**/*.{a,b{1,2}}", ["src/x.a", "lib/y/z.b2"], ["src/x.b", "bin/x.a"]],
  ["a{b}c", ["a{b}c"], ["abc"]],
  ["a{b", ["a{b"], ["ab"]],
  ["[abc].txt", ["a.txt", "c.txt", "[abc].txt"], ["d.txt", "ab.txt"]],
  ["[a-c0-9]x", ["bx", "7x"], ["dx", "-x"]],
  ["[!a]x", ["bx"], ["ax"]],
  ["[^a]x", ["bx"], ["ax"]],
  ["[]]x", ["]x"], ["x"]],
  ["a[b", ["a[b"], ["ab"]],
  ["app/[id]/page.tsx", ["app/[id]/page.tsx", "app/i/page.tsx"], ["app/x/page.tsx"]],
  ["\\*x", ["*x"], ["ax"]],
  ["*", ["a", "b/c", ".env"], []],
  ["**", ["a", "b/c"], []],
  ["cafe\u0301.md", ["caf\u00e9.md"], []],
  ["A.ts", ["A.ts"], ["a.ts"]],
])("%s", (pattern, matching, others) => {
  for (const path of matching) expect([path, matches(pattern, path)]).toEqual([path, true]);
  for (const path of others) expect([path, matches(pattern, path)]).toEqual([path, false]);
});

test("globs match what Node's matchesGlob matches", () => {
  const random = createRandom("globs");
  const pieces = ["a", "b", "*", "?", "**", "/", "/", ".", "[ab]", "[!a]", "{a,b}", "{a,*b}"];
  for (let round = 0; round < 5_000; round += 1) {
    const pattern = Array.from({ length: 1 + random.below(6) }, () => random.pick(pieces)).join("");
    const path = Array.from({ length: 1 + random.below(3) }, () => random.text(1 + random.below(3), "ab.")).join("/");
    // Implementations differ on these; the table above defines ours. Node treats names with a leading dot specially.
    if (/^\/|\/\/|\/$|^\.\/|(^|\/)\.{1,2}(\/|$)|\*\*[^/]|[^/]\*\*/.test(pattern) || /(^|\/)\./.test(path)) continue;
    const expected = matchesGlob(pattern.includes("/") ? path : basename(path), pattern);
    expect([pattern, path, matches(pattern, path)]).toEqual([pattern, path, expected]);
  }
});

test("patterns of any shape match what a regular expression matches", () => {
  const random = createRandom("glob shapes");
  const pieces: [string, string][] = [
    ["a", "a"],
    ["b", "b"],
    ["😀", "😀"],
    ["*", "[^/]*"],
    ["?", "[^/]"],
    ["[ab]", "[ab]"],
    ["[!a]", "[^a/]"],
    ["{a,b}", "(?:a|b)"],
    ["{ab,*b}", "(?:ab|[^/]*b)"],
    ["{,a}b", "(?:|a)b"],
    ["{a,{b,a?}}", "(?:a|b|a[^/])"],
  ];
  const name = (): [string, string] => {
    if (random.chance(0.2)) return ["**", "(?:[^/]+/)*"];
    const some = Array.from({ length: 1 + random.below(5) }, () => random.pick(pieces));
    const text = some.map(([text]) => text).join("");
    return text === "**" ? ["*", "[^/]*/"] : [text, `${some.map(([, source]) => source).join("")}/`];
  };
  for (let round = 0; round < 5_000; round++) {
    const names = [name(), ...Array.from({ length: random.below(3) }, name)];
    const pattern = names.map(([text]) => text).join("/");
    // Braces multiply. More of them might exceed the maximum number of alternatives.
    if (pattern.split("{").length > 4) continue;
    const isUnder = names.at(-1)?.[0] === "**";
    const source =
      names
        .map(([, source]) => source)
        .join("")
        .replace(/\/$/, "") + (isUnder ? "[^/]+" : "");
    const expression = new RegExp(`^${pattern.includes("/") ? "" : "(?:[^/]+/)*"}${source}$`, "u");
    const glob = new Glob(pattern);
    for (let count = 0; count < 5; count++) {
      const letter = () => random.pick(["a", "b", "c", "😀"]);
      const letters = () => Array.from({ length: 1 + random.below(4) }, letter).join("");
      const path = Array.from({ length: 1 + random.below(4) }, letters).join("/");
      expect([pattern, path, glob.matches(path)]).toEqual([pattern, path, expression.test(path)]);
    }
  }
});

/** Returns how many names match, and the number of steps per character. */
function measure(pattern: string, names: readonly string[]): { count: number; stepsPerCharacter: number } {
  const glob = new Glob(pattern);
  const count = names.filter((name) => glob.matches(name)).length;
  return { count, stepsPerCharacter: glob.steps / names.join("").length };
}

test("alternatives and stars take about one step per character, however many there are", () => {
  const names = Array.from({ length: 2_000 }, (_, index) => `${"a".repeat(200)}/${"ab".repeat(100)}${index}`);
  const options = Array.from({ length: 64 }, (_, index) => `*${"ab".repeat(3)}${index}x`);
  for (const pattern of [
    `${"*a".repeat(50)}x`,
    `**/${"*b".repeat(90)}x`,
    `*${"a".repeat(100)}x`,
    `**/{${options.join(",")}}`,
    `${"{a,b}".repeat(6)}${"*ab?".repeat(200)}x`,
    `${"a".repeat(600)}{${options.map((_, index) => `*${index}`).join(",")}}`,
    `${"**/".repeat(300)}x`,
    "{".repeat(900),
  ]) {
    const { count, stepsPerCharacter } = measure(pattern, names);
    expect([pattern, count, stepsPerCharacter < 1.5]).toEqual([pattern, 0, true]);
  }
  expect(measure(`**/{${options.map((option) => option.slice(0, -1)).join(",")}}`, names).count).toBeGreaterThan(0);
});

test("a pattern that is too large or takes too many steps is rejected", () => {
  const getError = (pattern: string, names: readonly string[] = []) => {
    try {
      const glob = new Glob(pattern);
      for (const name of names) glob.matches(name);
    } catch (error) {
      return (error as Error).message;
    }
    return undefined;
  };
  expect(getError("{a,b}".repeat(6))).toBe(undefined);
  expect(getError("{a,b}".repeat(10))).toMatch(/64 alternatives/);
  expect(getError("a".repeat(2_000))).toMatch(/1000 characters/);
  // Which `a` is the one before the `?`s is known only at the end.
  const random = createRandom("names");
  const names = Array.from({ length: 300 }, () => Array.from({ length: 4 }, () => random.text(250, "ab")).join("/"));
  expect(getError(`*a${"?".repeat(240)}`, names)).toMatch(/takes too long/);
});
