import { expect, test } from "vitest";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { createOrigin, simulateEdits, createPicture, useDesks, createWrite } from "./workspace-life.ts";

const desk = useDesks();

test("what is written is there, as one version that says who and what", async () => {
  const on = desk("first");
  expect(await on("latest")).toBe(0);
  const version = await on("commit", {
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
  expect(await on("list")).toMatchObject({
    version: 1,
    files: [
      { path: "logo.png", kind: "binary", mediaType: "image/png" },
      { path: "src/a.ts", kind: "text", size: 4, version: 1 },
    ],
  });
  // Nothing is nothing.
  expect(await on("commit", { edits: [createWrite("src/a.ts", "one\n")] })).toBeNull();
  expect(await on("latest")).toBe(1);
  expect(await on("events")).toMatchObject([{ type: "files.changed", data: { version: 1, origin: { turn: "t1" } } }]);
});

test("all edits of a version are made or none", async () => {
  const on = desk("all-or-none");
  await on("commit", { edits: [createWrite("a", "1")] });
  expect(await on("commit", { edits: [createWrite("b", "2"), { delete: "nowhere" }] })).toMatchObject({
    refused: "not_found",
  });
  expect(await on("whole")).toEqual([["a", "1"]]);
});

test("files and folders are moved and deleted, and that can be read and taken back", async () => {
  const on = desk("moves");
  await on("commit", {
    edits: [createWrite("src/a.ts", "a\n"), createWrite("src/deep/b.ts", "b\n"), createWrite("c.ts", "c\n")],
  });
  expect((await on("commit", { edits: [{ move: "src", to: "lib" }] })).changes).toEqual([
    { path: "lib/a.ts", kind: "move", from: "src/a.ts" },
    { path: "lib/deep/b.ts", kind: "move", from: "src/deep/b.ts" },
  ]);
  expect(await on("commit", { edits: [{ move: "lib", to: "lib/inner" }] })).toMatchObject({ refused: "bad_request" });
  expect(await on("commit", { edits: [{ move: "c.ts", to: "lib/a.ts" }] })).toMatchObject({ refused: "conflict" });
  expect((await on("diff", { id: 2 })).diffs).toMatchObject([
    { path: "lib/a.ts", kind: "move", from: "src/a.ts" },
    { path: "lib/deep/b.ts" },
  ]);
  expect((await on("commit", { edits: [{ delete: "lib" }] })).changes).toHaveLength(2);
  expect(await on("whole")).toEqual([["c.ts", "c\n"]]);
  expect(await on("whole", { at: { version: 1 } })).toEqual([
    ["c.ts", "c\n"],
    ["src/a.ts", "a\n"],
    ["src/deep/b.ts", "b\n"],
  ]);
  expect(await on("revert", { order: { version: 3 } })).toMatchObject({ overlaps: [], version: { reverts: [3] } });
  expect(await on("revert", { order: { version: 2 } })).toMatchObject({ overlaps: [] });
  expect(await on("whole")).toEqual(await on("whole", { at: { version: 1 } }));
  // A file may take the name that another one leaves.
  await on("commit", {
    edits: [
      { move: "c.ts", to: "d.ts" },
      { move: "src/a.ts", to: "c.ts" },
    ],
  });
  expect(await on("content", { path: "c.ts" })).toBe("a\n");
  expect(await on("content", { path: "d.ts" })).toBe("c\n");
  expect(await on("content", { path: "c.ts", at: { version: 5 } })).toBe("c\n");
});

test("no file is where a folder is, and none differs from another by upper and lower case alone", async () => {
  const on = desk("clashes");
  await on("commit", { edits: [createWrite("src/Main.ts", "1"), createWrite("notes", "2")] });
  for (const path of ["src", "notes/a", "src/main.ts", "SRC/other.ts", "Notes", "NOTES/x", "src/Main.ts/x"]) {
    expect(await on("commit", { edits: [createWrite(path, "x")] }), path).toMatchObject({ refused: "conflict" });
  }
  for (const edits of [
    [createWrite("x/a", "1"), createWrite("X/b", "2")],
    [createWrite("y", "1"), createWrite("y/b", "2")],
    [createWrite("z.ts", "1"), createWrite("Z.ts", "2")],
  ]) {
    expect(await on("commit", { edits }), JSON.stringify(edits)).toMatchObject({ refused: "conflict" });
  }
  // What makes room in the same version is no obstacle.
  expect(await on("commit", { edits: [{ delete: "notes" }, createWrite("notes/a", "3")] })).toMatchObject({ id: 2 });
  expect(await on("commit", { edits: [{ move: "src/Main.ts", to: "src/main.ts" }] })).toMatchObject({
    changes: [{ kind: "move" }],
  });
  expect(await on("commit", { edits: [{ move: "src/main.ts", to: "src/MAIN.ts" }] })).toMatchObject({
    changes: [{ kind: "move" }],
  });
  expect(await on("commit", { edits: [createWrite("e\u0301.txt", "1")] })).toMatchObject({
    changes: [{ path: "é.txt" }],
  });
  expect(await on("content", { path: "é.txt" })).toBe("1");
});

test("a workspace holds no more than it may, and can always be made smaller", async () => {
  const on = desk("quota");
  await on("limits", { order: { maxFiles: 3, maxTextFileKb: 1, maxTextMb: 1, maxFileMb: 1, maxTotalMb: 1 } });
  await on("commit", { edits: [createWrite("a", "1"), createWrite("b", "2"), createWrite("c", "3")] });
  expect(await on("commit", { edits: [createWrite("d", "4")] })).toMatchObject({ refused: "too_large" });
  expect(await on("commit", { edits: [createWrite("a", "x".repeat(1025))] })).toMatchObject({ refused: "too_large" });
  expect(await on("commit", { edits: [createWrite("a", { ...createPicture("a"), size: 2 ** 20 + 1 })] })).toMatchObject(
    { refused: "too_large" },
  );
  expect(await on("commit", { edits: [createWrite("a", { ...createPicture("a"), size: 2 ** 20 })] })).toMatchObject({
    refused: "too_large",
  });
  expect(await on("commit", { edits: [{ delete: "c" }, createWrite("d", "4")] })).toMatchObject({ id: 2 });
  await on("limits", { order: { maxFiles: 1 } });
  expect(await on("commit", { edits: [{ delete: "d" }] })).toMatchObject({ id: 3 });
  const [known, counted] = await on("totals");
  expect(known).toEqual(counted);
});

test("what others changed since survives a revert, and where that cannot be, both are kept and it is said", async () => {
  const on = desk("revert");
  const lines = (...words: string[]) => `${words.join("\n")}\n`;
  await on("commit", { edits: [createWrite("a.txt", lines("1", "2", "3", "4", "5", "6"))] });
  await on("commit", {
    edits: [createWrite("a.txt", lines("1", "TWO", "3", "4", "5", "6"))],
    origin: createOrigin("t", "c2"),
  });
  await on("commit", { edits: [createWrite("a.txt", lines("1", "TWO", "3", "4", "FIVE", "6"))] });
  expect(await on("revert", { order: { toolCall: "c2", dryRun: true } })).toMatchObject({
    changes: [{ path: "a.txt", kind: "edit" }],
    overlaps: [],
  });
  expect(await on("latest")).toBe(3);
  expect(await on("revert", { order: { toolCall: "c2" } })).toMatchObject({ overlaps: [], version: { id: 4 } });
  expect(await on("content", { path: "a.txt" })).toBe(lines("1", "2", "3", "4", "FIVE", "6"));
  await on("commit", { edits: [createWrite("a.txt", lines("1", "2", "3", "4", "fünf", "6"))] });
  const { overlaps } = await on("revert", { order: { version: 3 } });
  expect(overlaps).toMatchObject([
    { path: "a.txt", line: 5, mine: expect.stringContaining("fünf"), theirs: expect.stringContaining("5") },
  ]);
  const both = await on("content", { path: "a.txt" });
  expect(both).toMatch(/<<<<<<< later changes\nfünf\n=======\n5\n>>>>>>> before version 3\n/);
  expect(await on("revert", { order: { version: 99 } })).toMatchObject({ refused: "not_found" });
  expect(await on("revert", { order: { turn: "nobody's" } })).toMatchObject({ refused: "not_found" });
});

test("a turn is taken back as a whole, also where others wrote in between", async () => {
  const on = desk("turn");
  await on("commit", { edits: [createWrite("a", "a\n"), createWrite("b", "b\n")] });
  await on("commit", { edits: [createWrite("a", "a\nfirst\n")], origin: createOrigin("t", "1") });
  await on("commit", { edits: [createWrite("b", "b\nmine\n")] });
  await on("commit", {
    edits: [createWrite("a", "a\nfirst\nsecond\n"), { delete: "b" }, createWrite("new", "n")],
    origin: createOrigin("t", "2"),
  });
  expect(await on("revert", { order: { turn: "t" } })).toMatchObject({ overlaps: [], version: { reverts: [4, 2] } });
  expect(await on("whole")).toEqual([
    ["a", "a\n"],
    ["b", "b\nmine\n"],
  ]);
  for (const [content, call] of [
    ["x\n", "3"],
    ["y\n", "4"],
    ["z\n", "5"],
  ] as const)
    await on("commit", {
      edits: [createWrite("c", content)],
      origin: createOrigin(call === "3" ? "before" : "t2", call),
    });
  expect(await on("revert", { order: { turn: "t2" } })).toMatchObject({ overlaps: [] });
  expect(await on("content", { path: "c" })).toBe("x\n");
  // Files that are not text cannot be merged: the present one stays, the other one is put beside it.
  await on("commit", { edits: [createWrite("logo.png", createPicture("a"))] });
  await on("commit", { edits: [createWrite("logo.png", createPicture("b"))] });
  await on("commit", { edits: [createWrite("logo.png", createPicture("c"))] });
  expect(await on("revert", { order: { version: 11 } })).toMatchObject({
    overlaps: [{ path: "logo.png", kept: "logo.before-11.png" }],
  });
  expect((await on("content", { path: "logo.png" })).blob).toBe(createPicture("c").blob);
  expect((await on("content", { path: "logo.before-11.png" })).blob).toBe(createPicture("a").blob);
});

test("what was done on files as they were comes together with what others did meanwhile", async () => {
  const on = desk("land");
  await on("commit", {
    edits: [createWrite("a", "1\n2\n3\n4\n5\n"), createWrite("gone", "x\n"), createWrite("kept", "k\n")],
  });
  await on("commit", {
    edits: [createWrite("a", "one\n2\n3\n4\n5\n"), { delete: "gone" }, createWrite("kept", "K\n")],
  });
  const landed = await on("land", {
    base: 1,
    edits: [
      createWrite("a", "1\n2\n3\n4\nfive\n"),
      createWrite("gone", "y\n"),
      { delete: "kept" },
      createWrite("new", "n"),
    ],
    origin: createOrigin("t", "c"),
  });
  expect(await on("content", { path: "a" })).toBe("one\n2\n3\n4\nfive\n");
  expect(await on("content", { path: "gone" })).toBe("y\n");
  expect(await on("content", { path: "kept" })).toBe("K\n");
  expect(landed.overlaps.map(({ path }: { path: string }) => path).sort()).toEqual(["gone", "kept"]);
  expect(landed.version.changes).toHaveLength(3);
  // What a shell did is taken but for what cannot be, and what was moved there stays where it was.
  for (const since of [[], [createWrite("other", "x")]]) {
    const { id } = await on("commit", {
      edits: [
        createWrite("src/m.ts", `m ${since.length}\n`),
        createWrite("src/n.ts", "n"),
        createWrite("a", `${since.length}\n`),
      ],
    });
    if (since.length > 0) await on("commit", { edits: since });
    const edits = [
      createWrite("A", "twin"),
      createWrite("fine", `${since.length}`),
      { move: "src/m.ts", to: "SRC/m.ts" },
      createWrite("a/b", "x"),
    ];
    expect(await on("land", { base: id, edits })).toMatchObject({ refused: "conflict" });
    const partly = await on("land", { base: id, edits, options: { dropInvalid: true } });
    expect(partly.overlaps.map(({ path }: { path: string }) => path).sort()).toEqual(["A", "SRC/m.ts", "a/b"]);
    expect(partly.version.changes).toMatchObject([{ path: "fine" }]);
    expect(await on("content", { path: "src/m.ts" })).toBe(`m ${since.length}\n`);
  }
});

test("a branch goes its own way, and comes back", async () => {
  const on = desk("branches");
  await on("commit", { edits: [createWrite("a", "1\n2\n3\n4\n5\n"), createWrite("b", "b\n")] });
  expect(await on("branch", { order: { name: "try" } })).toMatchObject({ id: "try", from: "main", at: 1, changed: 0 });
  expect(await on("branch", { order: { name: "try" } })).toMatchObject({ refused: "conflict" });
  await on("commit", {
    edits: [createWrite("a", "1\n2\n3\n4\nFIVE\n"), { delete: "b" }, createWrite("c", "c\n")],
    options: { branch: "try" },
  });
  await on("commit", { edits: [createWrite("a", "ONE\n2\n3\n4\n5\n")] });
  expect(await on("whole", { at: { branch: "try", version: 1 } })).toEqual(await on("whole", { at: { version: 1 } }));
  expect((await on("branches"))[0].changed).toBe(1);
  expect(await on("merge", { name: "try", order: { dryRun: true } })).toMatchObject({
    overlaps: [],
    changes: [{ path: "a" }, { path: "b", kind: "delete" }, { path: "c", kind: "add" }],
  });
  expect(await on("merge", { name: "try" })).toMatchObject({ overlaps: [], version: { merges: "try" } });
  expect(await on("whole")).toEqual([
    ["a", "ONE\n2\n3\n4\nFIVE\n"],
    ["c", "c\n"],
  ]);
  // Nothing is brought twice, and the next overlap is seen against what was brought.
  expect(await on("merge", { name: "try" })).toEqual({ overlaps: [], changes: [] });
  expect(await on("merge", { name: "main", order: { into: "try" } })).toMatchObject({ overlaps: [] });
  expect(await on("whole", { at: { branch: "try" } })).toEqual(await on("whole"));
  await on("commit", { edits: [createWrite("c", "mine\n")] });
  await on("commit", { edits: [createWrite("c", "theirs\n")], options: { branch: "try" } });
  expect((await on("merge", { name: "try" })).overlaps).toMatchObject([{ path: "c", line: 1 }]);
  expect(await on("content", { path: "c" })).toBe("<<<<<<< main\nmine\n=======\ntheirs\n>>>>>>> try\n");
  await on("branch", { order: { name: "old", version: 1 } });
  expect(await on("whole", { at: { branch: "old" } })).toEqual(await on("whole", { at: { version: 1 } }));
  expect(await on("merge", { name: "try", order: { into: "old" } })).toMatchObject({ refused: "conflict" });
  // What was brought and then thrown away is not brought again.
  await on("commit", { edits: [{ delete: "c" }] });
  expect(await on("merge", { name: "try" })).toEqual({ overlaps: [], changes: [] });
  await on("branch", { order: { name: "inner", from: "try" } });
  expect(await on("remove", { name: "try" })).toMatchObject({ refused: "conflict" });
  await on("remove", { name: "inner" });
  await on("remove", { name: "try" });
  expect(await on("whole", { at: { branch: "try" } })).toMatchObject({ refused: "not_found" });
  expect(await on("remove", { name: "main" })).toMatchObject({ refused: "conflict" });
});

test("what was before a branch is read where it came from", async () => {
  const on = desk("before-branch");
  for (const content of ["1", "2"]) await on("commit", { edits: [createWrite("a", content)] });
  await on("branch", { order: { name: "late" } });
  await on("commit", { edits: [createWrite("a", "3")] });
  await on("commit", { edits: [createWrite("a", "4")], options: { branch: "late" } });
  const seen = await Promise.all(
    [1, 2, 3, 4].map((version) => on("content", { path: "a", at: { branch: "late", version } })),
  );
  expect(seen).toEqual(["1", "2", "2", "4"]);
});

test("one's typing is one version while it goes on", async () => {
  const on = desk("typing");
  const typed = { origin: { kind: "user", user: "ann" }, options: { joins: true } };
  await on("commit", { edits: [createWrite("a", "")] });
  for (const content of ["h", "he", "hey"]) await on("commit", { edits: [createWrite("a", content)], ...typed });
  expect(await on("latest")).toBe(2);
  expect((await on("diff", { id: 2 })).diffs).toMatchObject([{ kind: "edit", added: 1 }]);
  await on("commit", {
    edits: [createWrite("a", "hey!")],
    origin: { kind: "user", user: "ben" },
    options: { joins: true },
  });
  expect(await on("latest")).toBe(3);
  await on("commit", { edits: [createWrite("b", "x")], ...typed });
  await on("commit", { edits: [{ delete: "b" }], ...typed });
  // Whoever has seen a version can rely on it.
  expect(await on("latest")).toBe(4);
  expect((await on("versions", { order: { limit: 1 } })).versions).toMatchObject([{ id: 4, changes: [] }]);
  await on("commit", { edits: [createWrite("b", "y")], ...typed });
  await on("commit", { edits: [createWrite("b", "yy")], ...typed });
  await on("age", { id: 30_000 });
  await on("commit", { edits: [createWrite("b", "z")], ...typed });
  expect(await on("latest")).toBe(6);
  expect(await on("content", { path: "b", at: { version: 5 } })).toBe("yy");
  expect(await on("content", { path: "a", at: { version: 1 } })).toBe("");
  expect(await on("content", { path: "a", at: { version: 2 } })).toBe("hey");
  expect(await on("followed", { edits: [createWrite("a", "z")], ...typed })).toMatchObject([
    { branch: "main", changes: [{ path: "a", before: "hey!", after: "z" }] },
  ]);
});

test("nobody has to go far to find an old text", async () => {
  const on = desk("copies");
  const lines = Array.from({ length: 50 }, (_, number) => `line ${number}`);
  const texts = Array.from({ length: 100 }, (_, number) =>
    lines.toSpliced(number % 50, 1, `edit ${number}`).join("\n"),
  );
  for (const content of texts) await on("commit", { edits: [createWrite("a", content)] });
  // The first is one, and every so many changes there is another.
  expect((await on("copies")).count).toBe(4);
  for (const version of [1, 2, 33, 34, 35, 66, 67, 68, 99, 100])
    expect(await on("content", { path: "a", at: { version } })).toBe(texts[version - 1]);
});

test("old versions go when the host is told so, and everybody is told that they went", async () => {
  const on = desk("retention");
  await on("limits", { order: { retainVersions: 20 } });
  for (let number = 1; number <= 100; number++)
    await on("commit", {
      edits: [createWrite("a", `${number}\n`), ...(number % 10 === 0 ? [createWrite(`f${number}`, "x")] : [])],
    });
  const { oldest, versions } = await on("versions", { order: { limit: 200 } });
  expect(oldest).toBeGreaterThan(1);
  expect(versions.length).toBe(100 - oldest + 1);
  expect(await on("content", { path: "a", at: { version: 3 } })).toMatchObject({ refused: "not_found" });
  for (let id = oldest; id <= 100; id++)
    expect(await on("content", { path: "a", at: { version: id } })).toBe(`${id}\n`);
  expect((await on("events")).filter(({ type }: { type: string }) => type === "files.pruned").length).toBeGreaterThan(
    0,
  );
  expect((await on("copies")).count).toBeLessThan(12);
  // What a branch needs to come back stays for as long as the branch.
  await on("branch", { order: { name: "slow" } });
  await on("commit", { edits: [createWrite("b", "branch\n")], options: { branch: "slow" } });
  for (let number = 0; number < 100; number++) await on("commit", { edits: [createWrite("a", `again ${number}\n`)] });
  expect((await on("versions", { order: { limit: 1 } })).oldest).toBeLessThanOrEqual(101);
  expect(await on("merge", { name: "slow" })).toMatchObject({ overlaps: [], changes: [{ path: "b", kind: "add" }] });
});

test("any history can be read at every version, and done again from nothing", async () => {
  const chance = createRandom("workspace");
  for (let round = 0; round < getRepeatCount("random histories", { sample: 1, full: 4 }); round++) {
    const on = desk(`history-${round}`);
    await simulateEdits(on, chance, 60);
  }
});
