import { expect, test } from "vitest";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { createOrigin, simulateEdits, createPicture, useWorkspaces, createWrite } from "./workspace-testbed.ts";

const openWorkspace = useWorkspaces();

test("a commit is one version with its origin and changes", async () => {
  const call = openWorkspace("first");
  expect(await call("latest")).toBe(0);
  const version = await call("commit", {
    edits: [createWrite("src/a.ts", "one\n"), createWrite("logo.png", createPicture("a"))],
    origin: createOrigin("t1", "c1"),
  });
  expect(version).toMatchObject({
    id: 1,
    origin: { kind: "agent", turn: "t1", toolCall: "c1", tool: "editFile" },
    changes: [
      { path: "logo.png", kind: "add" },
      { path: "src/a.ts", kind: "add" },
    ],
  });
  expect(await call("list")).toMatchObject({
    version: 1,
    files: [
      { path: "logo.png", kind: "binary", mediaType: "image/png" },
      { path: "src/a.ts", kind: "text", size: 4, version: 1 },
    ],
  });
  // A commit without changes creates no version.
  expect(await call("commit", { edits: [createWrite("src/a.ts", "one\n")] })).toBeNull();
  expect(await call("latest")).toBe(1);
  expect(await call("events")).toMatchObject([{ type: "files.changed", data: { version: 1, origin: { turn: "t1" } } }]);
});

test("a commit is atomic", async () => {
  const call = openWorkspace("all-or-none");
  await call("commit", { edits: [createWrite("a", "1")] });
  expect(await call("commit", { edits: [createWrite("b", "2"), { delete: "nowhere" }] })).toMatchObject({
    errorCode: "not_found",
  });
  expect(await call("contents")).toEqual([["a", "1"]]);
});

test("files and folders can be moved and deleted, and both can be reverted", async () => {
  const call = openWorkspace("moves");
  await call("commit", {
    edits: [createWrite("src/a.ts", "a\n"), createWrite("src/deep/b.ts", "b\n"), createWrite("c.ts", "c\n")],
  });
  expect((await call("commit", { edits: [{ move: "src", to: "lib" }] })).changes).toEqual([
    { path: "lib/a.ts", kind: "move", from: "src/a.ts" },
    { path: "lib/deep/b.ts", kind: "move", from: "src/deep/b.ts" },
  ]);
  expect(await call("commit", { edits: [{ move: "lib", to: "lib/inner" }] })).toMatchObject({
    errorCode: "bad_request",
  });
  expect(await call("commit", { edits: [{ move: "c.ts", to: "lib/a.ts" }] })).toMatchObject({ errorCode: "conflict" });
  expect((await call("diff", { id: 2 })).diffs).toMatchObject([
    { path: "lib/a.ts", kind: "move", from: "src/a.ts" },
    { path: "lib/deep/b.ts" },
  ]);
  expect((await call("commit", { edits: [{ delete: "lib" }] })).changes).toHaveLength(2);
  expect(await call("contents")).toEqual([["c.ts", "c\n"]]);
  expect(await call("contents", { at: { version: 1 } })).toEqual([
    ["c.ts", "c\n"],
    ["src/a.ts", "a\n"],
    ["src/deep/b.ts", "b\n"],
  ]);
  expect(await call("revert", { params: { version: 3 } })).toMatchObject({ overlaps: [], version: { reverts: [3] } });
  expect(await call("revert", { params: { version: 2 } })).toMatchObject({ overlaps: [] });
  expect(await call("contents")).toEqual(await call("contents", { at: { version: 1 } }));
  // A file can take the name of one that moves away in the same commit.
  await call("commit", {
    edits: [
      { move: "c.ts", to: "d.ts" },
      { move: "src/a.ts", to: "c.ts" },
    ],
  });
  expect(await call("content", { path: "c.ts" })).toBe("a\n");
  expect(await call("content", { path: "d.ts" })).toBe("c\n");
  expect(await call("content", { path: "c.ts", at: { version: 5 } })).toBe("c\n");
});

