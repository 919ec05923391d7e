import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { createTempFolder } from "../host/fixture.ts";
import { type FileState, isFresh, isSameState } from "./file-state.ts";
import { readContent } from "./read.ts";
import { removeFolder } from "./remove.ts";
import { scanFolder } from "./scan.ts";
import { removeContent, writeContent } from "./write.ts";

const maxBytes = 1000;

/** Creates a folder with these files. */
function createFolder(files: Record<string, string>): string {
  const folder = createTempFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const createPipe = (path: string) => execFileSync("sh", ["-c", 'mkfifo -- "$0"', path]);

const listPaths = async (folder: string, known?: string[]) =>
  [...(await scanFolder(folder, known ? { known: new Set(known) } : {})).files.keys()].sort();

test("regular files are found, except those ignored by any .gitignore", async () => {
  const folder = createFolder({
    "a.txt": "a",
    "src/b.ts": "b",
    "src/deep/c.log": "c",
    "src/deep/keep.log": "k",
    ".git/config": "x",
    "src/node_modules/x/index.js": "x",
    "dist/out.js": "x",
    ".gitignore": "*.log\n/dist/\n",
    "src/deep/.gitignore": "!keep.log\n",
    ".env": "e",
  });
  const { files, folders, ignores } = await scanFolder(folder);
  expect([...files.keys()].sort()).toEqual([
    ".env",
    ".gitignore",
    "a.txt",
    "src/b.ts",
    "src/deep/.gitignore",
    "src/deep/keep.log",
  ]);
  expect(folders.sort()).toEqual(["", "src", "src/deep"]);
  expect(
    ["dist/y/z", "x.log", ".git/HEAD", "a/node_modules/b", "src/deep/keep.log", "src/z", "new/z.log"].map(ignores),
  ).toEqual([true, true, true, true, false, false, true]);
});

test("git's own folder is always ignored, however it is spelled", async () => {
  const folder = createFolder({ a: "a", ".GIT/hooks/x": "x" });
  const { files, ignores } = await scanFolder(folder);
  expect([...files.keys()]).toEqual(["a"]);
  expect(
    [".git/hooks/x", ".Git/config", "sub/.gIT/x", ".g\u200cit/x", "git~1/x", "NODE_MODULES/x"].filter(
      (path) => !ignores(path),
    ),
  ).toEqual([]);
  expect([".github/x", ".gitattributes", "git/x", ".git2/x"].filter(ignores)).toEqual([]);
});

test("known files are included even if they are ignored", async () => {
  const folder = createFolder({ ".gitignore": "dist\n", "dist/known/a": "a", "dist/known/b": "b", "dist/c": "c" });
  expect(await listPaths(folder)).toEqual([".gitignore"]);
  expect(await listPaths(folder, ["dist/known/a", "gone"])).toEqual([".gitignore", "dist/known/a"]);
});

test("links, pipes and invalid names are skipped with a reason, and paths behind them are hidden", async () => {
  const folder = createFolder({ "a/x": "x", "trailing.": "t", "a\\b": "b", "nfd-e\u0301": "e" });
  const elsewhere = createFolder({ secret: "s" });
  symlinkSync(elsewhere, join(folder, "link"));
  symlinkSync(join(elsewhere, "secret"), join(folder, "a/file-link"));
  createPipe(join(folder, "pipe"));
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x61, 0xff])]), "bytes");
  const { files, skipped, isHidden } = await scanFolder(folder);
  expect([...files.keys()]).toEqual(["a/x"]);
  expect(Object.fromEntries(skipped.map(({ path, reason }) => [path, reason]))).toEqual({
    link: "it is a symbolic link",
    "a/file-link": "it is a symbolic link",
    pipe: "it is not a regular file",
    "trailing.": expect.stringContaining("ends with a dot"),
    "a\\b": expect.stringContaining("backslashes"),
    "a\ufffd": "its name is not valid UTF-8",
    "nfd-e\u0301": expect.stringContaining("Unicode"),
  });
  expect(["link", "link/a/b", "a/file-link", "a/other", "linked", "nfd-\u00e9"].map(isHidden)).toEqual([
    true,
    true,
    true,
    false,
    false,
    true,
  ]);
});

