import { expect, test } from "vitest";
import { maxAppBytes, newAppSchema } from "./app.ts";

const problem = (modules: Record<string, string>, code = "x") =>
  newAppSchema.safeParse({ code, modules }).error?.issues[0];

test.each(["a", "util.ts", "lib/format.js", "a/b/c/d.json", "_private.ts", "a-b_c.d.ts", "2.ts"])(
  "a module may be called %s",
  (name) => {
    expect(problem({ [name]: "" })).toBeUndefined();
  },
);

test.each([
  "",
  ".",
  "..",
  "./a.ts",
  "../a.ts",
  "a/../b.ts",
  "/a.ts",
  "a//b.ts",
  "a/",
  "a/.hidden",
  "node:fs",
  "cloudflare:workers",
  "https://a.example/x.js",
  "a b.ts",
  "a\\b.ts",
  "a?b",
  "a#b",
  "%2e%2e",
  "a/__proto__",
  "__main.js",
  "ä.ts",
  "a\nb",
  "main.ts",
  "code",
  "thinkery/x.ts",
  "x".repeat(201),
])("a module may not be called %j", (name) => {
  expect(problem({ [name]: "" })).toBeDefined();
});

test("an app has a hundred modules and a mebibyte at most, in bytes and not in characters", () => {
  const named = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}.ts`, ""]));
  expect(problem(named(99))).toBeUndefined();
  expect(problem(named(100))?.message).toBe("an app may have 100 modules, the main one included");
  expect(problem({}, "x".repeat(maxAppBytes))).toBeUndefined();
  expect(problem({ "a.ts": "x" }, "x".repeat(maxAppBytes - 4))?.message).toBe("larger than 1048576 bytes in all");
  expect(problem({}, "ä".repeat(maxAppBytes / 2 + 1))?.message).toContain("larger than");
});

test("nothing else is taken for an app", () => {
  for (const given of [
    {},
    { code: "" },
    { code: 1 },
    { code: "x", modules: [] },
    { code: "x", modules: { "a.ts": 1 } },
    { code: "x", main: "y" },
  ]) {
    expect([given, newAppSchema.safeParse(given).success]).toEqual([given, false]);
  }
});
