import { basename, matchesGlob } from "node:path";
import { expect, test } from "vitest";
import { random } from "../../../../../tests/kit/random.ts";
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
])("%s", (pattern, those, others) => {
  for (const path of those) expect([path, matches(pattern, path)]).toEqual([path, true]);
  for (const path of others) expect([path, matches(pattern, path)]).toEqual([path, false]);
});

test("it says what another program says", () => {
  const chance = random("globs");
  const pieces = ["a", "b", "*", "?", "**", "/", "/", ".", "[ab]", "[!a]", "{a,b}", "{a,*b}"];
  for (let round = 0; round < 5_000; round += 1) {
    const pattern = Array.from({ length: 1 + chance.below(6) }, () => chance.pick(pieces)).join("");
    const path = Array.from({ length: 1 + chance.below(3) }, () => chance.text(1 + chance.below(3), "ab.")).join("/");
    // What these mean is a matter of taste: ours is in the table above. Names that begin with a dot are special there.
    if (/^\/|\/\/|\/$|^\.\/|(^|\/)\.{1,2}(\/|$)|\*\*[^/]|[^/]\*\*/.test(pattern) || /(^|\/)\./.test(path)) continue;
    const theirs = matchesGlob(pattern.includes("/") ? path : basename(path), pattern);
    expect([pattern, path, matches(pattern, path)]).toEqual([pattern, path, theirs]);
  }
});

test("no pattern takes long: it ends, or it is refused", () => {
  const names = Array.from({ length: 2_000 }, (_, index) => `${"a".repeat(200)}/${"ab".repeat(100)}${index}`);
  const tried = (pattern: string) => {
    try {
      const glob = new Glob(pattern);
      return names.filter((name) => glob.matches(name)).length;
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(tried(`${"*a".repeat(50)}x`)).toBe(0);
  expect(tried(`**/${"*b".repeat(90)}x`)).toBe(0);
  expect(tried(`*${"a".repeat(100)}x`)).toMatch(/takes too long/);
  expect(tried(`**/{${Array.from({ length: 30 }, (_, index) => `*${"ab".repeat(10)}${index}x`).join(",")}}`)).toMatch(/takes too long/);
  expect(tried(`${"**/".repeat(300)}x`)).toBe(0);
  expect(tried("{a,b}".repeat(10))).toMatch(/64 alternatives/);
  expect(tried("{".repeat(900))).toBe(0);
  expect(tried("a".repeat(2_000))).toMatch(/1000 characters/);
});