test("a .gitignore that is too large excludes its whole folder", async () => {
  const rules = "secret\n".repeat(10_000);
  const folder = createFolder({
    "a/.gitignore": rules,
    "a/secret": "s",
    "a/b/c": "c",
    d: "d",
    ".gitignore": "# short\n",
  });
  const { files, skipped, isHidden } = await scanFolder(folder);
  expect([...files.keys()].sort()).toEqual([".gitignore", "d"]);
  expect(skipped).toEqual([{ path: "a/.gitignore", reason: expect.stringContaining("larger than 64 KB") }]);
  expect(["a/secret", "a/b/c", "d"].map(isHidden)).toEqual([true, true, false]);
  writeFileSync(join(folder, ".gitignore"), rules);
  const all = await scanFolder(folder);
  expect([all.files.size, all.isHidden("d")]).toEqual([0, true]);
});

test("too many files are an error, and too deep folders are skipped", async () => {
  const folder = createFolder(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, ""])));
  await expect(scanFolder(folder, { maxEntries: 20 })).rejects.toMatchObject({ code: "too_large" });
  const deep = createFolder({ [`${"d/".repeat(31)}f`]: "", [`${"e/".repeat(40)}f`]: "" });
  const { files, skipped } = await scanFolder(deep);
  expect([...files.keys()]).toEqual([`${"d/".repeat(31)}f`]);
  expect(skipped).toMatchObject([{ reason: expect.stringContaining("folders deep") }]);
});

test("a change is detected even if size and modification time are the same", async () => {
  const folder = createFolder({ a: "one" });
  const setTimes = () => utimesSync(join(folder, "a"), 1000, 1000);
  setTimes();
  const before = (await scanFolder(folder)).files.get("a") as FileState;
  // Waits until the kernel's clock has advanced.
  await vi.waitUntil(() => !isFresh(before, Date.now()), { interval: 1 });
  writeFileSync(join(folder, "a"), "two");
  setTimes();
  const after = (await scanFolder(folder)).files.get("a") as FileState;
  expect({ ...after, ctimeMs: 0 }).toEqual({ ...before, ctimeMs: 0 });
  expect(isSameState(before, after)).toBe(false);
});

test("a file changed a moment ago is fresh, because another write might not change its times", () => {
  const state = { size: 1, mtimeMs: 0, ino: 1 };
  expect([1001, 1000, 982, 981, 2000].map((ctimeMs) => isFresh({ ...state, ctimeMs }, 1001))).toEqual([
    true,
    true,
    true,
    false,
    true,
  ]);
  // On file systems that store only seconds, or even seconds as FAT does.
  expect([2000, 3999, 4200].map((now) => isFresh({ ...state, ctimeMs: 2000 }, now))).toEqual([true, true, false]);
});

test("content is read with its hash and state", async () => {
  const folder = createFolder({ "a/b": "hello" });
  const { bytes, hash, state } = (await readContent(folder, "a/b", maxBytes)) ?? {};
  expect([bytes?.toString(), hash]).toEqual([
    "hello",
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
  ]);
  expect(isSameState(state, (await scanFolder(folder)).files.get("a/b"))).toBe(true);
  expect(await readContent(folder, "a/b", 4)).toBeUndefined();
  expect(await readContent(folder, "a", maxBytes)).toBeUndefined();
  expect(await readContent(folder, "x/y", maxBytes)).toBeUndefined();
  writeFileSync(join(folder, "big"), Buffer.alloc(3 * 1024 * 1024, 7));
  expect((await readContent(folder, "big", 4 * 1024 * 1024))?.bytes.equals(Buffer.alloc(3 * 1024 * 1024, 7))).toBe(
    true,
  );
});

test("nothing is read through a link, and a pipe does not block", async () => {
  const elsewhere = createFolder({ "in/secret": "s" });
  const folder = createFolder({});
  symlinkSync(join(elsewhere, "in"), join(folder, "folder"));
  symlinkSync(join(elsewhere, "in/secret"), join(folder, "file"));
  createPipe(join(folder, "pipe"));
  for (const path of ["folder/secret", "file", "pipe"])
    expect(await readContent(folder, path, maxBytes)).toBeUndefined();
});

test("a file is written atomically, with missing folders, and keeps its permissions", async () => {
  const folder = createFolder({ "run.sh": "old" });
  chmodSync(join(folder, "run.sh"), 0o751);
  const state = async (path: string) => (await scanFolder(folder)).files.get(path);
  expect(writeContent(folder, "run.sh", Buffer.from("new"), { expected: await state("run.sh") })).toEqual({
    state: await state("run.sh"),
  });
  expect(readFileSync(join(folder, "run.sh"), "utf8")).toBe("new");
  expect(statSync(join(folder, "run.sh")).mode & 0o777).toBe(0o751);
  const drafts = createTempFolder();
  expect(writeContent(folder, "a/b/c", Buffer.from("c"), { expected: undefined, drafts })).toEqual({
    state: await state("a/b/c"),
  });
  expect([readdirSync(drafts), readdirSync(folder).sort(), readdirSync(join(folder, "a/b"))]).toEqual([
    [],
    ["a", "run.sh"],
    ["c"],
  ]);
});