test("a file cannot replace a folder or differ from another file only by case", async () => {
  const call = openWorkspace("clashes");
  await call("commit", { edits: [createWrite("src/Main.ts", "1"), createWrite("notes", "2")] });
  for (const path of ["src", "notes/a", "src/main.ts", "SRC/other.ts", "Notes", "NOTES/x", "src/Main.ts/x"]) {
    expect(await call("commit", { edits: [createWrite(path, "x")] }), path).toMatchObject({ errorCode: "conflict" });
  }
  for (const edits of [
    [createWrite("x/a", "1"), createWrite("X/b", "2")],
    [createWrite("y", "1"), createWrite("y/b", "2")],
    [createWrite("z.ts", "1"), createWrite("Z.ts", "2")],
  ]) {
    expect(await call("commit", { edits }), JSON.stringify(edits)).toMatchObject({ errorCode: "conflict" });
  }
  // A path freed in the same commit is no conflict.
  expect(await call("commit", { edits: [{ delete: "notes" }, createWrite("notes/a", "3")] })).toMatchObject({ id: 2 });
  expect(await call("commit", { edits: [{ move: "src/Main.ts", to: "src/main.ts" }] })).toMatchObject({
    changes: [{ kind: "move" }],
  });
  expect(await call("commit", { edits: [{ move: "src/main.ts", to: "src/MAIN.ts" }] })).toMatchObject({
    changes: [{ kind: "move" }],
  });
  expect(await call("commit", { edits: [createWrite("e\u0301.txt", "1")] })).toMatchObject({
    changes: [{ path: "é.txt" }],
  });
  expect(await call("content", { path: "é.txt" })).toBe("1");
});

test("a workspace enforces its limits, and deleting is always possible", async () => {
  const call = openWorkspace("quota");
  await call("limits", { params: { maxFiles: 3, maxTextFileKb: 1, maxTextMb: 1, maxFileMb: 1, maxTotalMb: 1 } });
  await call("commit", { edits: [createWrite("a", "1"), createWrite("b", "2"), createWrite("c", "3")] });
  expect(await call("commit", { edits: [createWrite("d", "4")] })).toMatchObject({ errorCode: "too_large" });
  expect(await call("commit", { edits: [createWrite("a", "x".repeat(1025))] })).toMatchObject({
    errorCode: "too_large",
  });
  expect(
    await call("commit", { edits: [createWrite("a", { ...createPicture("a"), size: 2 ** 20 + 1 })] }),
  ).toMatchObject({ errorCode: "too_large" });
  expect(await call("commit", { edits: [createWrite("a", { ...createPicture("a"), size: 2 ** 20 })] })).toMatchObject({
    errorCode: "too_large",
  });
  expect(await call("commit", { edits: [{ delete: "c" }, createWrite("d", "4")] })).toMatchObject({ id: 2 });
  await call("limits", { params: { maxFiles: 1 } });
  expect(await call("commit", { edits: [{ delete: "d" }] })).toMatchObject({ id: 3 });
  const [cached, counted] = await call("totals");
  expect(cached).toEqual(counted);
});

test("a revert keeps later changes, and conflicts are kept with markers and reported", async () => {
  const call = openWorkspace("revert");
  const lines = (...words: string[]) => `${words.join("\n")}\n`;
  await call("commit", { edits: [createWrite("a.txt", lines("1", "2", "3", "4", "5", "6"))] });
  await call("commit", {
    edits: [createWrite("a.txt", lines("1", "TWO", "3", "4", "5", "6"))],
    origin: createOrigin("t", "c2"),
  });
  await call("commit", { edits: [createWrite("a.txt", lines("1", "TWO", "3", "4", "FIVE", "6"))] });
  expect(await call("revert", { params: { toolCall: "c2", dryRun: true } })).toMatchObject({
    changes: [{ path: "a.txt", kind: "edit" }],
    overlaps: [],
  });
  expect(await call("latest")).toBe(3);
  expect(await call("revert", { params: { toolCall: "c2" } })).toMatchObject({ overlaps: [], version: { id: 4 } });
  expect(await call("content", { path: "a.txt" })).toBe(lines("1", "2", "3", "4", "FIVE", "6"));
  await call("commit", { edits: [createWrite("a.txt", lines("1", "2", "3", "4", "fünf", "6"))] });
  const { overlaps } = await call("revert", { params: { version: 3 } });
  expect(overlaps).toMatchObject([
    { path: "a.txt", line: 5, mine: expect.stringContaining("fünf"), theirs: expect.stringContaining("5") },
  ]);
  const both = await call("content", { path: "a.txt" });
  expect(both).toMatch(/<<<<<<< later changes\nfünf\n=======\n5\n>>>>>>> before version 3\n/);
  expect(await call("revert", { params: { version: 99 } })).toMatchObject({ errorCode: "not_found" });
  expect(await call("revert", { params: { turn: "nobody's" } })).toMatchObject({ errorCode: "not_found" });
});

