import { renameSync } from "node:fs";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { openMirror, readTexts, writeFiles } from "./sync-mirror-fixture.ts";

test("many files that are gone at once are not deleted on the other side unless that is meant", async () => {
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
    await settle({ isSure: true });
    expect([Object.keys(remote.texts).length, Object.keys(readTexts(folder)).length]).toEqual([5, 5]);
  }
});

test("one file that the host refuses does not keep the others", async () => {
  const { folder, remote, settle, events } = openMirror();
  const edit = remote.edit.bind(remote);
  remote.edit = async (edits, base) => {
    if (edits.some((one) => "write" in one && one.write === "bad")) throw fail("conflict", "There is a twin of it.");
    return edit(edits, base);
  };
  writeFiles(folder, { a: "a", bad: "b", c: "c", d: "d" });
  expect(await settle()).toBe(1);
  expect(await settle()).toBe(1);
  expect(remote.texts).toEqual({ a: "a", c: "c", d: "d" });
  expect(events.filter(({ did }) => did === "left")).toEqual([
    { did: "left", path: "bad", why: "There is a twin of it." },
  ]);
  writeFiles(folder, { bad: undefined });
  expect(await settle()).toBe(0);
});

test("what could not be done is tried again after a while, and told once", async () => {
  const { folder, remote, settle, events } = openMirror({ holdMs: 0 });
  // There is no way to the file as long as something else is where its folder should be.
  writeFiles(folder, { "a/b": "mine" });
  remote.write({ a: "theirs" });
  expect(await settle()).toBe(1);
  expect(await settle()).toBe(1);
  expect(events.filter(({ did }) => did === "left")).toEqual([
    { did: "left", path: "a", why: "there is a folder of that name" },
  ]);
  renameSync(join(folder, "a"), join(folder, "c"));
  remote.write({ "a/b": undefined });
  expect(await settle()).toBe(0);
  expect([readTexts(folder), remote.texts]).toEqual([
    { a: "theirs", "c/b": "mine" },
    { a: "theirs", "c/b": "mine" },
  ]);
});

test("a file that was moved here is moved there, in the same version as all else, and is not taken for gone", async () => {
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
  expect(remote.requests.filter((one) => one.startsWith("move") || one.startsWith("put")).length).toBe(20);
  expect(events).toContainEqual({ did: "moved there", path: "lib/3", from: "src/3" });
  expect(remote.texts).toEqual(readTexts(folder));
  // The other way round.
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

test("whoever leaves in the middle of much is let go, and what was done is remembered", async () => {
  const { folder, remote, pass, settle } = openMirror();
  remote.write(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, `${index}`])));
  const leave = new AbortController();
  remote.onRequest = () => void (remote.requests.length > 10 && leave.abort());
  expect(await pass({ signal: leave.signal })).toMatchObject({ isComplete: false });
  const come = Object.keys(readTexts(folder)).length;
  expect([come > 5, come < 20]).toEqual([true, true]);
  remote.onRequest = () => {};
  remote.requests.length = 0;
  await settle();
  expect([
    Object.keys(readTexts(folder)).length,
    remote.requests.filter((one) => one.startsWith("get")).length,
  ]).toEqual([50, 50 - come]);
});

test("a twin of what is here is not written over it, whatever the disk takes for the same", async () => {
  const { folder, remote, settle, events } = openMirror();
  writeFiles(folder, { "Readme.md": "mine" });
  remote.write({ "readme.md": "theirs" });
  expect(await settle()).toBe(1);
  expect(readTexts(folder)).toEqual({ "Readme.md": "mine" });
  expect(events.filter(({ did }) => did === "left")).toEqual([
    { did: "left", path: "readme.md", why: expect.stringContaining("“Readme.md” is here already") },
  ]);
  // One that takes the place of the other is.
  remote.write({ "Readme.md": undefined, "readme.md": undefined, "README.md": "mine" });
  await settle();
  expect(readTexts(folder)).toEqual({ "README.md": "mine" });
});
