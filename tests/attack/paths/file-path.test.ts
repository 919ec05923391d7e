import { parseFilePath, parseFolderPath, foldPathCase, isThinkeryError, pathLimits } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { createRandom } from "../../kit/random.ts";
import { pathCases, twins } from "./cases.ts";

/** Where a path leads, or that it is refused. Whatever else is thrown is a mistake of ours. */
function resolvePath(path: string, of: (text: string) => string | undefined = parseFilePath): string | undefined {
  try {
    return of(path);
  } catch (error) {
    if (!isThinkeryError(error) || error.code !== "bad_request") throw error;
    // It is shown to people and models: on one line, not longer than it has to be, without what was hidden in it.
    expect(error.message).toMatch(
      /^“[^\p{Cc}\u202a-\u202e\u2066-\u2069]*” cannot be a path in the workspace: .{1,150}\.$/su,
    );
    expect(error.message.length).toBeLessThan(350);
    expect(error.message.isWellFormed()).toBe(true);
    return undefined;
  }
}

/** What every path in a workspace is, whoever asked for it. */
function expectInside(path: string): void {
  expect(path.split("/").every((name) => name !== "" && name !== "." && name !== "..")).toBe(true);
  expect(path).not.toMatch(/^[/~]$|^\/|[\\\0:]/);
  expect(path).toBe(path.normalize("NFC"));
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(pathLimits.bytes);
  expect(parseFilePath(path)).toBe(path);
  expect(parseFilePath(`/work/${path}`)).toBe(path);
  expect(new URL(path.split("/").map(encodeURIComponent).join("/"), "http://x/y/").pathname.startsWith("/y/")).toBe(
    true,
  );
}

test("there are many hostile paths, each another", () => {
  expect(pathCases.length).toBeGreaterThanOrEqual(500);
  expect(new Set(pathCases.map(({ path }) => path)).size).toBe(pathCases.length);
});

test.each(pathCases.map((one) => [one.why, formatPath(one.path), one] as const))("%s: %s", (_, __, { path, lands }) => {
  const landed = resolvePath(path);
  expect(landed).toBe(lands);
  if (landed !== undefined) expectInside(landed);
});

test.each([
  ["/etc/passwd", "it is outside; paths are relative to the workspace, or begin with /work/"],
  ["../x", "“..” is not a name"],
  ["a\\b", "write it with slashes, not backslashes"],
  ["nul.txt", "“nul.txt” is a device on some machines"],
])("%s is refused with a reason", (path, reason) => {
  expect(() => parseFilePath(path)).toThrow(`“${path}” cannot be a path in the workspace: ${reason}.`);
});

test("a folder is a path too, or the whole workspace, and never anything else", () => {
  for (const whole of ["", ".", "/", "./", "//", "/work", "/work/", "/work//", "/work/.", "/work/./", "././"])
    expect(parseFolderPath(whole)).toBe(undefined);
  expect(parseFolderPath("src/")).toBe("src");
  expect(parseFolderPath("/work/src///")).toBe("src");
  for (const { path } of pathCases) {
    const landed = resolvePath(path, parseFolderPath);
    if (landed !== undefined) expectInside(landed);
  }
  expect(resolvePath(`${"/".repeat(1_000_000)}x`, parseFolderPath)).toBe(undefined);
});

test("pieces of hostile paths in any order lead nowhere else", () => {
  const chance = createRandom("paths");
  const pieces = [
    "..",
    ".",
    "/",
    "\\",
    "/work",
    "a",
    "~",
    ":",
    "%2e",
    "%2f",
    " ",
    "\0",
    "é",
    "e\u0301",
    "\u200d",
    "\u202e",
    "con",
    "😀",
    "\ud83d",
    "／",
    "\ufeff",
    "A",
    "work",
    "//",
    "./",
  ];
  let landings = 0;
  for (let round = 0; round < 5_000; round += 1) {
    const path = Array.from({ length: 1 + chance.below(6) }, () => chance.pick(pieces)).join(chance.pick(["", "/"]));
    const landed = resolvePath(path);
    if (landed === undefined) continue;
    landings += 1;
    expectInside(landed);
  }
  expect(landings).toBeGreaterThan(100);
});

test.each(twins.map((names) => [names]))("%j are one where case does not count", (names) => {
  expect(new Set(names.map((name) => foldPathCase(parseFilePath(name)))).size).toBe(1);
  expect(new Set(names.map((name) => foldPathCase(`${name}/x`)))).toEqual(
    new Set([`${foldPathCase(names[0] as string)}/X`]),
  );
});

test("names that are not twins are not taken for some", () => {
  const names = ["a", "á", "b", "a b", "ab", "文", "文件", "😀", "😁", "ö", "o"];
  expect(new Set(names.map(foldPathCase)).size).toBe(names.length);
});

function formatPath(path: string): string {
  return JSON.stringify(path.length > 60 ? `${path.slice(0, 60)}… (${path.length})` : path).replaceAll("%", "%%");
}
