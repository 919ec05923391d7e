import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { createTempFolder } from "../../host/fixture.ts";
import { conflictPath } from "./conflict-path.ts";
import { openMirror, readTexts, writeFiles } from "./sync-mirror-fixture.ts";
import { readState, getStateFile, type SyncState, writeState } from "./sync-state.ts";

test("the first pass copies files that exist on one side and keeps both versions of files that differ", async () => {
  const { folder, remote, settle, events } = openMirror();
  writeFiles(folder, { "here.txt": "h", "src/same.txt": "s", "notes.md": "mine" });
  remote.write({ "there/t.txt": "t", "src/same.txt": "s", "notes.md": "theirs" });
  await settle();
  const copyPath = conflictPath("notes.md", "d33a28e5");
  const all = readTexts(folder);
  const [conflict = ""] = Object.keys(all).filter((path) => path.includes("conflict"));
  expect(conflict).toMatch(/^notes\.conflict-[0-9a-f]{8}\.md$/);
  expect(copyPath).toBe("notes.conflict-d33a28e5.md");
  expect(all).toEqual({
    "here.txt": "h",
    "src/same.txt": "s",
    "notes.md": "mine",
    "there/t.txt": "t",
    [conflict]: "theirs",
  });
  expect(remote.texts).toEqual(all);
  expect(events.filter(({ action }) => action === "conflict")).toEqual([
    { action: "conflict", path: "notes.md", conflictCopy: conflict },
  ]);
});

test("changes and deletions are synced both ways, and many small files are one version", async () => {
  const { folder, remote, settle, restart } = openMirror();
  writeFiles(folder, Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`d/${index}`, `${index}`])));
  await settle();
  expect(remote.version).toBe(1);
  writeFiles(folder, { "d/1": "one", "d/2": undefined, new: "n" });
  remote.write({ "d/3": "three", "d/4": undefined, "deep/er/x": "x" });
  restart();
  await settle();
  expect(remote.texts).toMatchObject({ "d/1": "one", "d/3": "three", new: "n", "deep/er/x": "x" });
  expect(Object.keys(remote.texts)).not.toEqual(expect.arrayContaining(["d/2"]));
  expect(readTexts(folder)).toEqual(remote.texts);
  remote.write({ "deep/er/x": undefined });
  await settle();
  expect(existsSync(join(folder, "deep"))).toBe(false);
  const { version } = remote;
  remote.requests.length = 0;
  await settle();
  expect([remote.version, remote.requests]).toEqual([version, ["list"]]);
});

test("a file deleted on one side and changed on the other is kept and reported", async () => {
  const { folder, remote, settle, events } = openMirror();
  writeFiles(folder, { a: "1", b: "1" });
  await settle();
  writeFiles(folder, { a: undefined, b: "2" });
  remote.write({ a: "2", b: undefined });
  await settle();
  expect(readTexts(folder)).toEqual({ a: "2", b: "2" });
  expect(remote.texts).toEqual({ a: "2", b: "2" });
  expect(events.filter(({ action }) => action === "restored").map(({ path }) => path)).toEqual(["a", "b"]);
});

test("ignored files stay on both sides and do not count as deleted", async () => {
  const { folder, remote, settle } = openMirror();
  writeFiles(folder, { "dist/x": "1", a: "a", ".git/HEAD": "h", "node_modules/m/i.js": "m" });
  await settle();
  expect(Object.keys(remote.texts)).toEqual(["a", "dist/x"]);
  // Ignore rules may be fetched together with the files they match.
  remote.write({ ".gitignore": "dist\n*.log\n", "y.log": "y", "dist/z": "z" });
  await settle();
  writeFiles(folder, { "dist/x": "2", "n.log": "n" });
  await settle();
  expect(remote.texts).toEqual({ ".gitignore": "dist\n*.log\n", a: "a", "dist/x": "1", "dist/z": "z", "y.log": "y" });
  expect(existsSync(join(folder, "y.log"))).toBe(false);
  rmSync(join(folder, "dist"), { recursive: true });
  await settle();
  expect(remote.texts["dist/x"]).toBe("1");
});