test("a file that is not as expected is left alone", async () => {
  const folder = createFolder({ a: "mine", d: "d", "sub/x": "x" });
  const { files } = await scanFolder(folder);
  writeFileSync(join(folder, "a"), "changed");
  linkSync(join(folder, "d"), join(folder, "e"));
  const content = Buffer.from("theirs");
  expect(writeContent(folder, "a", content, { expected: files.get("a") })).toBe("changed");
  expect(writeContent(folder, "a", content, { expected: undefined })).toBe("changed");
  expect(writeContent(folder, "gone", content, { expected: files.get("a") })).toBe("changed");
  expect(removeContent(folder, "a", files.get("a") as never)).toBe("changed");
  expect(writeContent(folder, "sub", content, { expected: undefined })).toMatchObject({
    refused: "there is a folder with that name",
  });
  expect(writeContent(folder, "a/b", content, { expected: undefined })).toMatchObject({ refused: expect.any(String) });
  expect(readFileSync(join(folder, "a"), "utf8")).toBe("changed");
  expect(readdirSync(folder).sort()).toEqual(["a", "d", "e", "sub"]);
});

test("nothing is written or removed through a link", async () => {
  const elsewhere = createFolder({ x: "safe", "in/y": "safe" });
  const folder = createFolder({ "sub/y": "y" });
  const known = (await scanFolder(folder)).files.get("sub/y") as never;
  renameSync(join(folder, "sub"), join(folder, "aside"));
  symlinkSync(join(elsewhere, "in"), join(folder, "sub"));
  symlinkSync(join(elsewhere, "x"), join(folder, "x"));
  symlinkSync(join(elsewhere, "nothing-yet"), join(folder, "z"));
  const content = Buffer.from("evil");
  for (const path of ["sub/y", "sub/new", "x", "z"]) {
    for (const expected of [undefined, known])
      expect(writeContent(folder, path, content, { expected })).not.toHaveProperty("state");
    expect(removeContent(folder, path, known)).not.toBe("removed");
  }
  expect(readFileSync(join(elsewhere, "x"), "utf8")).toBe("safe");
  expect(readFileSync(join(elsewhere, "in/y"), "utf8")).toBe("safe");
  expect(readdirSync(elsewhere).sort()).toEqual(["in", "x"]);
});

test("removing a file also removes the folders that become empty, and no others", async () => {
  const folder = createFolder({ "a/b/c/x": "x", "a/y": "y" });
  const { files } = await scanFolder(folder);
  expect(removeContent(folder, "a/b/c/x", files.get("a/b/c/x") as never)).toBe("removed");
  expect(readdirSync(join(folder, "a"))).toEqual(["y"]);
  expect(removeContent(folder, "a/y", files.get("a/y") as never)).toBe("removed");
  expect([existsSync(folder), readdirSync(folder)]).toEqual([true, []]);
});

test("a folder is removed with everything in it, and nothing behind its links", async () => {
  const elsewhere = createFolder({ "in/y": "safe" });
  const folder = createFolder({ "a/b/c": "c", d: "d", [`${"deep/".repeat(100)}f`]: "f" });
  symlinkSync(elsewhere, join(folder, "link"));
  symlinkSync(elsewhere, join(folder, "a/link"));
  createPipe(join(folder, "pipe"));
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/a/`), Buffer.from([0x61, 0xff])]), "bytes");
  // Longer than the maximum path length.
  execFileSync("bash", [
    "-c",
    'cd "$0" && for i in $(seq 150); do mkdir "$1" && cd "$1"; done',
    folder,
    "n".repeat(40),
  ]);
  chmodSync(join(folder, "a/b"), 0o000);
  await removeFolder(folder);
  expect(existsSync(folder)).toBe(false);
  expect(readFileSync(join(elsewhere, "in/y"), "utf8")).toBe("safe");
  await removeFolder(folder);
  // A link in its place is removed itself.
  symlinkSync(elsewhere, folder);
  await removeFolder(folder);
  expect([existsSync(folder), readdirSync(elsewhere)]).toEqual([false, ["in"]]);
});