test("a turn is reverted as a whole, even with commits of others in between", async () => {
  const call = openWorkspace("turn");
  await call("commit", { edits: [createWrite("a", "a\n"), createWrite("b", "b\n")] });
  await call("commit", { edits: [createWrite("a", "a\nfirst\n")], origin: createOrigin("t", "1") });
  await call("commit", { edits: [createWrite("b", "b\nmine\n")] });
  await call("commit", {
    edits: [createWrite("a", "a\nfirst\nsecond\n"), { delete: "b" }, createWrite("new", "n")],
    origin: createOrigin("t", "2"),
  });
  expect(await call("revert", { params: { turn: "t" } })).toMatchObject({ overlaps: [], version: { reverts: [4, 2] } });
  expect(await call("contents")).toEqual([
    ["a", "a\n"],
    ["b", "b\nmine\n"],
  ]);
  for (const [content, toolCall] of [
    ["x\n", "3"],
    ["y\n", "4"],
    ["z\n", "5"],
  ] as const)
    await call("commit", {
      edits: [createWrite("c", content)],
      origin: createOrigin(toolCall === "3" ? "before" : "t2", toolCall),
    });
  expect(await call("revert", { params: { turn: "t2" } })).toMatchObject({ overlaps: [] });
  expect(await call("content", { path: "c" })).toBe("x\n");
  // Binary files cannot be merged: the current one stays, the other is saved as a conflict copy.
  await call("commit", { edits: [createWrite("logo.png", createPicture("a"))] });
  await call("commit", { edits: [createWrite("logo.png", createPicture("b"))] });
  await call("commit", { edits: [createWrite("logo.png", createPicture("c"))] });
  expect(await call("revert", { params: { version: 11 } })).toMatchObject({
    overlaps: [{ path: "logo.png", conflictCopy: "logo.before-11.png" }],
  });
  expect((await call("content", { path: "logo.png" })).blob).toBe(createPicture("c").blob);
  expect((await call("content", { path: "logo.before-11.png" })).blob).toBe(createPicture("a").blob);
});

test("edits on an older version are merged with later changes", async () => {
  const call = openWorkspace("rebase");
  await call("commit", {
    edits: [createWrite("a", "1\n2\n3\n4\n5\n"), createWrite("gone", "x\n"), createWrite("kept", "k\n")],
  });
  await call("commit", {
    edits: [createWrite("a", "one\n2\n3\n4\n5\n"), { delete: "gone" }, createWrite("kept", "K\n")],
  });
  const committed = await call("rebase", {
    base: 1,
    edits: [
      createWrite("a", "1\n2\n3\n4\nfive\n"),
      createWrite("gone", "y\n"),
      { delete: "kept" },
      createWrite("new", "n"),
    ],
    origin: createOrigin("t", "c"),
  });
  expect(await call("content", { path: "a" })).toBe("one\n2\n3\n4\nfive\n");
  expect(await call("content", { path: "gone" })).toBe("y\n");
  expect(await call("content", { path: "kept" })).toBe("K\n");
  expect(committed.overlaps.map(({ path }: { path: string }) => path).sort()).toEqual(["gone", "kept"]);
  expect(committed.version.changes).toHaveLength(3);
  // With dropInvalid, as for a shell's changes, invalid edits are left out, and files with an invalid move stay.
  for (const since of [[], [createWrite("other", "x")]]) {
    const { id } = await call("commit", {
      edits: [
        createWrite("src/m.ts", `m ${since.length}\n`),
        createWrite("src/n.ts", "n"),
        createWrite("a", `${since.length}\n`),
      ],
    });
    if (since.length > 0) await call("commit", { edits: since });
    const edits = [
      createWrite("A", "twin"),
      createWrite("fine", `${since.length}`),
      { move: "src/m.ts", to: "SRC/m.ts" },
      createWrite("a/b", "x"),
    ];
    expect(await call("rebase", { base: id, edits })).toMatchObject({ errorCode: "conflict" });
    const partial = await call("rebase", { base: id, edits, options: { dropInvalid: true } });
    expect(partial.overlaps.map(({ path }: { path: string }) => path).sort()).toEqual(["A", "SRC/m.ts", "a/b"]);
    expect(partial.version.changes).toMatchObject([{ path: "fine" }]);
    expect(await call("content", { path: "src/m.ts" })).toBe(`m ${since.length}\n`);
  }
});