test("symbolic links are not followed, and invalid names are reported once", async () => {
  const { folder, remote, settle, events } = openMirror();
  const elsewhere = createTempFolder();
  writeFiles(elsewhere, { secret: "s" });
  symlinkSync(elsewhere, join(folder, "link"));
  writeFiles(folder, { "end.": "x", ok: "ok" });
  remote.write({ "link/secret": "evil", "link/new": "evil" });
  await settle();
  await settle();
  expect(remote.texts).toEqual({ ok: "ok", "link/secret": "evil", "link/new": "evil" });
  expect(readTexts(elsewhere)).toEqual({ secret: "s" });
  expect(
    events
      .filter(({ action }) => action === "skipped")
      .map(({ path }) => path)
      .sort(),
  ).toEqual(["end.", "link"]);
});

test("large files are sent separately and never overwrite unseen changes; files over the limit are skipped", async () => {
  const { folder, remote, settle, events } = openMirror();
  writeFiles(folder, { big: "b".repeat(300_000) });
  await settle();
  expect(remote.requests).toContain("put big");
  writeFiles(folder, { big: "c".repeat(300_000) });
  remote.write({ big: "d".repeat(300_000) });
  await settle();
  expect(
    Object.values(readTexts(folder))
      .map((text) => text[0])
      .sort(),
  ).toEqual(["c", "d"]);
  expect(remote.texts).toEqual(readTexts(folder));
  writeFileSync(join(folder, "huge"), Buffer.alloc(1024 * 1024 + 1));
  await settle();
  expect(events).toContainEqual({ action: "skipped", path: "huge", reason: "it is larger than 1 MB" });
});

test("executable files stay executable, and a file that is being written is waited for", async () => {
  const { folder, remote, pass, settle } = openMirror({ settleMs: 60_000 });
  remote.write({ tool: "1" });
  await settle();
  chmodSync(join(folder, "tool"), 0o755);
  remote.write({ tool: "2" });
  await settle();
  expect(statSync(join(folder, "tool")).mode & 0o777).toBe(0o755);
  writeFiles(folder, { growing: "half" });
  expect((await pass()).isComplete).toBe(false);
  expect(remote.texts).not.toHaveProperty("growing");
  utimesSync(join(folder, "growing"), 1, 1);
  expect((await pass()).isComplete).toBe(true);
  expect(remote.texts).toHaveProperty("growing");
});

test("a recreated folder or workspace does not count as deletions", async () => {
  const { folder, remote, settle, pass, restart } = openMirror();
  writeFiles(folder, { a: "a", b: "b" });
  await settle();
  // An error during a run; a later run starts over.
  renameSync(folder, `${folder}-old`);
  await expect(pass()).rejects.toThrow();
  mkdirSync(folder);
  await expect(pass()).rejects.toMatchObject({ code: "conflict" });
  restart();
  await settle();
  expect([remote.texts, readTexts(folder)]).toEqual([
    { a: "a", b: "b" },
    { a: "a", b: "b" },
  ]);
  remote.versions.splice(0, 100, new Map());
  await settle();
  expect([remote.texts, readTexts(folder)]).toEqual([
    { a: "a", b: "b" },
    { a: "a", b: "b" },
  ]);
  // The agent was deleted and another one with the same name has been written to.
  remote.workspace = "the second";
  remote.write({ a: undefined, b: undefined });
  remote.write({ c: "c" });
  await expect(pass()).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("agent was replaced"),
  });
  restart();
  await settle();
  expect([remote.texts, readTexts(folder)]).toEqual([
    { a: "a", b: "b", c: "c" },
    { a: "a", b: "b", c: "c" },
  ]);
  rmSync(`${folder}-old`, { recursive: true });
});

