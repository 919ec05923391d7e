import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applyPatch, format, patchPackageFile, readHeader } from "../../packages/runtime/patches/patch.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const patchFile = join(root, "packages/runtime/patches/just-bash+3.4.2.patch");
const packageFolder = join(root, "node_modules/just-bash");

describe("a patch", () => {
  const text = "a\nb\nc\nd\ne\nf\ng\n";
  const patch =
    "Package: x 1\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@ first\n a\n-b\n+B\n+BB\n c\n@@ -5,2 +6,1 @@ second\n e\n-f\n";

  test("is applied hunk by hunk", () => {
    expect(applyPatch(text, patch)).toBe("a\nB\nBB\nc\nd\ne\ng\n");
  });

  test.each([
    [
      "a removed line that differs",
      text.replace("b", "x"),
      'Hunk "first" does not apply: line 2 should be "b", but is "x"',
    ],
    [
      "a context line that differs",
      text.replace("e", "x"),
      'Hunk "second" does not apply: line 5 should be "e", but is "x"',
    ],
    ["lines that moved", `\n${text}`, 'Hunk "first" does not apply: line 1 should be "a", but is ""'],
    [
      "a file that is too short",
      "a\nb\nc",
      'Hunk "second" does not apply: line 5 should be "e", but is the end of the file',
    ],
  ])("fails with the hunk's name for %s", (_, changed, message) => {
    expect(() => applyPatch(changed, patch)).toThrow(message);
  });

  test.each([
    ["a hunk without a name", patch.replace(" first", ""), "Every hunk needs a name of its own: @@ -1,3 +1,4 @@"],
    ["two hunks with the same name", patch.replace("second", "first"), "Every hunk needs a name of its own"],
    [
      "a hunk with a missing line",
      patch.replace("+BB\n", ""),
      'Hunk "first" does not apply: it has more or fewer lines',
    ],
    ["a line outside of any hunk", `${patch}\\ No newline`, 'Hunk "second" has a line that is no part of it'],
    ["overlapping hunks", patch.replace("-5,2", "-3,2"), 'Hunk "second" does not apply: it starts at line 3, inside'],
    ["no hunks", "Package: x 1\n", "The patch has no hunks."],
  ])("is rejected with %s", (_, broken, message) => {
    expect(() => applyPatch(text, broken)).toThrow(message);
  });

  test("has a header that names its target", () => {
    const header = "Package: x 1\nFile: a/b.js\nSHA-256: 0f\nFormatter: esbuild 1\n\nText: not this far\n--- a/x\n";
    expect(readHeader(header)).toMatchObject({ package: "x 1", file: "a/b.js", sha256: "0f", formatter: "esbuild 1" });
    expect(() => readHeader(header.replace("SHA-256", "SHA"))).toThrow('The patch has no field "sha256".');
  });
});

describe("the patch of just-bash", () => {
  let patch: string;
  let formatted: string;
  let folder: string;

  beforeAll(async () => {
    patch = await readFile(patchFile, "utf8");
    formatted = await format(await readFile(join(packageFolder, readHeader(patch).file), "utf8"));
    folder = await mkdtemp(join(tmpdir(), "patch-"));
  });

  afterAll(() => rm(folder, { recursive: true }));

  /** Copies the installed package with one change. */
  async function install(change: { version?: string; append?: string }): Promise<string> {
    const copy = await mkdtemp(join(folder, "package-"));
    const { file } = readHeader(patch);
    const manifest = JSON.parse(await readFile(join(packageFolder, "package.json"), "utf8"));
    await mkdir(join(copy, file, ".."), { recursive: true });
    await writeFile(
      join(copy, "package.json"),
      JSON.stringify({ ...manifest, version: change.version ?? manifest.version }),
    );
    await writeFile(join(copy, file), (await readFile(join(packageFolder, file), "utf8")) + (change.append ?? ""));
    return copy;
  }

  test("applies to the installed package", async () => {
    expect(await patchPackageFile(await install({}), patchFile)).toBe(applyPatch(formatted, patch));
  });

  test("is rejected for another version, file or formatter", async () => {
    await expect(patchPackageFile(await install({ version: "3.5.0" }), patchFile)).rejects.toThrow(
      /is for package "just-bash 3\.4\.2", found "just-bash 3\.5\.0"\. See docs/,
    );
    await expect(patchPackageFile(await install({ append: "\n" }), patchFile)).rejects.toThrow(
      /is for sha256 "6390563a/,
    );
    const other = join(folder, "other.patch");
    await writeFile(other, patch.replace(/^Formatter: .*$/m, "Formatter: esbuild 0.1.0"));
    await expect(patchPackageFile(packageFolder, other)).rejects.toThrow(
      'is for formatter "esbuild 0.1.0", found "esbuild ',
    );
  });

  test("each hunk fails if its text has changed", () => {
    const lines = formatted.split("\n");
    const hunks = [...patch.matchAll(/^@@ -(\d+),(\d+) .* @@ (.*)$/gm)];
    expect(hunks).toHaveLength(6);
    for (const [, start, count, name] of hunks) {
      for (let at = Number(start); at < Number(start) + Number(count); at++) {
        const changed = lines.with(at - 1, `${lines[at - 1]} `).join("\n");
        expect(() => applyPatch(changed, patch)).toThrow(`Hunk "${name}" does not apply: line ${at} `);
      }
    }
  });
});
