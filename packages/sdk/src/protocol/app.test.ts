import { expect, test } from "vitest";
import { maxAppBytes, newAppSchema } from "./app.ts";

const findIssue = (modules: Record<string, string>, code = "x") =>
  newAppSchema.safeParse({ code, modules }).error?.issues[0];

test.each(["a", "util.ts", "lib/format.js", "a/b/c/d.json", "_private.ts", "a-b_c.d.ts", "2.ts"])(
  "%s is a valid module name",
  (name) => {
    expect(findIssue({ [name]: "" })).toBeUndefined();
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
])("%j is not a valid module name", (name) => {
  expect(findIssue({ [name]: "" })).toBeDefined();
});

test("an app has at most 100 modules and one mebibyte, counted in bytes and not in characters", () => {
  const createModules = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}.ts`, ""]));
  expect(findIssue(createModules(99))).toBeUndefined();
  expect(findIssue(createModules(100))?.message).toBe("more than 100 modules, including the main one");
  expect(findIssue({}, "x".repeat(maxAppBytes))).toBeUndefined();
  expect(findIssue({ "a.ts": "x" }, "x".repeat(maxAppBytes - 4))?.message).toBe("larger than 1048576 bytes in total");
  expect(findIssue({}, "ä".repeat(maxAppBytes / 2 + 1))?.message).toContain("larger than");
});

test("everything else is rejected", () => {
  for (const input of [
    {},
    { code: "" },
    { code: 1 },
    { code: "x", modules: [] },
    { code: "x", modules: { "a.ts": 1 } },
    { code: "x", main: "y" },
  ]) {
    expect([input, newAppSchema.safeParse(input).success]).toEqual([input, false]);
  }
});