test("a branch is independent until it is merged", async () => {
  const call = openWorkspace("branches");
  await call("commit", { edits: [createWrite("a", "1\n2\n3\n4\n5\n"), createWrite("b", "b\n")] });
  expect(await call("branch", { params: { name: "try" } })).toMatchObject({
    id: "try",
    from: "main",
    at: 1,
    changed: 0,
  });
  expect(await call("branch", { params: { name: "try" } })).toMatchObject({ errorCode: "conflict" });
  await call("commit", {
    edits: [createWrite("a", "1\n2\n3\n4\nFIVE\n"), { delete: "b" }, createWrite("c", "c\n")],
    options: { branch: "try" },
  });
  await call("commit", { edits: [createWrite("a", "ONE\n2\n3\n4\n5\n")] });
  expect(await call("contents", { at: { branch: "try", version: 1 } })).toEqual(
    await call("contents", { at: { version: 1 } }),
  );
  expect((await call("branches"))[0].changed).toBe(1);
  expect(await call("merge", { name: "try", params: { dryRun: true } })).toMatchObject({
    overlaps: [],
    changes: [{ path: "a" }, { path: "b", kind: "delete" }, { path: "c", kind: "add" }],
  });
  expect(await call("merge", { name: "try" })).toMatchObject({ overlaps: [], version: { merges: "try" } });
  expect(await call("contents")).toEqual([
    ["a", "ONE\n2\n3\n4\nFIVE\n"],
    ["c", "c\n"],
  ]);
  // Merging again changes nothing, and later conflicts are relative to the last merge.
  expect(await call("merge", { name: "try" })).toEqual({ overlaps: [], changes: [] });
  expect(await call("merge", { name: "main", params: { into: "try" } })).toMatchObject({ overlaps: [] });
  expect(await call("contents", { at: { branch: "try" } })).toEqual(await call("contents"));
  await call("commit", { edits: [createWrite("c", "mine\n")] });
  await call("commit", { edits: [createWrite("c", "theirs\n")], options: { branch: "try" } });
  expect((await call("merge", { name: "try" })).overlaps).toMatchObject([{ path: "c", line: 1 }]);
  expect(await call("content", { path: "c" })).toBe("<<<<<<< main\nmine\n=======\ntheirs\n>>>>>>> try\n");
  await call("branch", { params: { name: "old", version: 1 } });
  expect(await call("contents", { at: { branch: "old" } })).toEqual(await call("contents", { at: { version: 1 } }));
  expect(await call("merge", { name: "try", params: { into: "old" } })).toMatchObject({ errorCode: "conflict" });
  // A merged file that was deleted since is not merged again.
  await call("commit", { edits: [{ delete: "c" }] });
  expect(await call("merge", { name: "try" })).toEqual({ overlaps: [], changes: [] });
  await call("branch", { params: { name: "inner", from: "try" } });
  expect(await call("remove", { name: "try" })).toMatchObject({ errorCode: "conflict" });
  await call("remove", { name: "inner" });
  await call("remove", { name: "try" });
  expect(await call("contents", { at: { branch: "try" } })).toMatchObject({ errorCode: "not_found" });
  expect(await call("remove", { name: "main" })).toMatchObject({ errorCode: "conflict" });
});

test("versions from before a branch are read from its parent", async () => {
  const call = openWorkspace("before-branch");
  for (const content of ["1", "2"]) await call("commit", { edits: [createWrite("a", content)] });
  await call("branch", { params: { name: "late" } });
  await call("commit", { edits: [createWrite("a", "3")] });
  await call("commit", { edits: [createWrite("a", "4")], options: { branch: "late" } });
  const seen = await Promise.all(
    [1, 2, 3, 4].map((version) => call("content", { path: "a", at: { branch: "late", version } })),
  );
  expect(seen).toEqual(["1", "2", "2", "4"]);
});