test("abandoned drafts are removed and never sent", async () => {
  const { folder, remote, settle } = openMirror();
  const [old, young, other] = [
    ".thinkery-0123456789ab.draft",
    ".thinkery-ba9876543210.draft",
    "src/.thinkery-mine.draft",
  ];
  writeFiles(folder, { [old]: "o", [`src/${old}`]: "o", [young]: "y", [other]: "m" });
  for (const path of [old, `src/${old}`, other]) utimesSync(join(folder, path), 1, 1);
  await settle();
  expect([Object.keys(readTexts(folder)), Object.keys(remote.texts)]).toEqual([[young, other], [other]]);
});

test("the state is saved in the data folder and can be read back", async () => {
  const file = getStateFile(createTempFolder(), "/some/folder", "http://host global~alice");
  expect(await readState(file)).toBeUndefined();
  const state: SyncState = {
    folder: "1:2",
    workspace: "w",
    version: 7,
    files: new Map([["a", { hash: "h", state: { size: 1, mtimeMs: 2.5, ctimeMs: 3, ino: 4 } }]]),
  };
  await writeState(file, state);
  expect(await readState(file)).toEqual(state);
  writeFileSync(file, readFileSync(file).subarray(0, 20));
  expect(await readState(file)).toBeUndefined();
});

test("a conflict path is never too long and keeps its extension", () => {
  expect(conflictPath("a/.env", "0123456789")).toBe("a/.env.conflict-01234567");
  expect(conflictPath("archive.tar.gz", "0123456789", 1)).toBe("archive.tar.conflict-01234567-2.gz");
  const long = conflictPath(`d/${"ü".repeat(125)}.txt`, "0123456789");
  expect(Buffer.byteLength(long.slice(2))).toBeLessThanOrEqual(255);
  expect(long.endsWith(".conflict-01234567.txt")).toBe(true);
});

test("with random concurrent changes nothing is lost and both sides end up equal", async () => {
  const random = createRandom("mirror");
  for (let round = 0; round < 12; round++) {
    const { folder, remote, pass, settle, restart, forget } = openMirror();
    const names = ["a", "b.txt", "d/c", "d/e.md", "f/g/h", "i"];
    /** Texts that were written and not deliberately replaced or deleted. */
    const alive = new Map<string, string>();
    let count = 0;
    const rename = (side: Record<string, string>) => {
      const [from, to] = [random.pick(Object.keys(side)), random.pick([...names, "moved/here", "moved/there"])];
      if (from === undefined || from === to) return;
      if (side[to] !== undefined) alive.delete(side[to]);
      mkdirSync(dirname(join(folder, to)), { recursive: true });
      renameSync(join(folder, from), join(folder, to));
    };
    const act = () => {
      const isHere = random.chance(0.5);
      const side = isHere ? readTexts(folder) : remote.texts;
      if (isHere && random.chance(0.15)) return rename(side);
      const path = random.chance(0.7) ? random.pick(names) : (random.pick(Object.keys(side)) ?? random.pick(names));
      const isDeleted = side[path] !== undefined && random.chance(0.3);
      if (side[path] !== undefined) alive.delete(side[path]);
      // Always the same size, so that the size does not reveal a change.
      const text = isDeleted ? undefined : `text ${String(count++).padStart(5, "0")}`;
      if (text) alive.set(text, `${isHere ? "here" : "there"} ${path}`);
      if (isHere) writeFiles(folder, { [path]: text });
      else remote.write({ [path]: text });
    };
    remote.onRequest = () => {
      if (random.chance(0.3)) act();
    };
    for (let step = 0; step < 25; step++) {
      for (let edits = random.below(4); edits > 0; edits--) act();
      if (random.chance(0.1)) restart();
      if (random.chance(0.03)) forget();
      await pass({ force: true });
    }
    remote.onRequest = () => {};
    await settle({ force: true });
    expect(readTexts(folder)).toEqual(remote.texts);
    const remaining = new Set(Object.values(remote.texts));
    expect([...alive].filter(([text]) => !remaining.has(text))).toEqual([]);
  }
});
