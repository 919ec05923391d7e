import { renameSync } from "node:fs";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { openMirror, readTexts, writeFiles } from "./sync-mirror-fixture.ts";

test("many files deleted at once are not deleted on the other side without force", async () => {
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index}`, `${index}`]));
  for (const side of ["here", "there"] as const) {
    const { folder, remote, settle } = openMirror();
    writeFiles(folder, files);
    await settle();
    const gone = Object.fromEntries(
      Object.keys(files)
        .slice(0, 15)
        .map((path) => [path, undefined]),
    );
    if (side === "here") writeFiles(folder, gone);
    else remote.write(gone);
    await expect(settle()).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("--force") });
    expect([Object.keys(remote.texts).length, Object.keys(readTexts(folder)).length].sort()).toEqual([20, 5].sort());
    await settle({ force: true });
    expect([Object.keys(remote.texts).length, Object.keys(readTexts(folder)).length]).toEqual([5, 5]);
  }
});

test("a file that the host rejects does not block the others", async () => {
  const { folder, remote, settle, events } = openMirror();
  const edit = remote.edit.bind(remote);
  remote.edit = async (edits, base) => {
    if (edits.some((edit) => "write" in edit && edit.write === "bad"))
      throw fail("conflict", "There is a case collision.");
    return edit(edits, base);
  };
  writeFiles(folder, { a: "a", bad: "b", c: "c", d: "d" });
  expect(await settle()).toBe(1);
  expect(await settle()).toBe(1);
  expect(remote.texts).toEqual({ a: "a", c: "c", d: "d" });
  expect(events.filter(({ action }) => action === "skipped")).toEqual([
    { action: "skipped", path: "bad", reason: "There is a case collision." },
  ]);
  writeFiles(folder, { bad: undefined });
  expect(await settle()).toBe(0);
});

test("a failed file is retried after a delay and reported once", async () => {
  const { folder, remote, settle, events } = openMirror({ retryDelayMs: 0 });
  // The file cannot be written while a folder is at its path.
  writeFiles(folder, { "a/b": "mine" });
  remote.write({ a: "theirs" });
  expect(await settle()).toBe(1);
  expect(await settle()).toBe(1);
  expect(events.filter(({ action }) => action === "skipped")).toEqual([
    { action: "skipped", path: "a", reason: "there is a folder with that name" },
  ]);
  renameSync(join(folder, "a"), join(folder, "c"));
  remote.write({ "a/b": undefined });
  expect(await settle()).toBe(0);
  expect([readTexts(folder), remote.texts]).toEqual([
    { a: "theirs", "c/b": "mine" },
    { a: "theirs", "c/b": "mine" },
  ]);
});

test("a file moved locally is moved remotely in one version and does not count as deleted", async () => {
  const { folder, remote, settle, events } = openMirror();
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`src/${index}`, `${index}`.repeat(index === 7 ? 200_000 : 1)]),
  );
  writeFiles(folder, { ...files, old: "o" });
  await settle();
  remote.requests.length = 0;
  const { version } = remote;
  renameSync(join(folder, "src"), join(folder, "lib"));
  writeFiles(folder, { old: undefined, new: "n" });
  await settle();
  expect(remote.version).toBe(version + 1);
  expect(remote.requests.filter((request) => request.startsWith("move") || request.startsWith("put")).length).toBe(20);
  expect(events).toContainEqual({ action: "moved-remote", path: "lib/3", from: "src/3" });
  expect(remote.texts).toEqual(readTexts(folder));
  // The other direction.
  remote.write(
    Object.fromEntries(
      [...remote.now].flatMap(([path, bytes]) => [
        [path, undefined],
        [`there/${path}`, bytes],
      ]),
    ),
  );
  await settle();
  expect(Object.keys(readTexts(folder))).toEqual(Object.keys(remote.texts));
});

test("a pass that is aborted stops early and its completed writes are kept", async () => {
  const { folder, remote, pass, settle } = openMirror();
  remote.write(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, `${index}`])));
  const abort = new AbortController();
  remote.onRequest = () => void (remote.requests.length > 10 && abort.abort());
  expect(await pass({ signal: abort.signal })).toMatchObject({ isComplete: false });
  const fetched = Object.keys(readTexts(folder)).length;
  expect([fetched > 5, fetched < 20]).toEqual([true, true]);
  remote.onRequest = () => {};
  remote.requests.length = 0;
  await settle();
  expect([
    Object.keys(readTexts(folder)).length,
    remote.requests.filter((request) => request.startsWith("get")).length,
  ]).toEqual([50, 50 - fetched]);
});

test("a remote file that differs only in case does not overwrite the local one", async () => {
  const { folder, remote, settle, events } = openMirror();
  writeFiles(folder, { "Readme.md": "mine" });
  remote.write({ "readme.md": "theirs" });
  expect(await settle()).toBe(1);
  expect(readTexts(folder)).toEqual({ "Readme.md": "mine" });
  expect(events.filter(({ action }) => action === "skipped")).toEqual([
    { action: "skipped", path: "readme.md", reason: expect.stringContaining("“Readme.md” already exists locally") },
  ]);
  // A file that replaces it is written.
  remote.write({ "Readme.md": undefined, "readme.md": undefined, "README.md": "mine" });
  await settle();
  expect(readTexts(folder)).toEqual({ "README.md": "mine" });
});