test("continuous typing by one user is one version", async () => {
  const call = openWorkspace("typing");
  const typed = { origin: { kind: "user", user: "ann" }, options: { joins: true } };
  await call("commit", { edits: [createWrite("a", "")] });
  for (const content of ["h", "he", "hey"]) await call("commit", { edits: [createWrite("a", content)], ...typed });
  expect(await call("latest")).toBe(2);
  expect((await call("diff", { id: 2 })).diffs).toMatchObject([{ kind: "edit", added: 1 }]);
  await call("commit", {
    edits: [createWrite("a", "hey!")],
    origin: { kind: "user", user: "ben" },
    options: { joins: true },
  });
  expect(await call("latest")).toBe(3);
  await call("commit", { edits: [createWrite("b", "x")], ...typed });
  await call("commit", { edits: [{ delete: "b" }], ...typed });
  // A version that was read does not change any more.
  expect(await call("latest")).toBe(4);
  expect((await call("versions", { params: { limit: 1 } })).versions).toMatchObject([{ id: 4, changes: [] }]);
  await call("commit", { edits: [createWrite("b", "y")], ...typed });
  await call("commit", { edits: [createWrite("b", "yy")], ...typed });
  await call("age", { id: 30_000 });
  await call("commit", { edits: [createWrite("b", "z")], ...typed });
  expect(await call("latest")).toBe(6);
  expect(await call("content", { path: "b", at: { version: 5 } })).toBe("yy");
  expect(await call("content", { path: "a", at: { version: 1 } })).toBe("");
  expect(await call("content", { path: "a", at: { version: 2 } })).toBe("hey");
  expect(await call("observe", { edits: [createWrite("a", "z")], ...typed })).toMatchObject([
    { branch: "main", changes: [{ path: "a", before: "hey!", after: "z" }] },
  ]);
});

test("full copies at intervals keep reading old versions cheap", async () => {
  const call = openWorkspace("copies");
  const lines = Array.from({ length: 50 }, (_, number) => `line ${number}`);
  const texts = Array.from({ length: 100 }, (_, number) =>
    lines.toSpliced(number % 50, 1, `edit ${number}`).join("\n"),
  );
  for (const content of texts) await call("commit", { edits: [createWrite("a", content)] });
  // A copy of the first version, and one every 33 changes.
  expect((await call("copies")).count).toBe(4);
  for (const version of [1, 2, 33, 34, 35, 66, 67, 68, 99, 100])
    expect(await call("content", { path: "a", at: { version } })).toBe(texts[version - 1]);
});

test("old versions are pruned by the retention limit, with an event", async () => {
  const call = openWorkspace("retention");
  await call("limits", { params: { retainVersions: 20 } });
  for (let number = 1; number <= 100; number++)
    await call("commit", {
      edits: [createWrite("a", `${number}\n`), ...(number % 10 === 0 ? [createWrite(`f${number}`, "x")] : [])],
    });
  const { oldest, versions } = await call("versions", { params: { limit: 200 } });
  expect(oldest).toBeGreaterThan(1);
  expect(versions.length).toBe(100 - oldest + 1);
  expect(await call("content", { path: "a", at: { version: 3 } })).toMatchObject({ errorCode: "not_found" });
  for (let id = oldest; id <= 100; id++)
    expect(await call("content", { path: "a", at: { version: id } })).toBe(`${id}\n`);
  expect((await call("events")).filter(({ type }: { type: string }) => type === "files.pruned").length).toBeGreaterThan(
    0,
  );
  expect((await call("copies")).count).toBeLessThan(12);
  // Versions that a branch needs for merging are kept as long as the branch.
  await call("branch", { params: { name: "slow" } });
  await call("commit", { edits: [createWrite("b", "branch\n")], options: { branch: "slow" } });
  for (let number = 0; number < 100; number++) await call("commit", { edits: [createWrite("a", `again ${number}\n`)] });
  expect((await call("versions", { params: { limit: 1 } })).oldest).toBeLessThanOrEqual(101);
  expect(await call("merge", { name: "slow" })).toMatchObject({ overlaps: [], changes: [{ path: "b", kind: "add" }] });
});

test("every version of a random history can be read, and the files can be rebuilt from the changes", async () => {
  const chance = createRandom("workspace");
  for (let round = 0; round < getRepeatCount("random histories", { sample: 1, full: 4 }); round++) {
    const call = openWorkspace(`history-${round}`);
    await simulateEdits(call, chance, 60);
  }
});
