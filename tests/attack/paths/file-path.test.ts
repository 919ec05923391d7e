import { parseFilePath, parseFolderPath, foldPathCase, isThinkeryError, pathLimits } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { createRandom } from "../../kit/random.ts";
import { pathCases, caseCollisions } from "./cases.ts";

/** Returns the resolved path, or undefined if it is rejected as a bad request. Rethrows other errors. */
function resolvePath(path: string, parse: (text: string) => string | undefined = parseFilePath): string | undefined {
  try {
    return parse(path);
  } catch (error) {
    if (!isThinkeryError(error) || error.code !== "bad_request") throw error;
    // Shown to people and models: one line, short, without hidden characters.
    expect(error.message).toMatch(/^Invalid path “[^\p{Cc}\u202a-\u202e\u2066-\u2069]*”: .{1,150}\.$/su);
    expect(error.message.length).toBeLessThan(350);
    expect(error.message.isWellFormed()).toBe(true);
    return undefined;
  }
}

/** Checks what holds for every path in a workspace. */
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

test("there are at least 500 different hostile paths", () => {
  expect(pathCases.length).toBeGreaterThanOrEqual(500);
  expect(new Set(pathCases.map(({ path }) => path)).size).toBe(pathCases.length);
});

test.each(pathCases.map((pathCase) => [pathCase.kind, formatPath(pathCase.path), pathCase] as const))(
  "%s: %s",
  (_, __, { path, storedAs }) => {
    const resolved = resolvePath(path);
    expect(resolved).toBe(storedAs);
    if (resolved !== undefined) expectInside(resolved);
  },
);

test.each([
  ["/etc/passwd", "it is outside the workspace; use a relative path, or one that starts with /work/"],
  ["../x", "“..” is not a name"],
  ["a\\b", "use slashes, not backslashes"],
  ["nul.txt", "“nul.txt” is a device on some systems"],
])("%s is rejected with a reason", (path, reason) => {
  expect(() => parseFilePath(path)).toThrow(`Invalid path “${path}”: ${reason}.`);
});

test("a folder path is valid, or the whole workspace", () => {
  for (const root of ["", ".", "/", "./", "//", "/work", "/work/", "/work//", "/work/.", "/work/./", "././"])
    expect(parseFolderPath(root)).toBe(undefined);
  expect(parseFolderPath("src/")).toBe("src");
  expect(parseFolderPath("/work/src///")).toBe("src");
  for (const { path } of pathCases) {
    const resolved = resolvePath(path, parseFolderPath);
    if (resolved !== undefined) expectInside(resolved);
  }
  expect(resolvePath(`${"/".repeat(1_000_000)}x`, parseFolderPath)).toBe(undefined);
});

test("random combinations of hostile parts stay inside the workspace", () => {
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
  let resolvedCount = 0;
  for (let round = 0; round < 5_000; round += 1) {
    const path = Array.from({ length: 1 + chance.below(6) }, () => chance.pick(pieces)).join(chance.pick(["", "/"]));
    const resolved = resolvePath(path);
    if (resolved === undefined) continue;
    resolvedCount += 1;
    expectInside(resolved);
  }
  expect(resolvedCount).toBeGreaterThan(100);
});

test.each(caseCollisions.map((names) => [names]))("%j are equal when case is ignored", (names) => {
  expect(new Set(names.map((name) => foldPathCase(parseFilePath(name)))).size).toBe(1);
  expect(new Set(names.map((name) => foldPathCase(`${name}/x`)))).toEqual(
    new Set([`${foldPathCase(names[0] as string)}/X`]),
  );
});

test("different names stay different when case is ignored", () => {
  const names = ["a", "á", "b", "a b", "ab", "文", "文件", "😀", "😁", "ö", "o"];
  expect(new Set(names.map(foldPathCase)).size).toBe(names.length);
});

function formatPath(path: string): string {
  return JSON.stringify(path.length > 60 ? `${path.slice(0, 60)}… (${path.length})` : path).replaceAll("%", "%%");
}
