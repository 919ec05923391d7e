import { expect, test } from "vitest";
import { createOrigin, createPicture, useWorkspaces, createWrite } from "./workspace-testbed.ts";

const openWorkspace = useWorkspaces();

const typing = { origin: { kind: "user", user: "ann" }, options: { joins: true } };

test.each([
  ["a commit", "commit", { edits: [createWrite("a", "changed\n"), createWrite("b", "new\n"), { delete: "c" }] }],
  [
    "a commit that joins the last version",
    "commit",
    { edits: [createWrite("typed", "more"), createWrite("a", "more")], ...typing },
  ],
  ["a revert", "revert", { params: { version: 2 } }],
  ["a merge", "merge", { name: "try" }],
  ["a new branch", "branch", { params: { name: "other" } }],
  ["a branch removal", "remove", { name: "try" }],
])("%s that fails at any statement changes nothing and notifies no subscriber", async (name, path, request) => {
  const call = openWorkspace(name);
  await call("commit", { edits: [createWrite("a", "one\n"), createWrite("c", "c\n")] });
  await call("commit", { edits: [createWrite("a", "two\n")] });
  await call("branch", { params: { name: "try" } });
  await call("commit", { edits: [createWrite("d", "d\n")], options: { branch: "try" } });
  const states = await call("failAtEachStatement", { path, ...request });
  expect(states.length).toBeGreaterThan(4);
  for (const { before, after } of states) expect(after).toEqual({ ...before, commits: [] });
});

test("typing leaves no unused copies behind", async () => {
  const call = openWorkspace("typed-copies");
  let text = "";
  for (let version = 0; version < 40; version += 1) {
    for (let key = 0; key < 3; key += 1)
      await call("commit", { edits: [createWrite("new.txt", (text += `${version}-${key}\n`))], ...typing });
    // Reading the version ends it.
    await call("latest");
  }
  // A full copy of the first version, and one at intervals.
  expect((await call("copies")).count).toBe(2);
  expect(
    await call("sql", {
      path: "SELECT count(*) AS count FROM copies WHERE hash NOT IN (SELECT before_copy FROM changes WHERE before_copy NOT NULL UNION SELECT after_copy FROM changes WHERE after_copy NOT NULL)",
    }),
  ).toEqual([{ count: 0 }]);
  expect(await call("content", { path: "new.txt", at: { version: 1 } })).toBe(
    text.split("\n").slice(0, 3).join("\n") + "\n",
  );
});

test("a conflict copy gets a valid, unused path", async () => {
  const call = openWorkspace("conflict-copies");
  const long = `folder/${"é".repeat(124)}.png`;
  const names = [long, "logo.png"];
  for (const letter of ["a", "b", "c"])
    await call("commit", { edits: names.map((path) => createWrite(path, createPicture(letter))) });
  await call("commit", { edits: [createWrite("Logo.Before-2.png", createPicture("d"))] });
  const { overlaps } = await call("revert", { params: { version: 2 } });
  expect(overlaps.map(({ conflictCopy }: { conflictCopy: string }) => conflictCopy)).toEqual([
    expect.stringMatching(/^folder\/é+\.before-2\.png$/),
    "logo.before-2-2.png",
  ]);
  for (const { conflictCopy } of overlaps)
    expect(await call("content", { path: conflictCopy })).toEqual(createPicture("a"));
});

test("edits follow a file that is moved, whichever side moves it", async () => {
  const text = (...changed: string[]) => Array.from({ length: 6 }, (_, line) => `${changed[line] ?? line}\n`).join("");
  const both = [["b", text("mine", "1", "2", "3", "4", "theirs")]];
  const begin = async (name: string) => {
    const call = openWorkspace(name);
    await call("commit", { edits: [createWrite("a", text())] });
    await call("branch", { params: { name: "try" } });
    return call;
  };
  const [mine, theirs, moved] = [
    createWrite("a", text("mine")),
    createWrite("a", text("0", "1", "2", "3", "4", "theirs")),
    { move: "a", to: "b" },
  ];
  const there = { options: { branch: "try" } };
  for (const [name, here, away] of [
    ["moved there", [mine], [theirs, moved]],
    ["moved here", [mine, moved], [theirs]],
    ["moved by both", [mine, moved], [moved, createWrite("b", text("0", "1", "2", "3", "4", "theirs"))]],
  ] as const) {
    const call = await begin(name);
    for (const edit of here) await call("commit", { edits: [edit] });
    for (const edit of away) await call("commit", { edits: [edit], ...there });
    expect(await call("merge", { name: "try" }), name).toMatchObject({ overlaps: [] });
    expect(await call("contents"), name).toEqual(both);
  }
  const call = await begin("landed");
  await call("commit", { edits: [mine] });
  expect(await call("rebase", { base: 1, edits: [moved] })).toMatchObject({
    overlaps: [],
    version: { changes: [{ path: "b", kind: "move", from: "a" }] },
  });
  expect(
    await call("rebase", { base: 2, edits: [createWrite("a", text("mine", "1", "2", "3", "4", "theirs"))] }),
  ).toMatchObject({ overlaps: [] });
  expect(await call("contents")).toEqual(both);
  // Reverting an edit applies to the file's new path; reverting the move keeps later edits.
  expect(await call("revert", { params: { version: 2 } })).toMatchObject({ overlaps: [] });
  expect(await call("revert", { params: { version: 3 } })).toMatchObject({ overlaps: [] });
  expect(await call("contents")).toEqual([["a", text("0", "1", "2", "3", "4", "theirs")]]);
});

test("a conflicting merge is rejected as a whole, also as a dry run, and succeeds once the conflict is resolved", async () => {
  const call = openWorkspace("refused");
  await call("commit", { edits: [createWrite("a", "a\n")] });
  await call("branch", { params: { name: "try" } });
  await call("commit", {
    edits: [createWrite("a", "A\n"), createWrite("Readme.md", "theirs"), createWrite("notes/b", "b")],
    options: { branch: "try" },
  });
  await call("commit", { edits: [createWrite("README.md", "mine"), createWrite("notes", "file")] });
  const expectRejected = async (code: string) => {
    const before = [await call("contents"), await call("branches"), await call("latest")];
    for (const dryRun of [true, false])
      expect(await call("merge", { name: "try", params: { dryRun } })).toMatchObject({ errorCode: code });
    expect([await call("contents"), await call("branches"), await call("latest")]).toEqual(before);
  };
  await expectRejected("conflict");
  await call("commit", { edits: [{ move: "Readme.md", to: "Guide.md" }], options: { branch: "try" } });
  await expectRejected("conflict");
  await call("commit", { edits: [{ move: "notes", to: "old-notes" }] });
  await call("limits", { params: { maxFiles: 4 } });
  await expectRejected("too_large");
  await call("limits", { params: { maxFiles: 5 } });
  expect(await call("merge", { name: "try" })).toMatchObject({ overlaps: [] });
  expect(await call("contents")).toEqual([
    ["Guide.md", "theirs"],
    ["README.md", "mine"],
    ["a", "A\n"],
    ["notes/b", "b"],
    ["old-notes", "file"],
  ]);
});

test.each([
  [
    "added on both sides, as text and as an image",
    undefined,
    "text\n",
    createPicture("a"),
    { x: "text\n", "x.try": createPicture("a") },
  ],
  ["added on both sides with the same text", undefined, "text\n", "text\n", { x: "text\n" }],
  [
    "added on both sides with different texts",
    undefined,
    "one\nmine\n",
    "one\ntheirs\n",
    { x: "one\n<<<<<<< main\nmine\n=======\ntheirs\n>>>>>>> try\n" },
  ],
  ["changed here and deleted there", "text\n", "mine\n", undefined, { x: "mine\n" }],
  ["deleted here and changed there", "text\n", undefined, "theirs\n", { x: "theirs\n" }],
  ["deleted on both sides", "text\n", undefined, undefined, {}],
  [
    "replaced by an image here and changed there",
    "text\n",
    createPicture("a"),
    "theirs\n",
    { x: createPicture("a"), "x.try": "theirs\n" },
  ],
  [
    "given other line endings here and another line there",
    "1\n2\n3",
    "1\r\n2\r\n3",
    "1\n2\n3\n4",
    { x: "1\r\n2\r\n3\r\n4" },
  ],
  [
    "given a byte order mark here and another line there",
    "1\n2\n3\n",
    "\ufeff1\n2\n3\n",
    "1\n2\nthree\n",
    { x: "\ufeff1\n2\nthree\n" },
  ],
])("a merge loses nothing of a file that is %s", async (name, base, mine, theirs, expected) => {
  const call = openWorkspace(name);
  const change = (content: unknown, options = {}) =>
    call("commit", { edits: [content === undefined ? { delete: "x" } : createWrite("x", content)], options });
  if (base !== undefined) await change(base);
  await call("branch", { params: { name: "try" } });
  if (mine !== base) await change(mine);
  if (theirs !== base) await change(theirs, { branch: "try" });
  await call("merge", { name: "try" });
  expect(Object.fromEntries(await call("contents"))).toEqual(expected);
  expect(await call("merge", { name: "try" })).toEqual({ changes: [], overlaps: [] });
});

test("edits on an older version are applied in order, as on the latest", async () => {
  const call = openWorkspace("in-turn");
  await call("commit", {
    edits: [
      createWrite("a", "a\n"),
      createWrite("b", "b\n"),
      createWrite("same", "same\n"),
      createWrite("folder/f", "f\n"),
    ],
  });
  await call("commit", { edits: [createWrite("other", "o\n")] });
  const edits = [
    { move: "a", to: "c" },
    { move: "b", to: "a" },
    { move: "c", to: "b" },
    createWrite("new", "n\n"),
    { move: "new", to: "newer" },
    { move: "same", to: "same" },
    { move: "folder", to: "away" },
    createWrite("away/f", "F\n"),
    { delete: "away" },
    createWrite("folder/g", "g\n"),
  ];
  expect(await call("rebase", { base: 1, edits })).toMatchObject({ overlaps: [] });
  expect(await call("contents")).toEqual([
    ["a", "b\n"],
    ["b", "a\n"],
    ["folder/g", "g\n"],
    ["newer", "n\n"],
    ["other", "o\n"],
    ["same", "same\n"],
  ]);
  // A base in the future does not exist.
  expect(await call("rebase", { base: 99, edits: [createWrite("a", "late\n")] })).toMatchObject({
    errorCode: "not_found",
  });
});

test("a file that was moved back, or moved and deleted, stays where others changed it", async () => {
  const call = openWorkspace("moved-back");
  await call("commit", { edits: [createWrite("src/a", "a\n"), createWrite("src/b", "b\n")] });
  await call("commit", { edits: [createWrite("src/a", "A\n"), createWrite("src/b", "B\n")] });
  const back = [
    { move: "src", to: "elsewhere" },
    { move: "elsewhere", to: "src" },
  ];
  expect(await call("rebase", { base: 1, edits: back })).toMatchObject({ overlaps: [] });
  const deleted = [{ move: "src/b", to: "c" }, { delete: "c" }];
  expect(await call("rebase", { base: 1, edits: deleted })).toMatchObject({ overlaps: [{ path: "src/b" }] });
  expect(await call("contents")).toEqual([
    ["src/a", "A\n"],
    ["src/b", "B\n"],
  ]);
});

test("pruned versions and removed branches leave no copies behind, and those still needed stay", async () => {
  const call = openWorkspace("dropped-copies");
  const unused = {
    path: "SELECT count(*) AS count FROM copies WHERE hash NOT IN (SELECT before_copy FROM changes WHERE before_copy NOT NULL UNION SELECT after_copy FROM changes WHERE after_copy NOT NULL)",
  };
  await call("limits", { params: { retainVersions: 10 } });
  await call("commit", { edits: [createWrite("kept", "kept")] });
  // Each adds a file and deletes the one before, so each stores a copy of its own.
  for (let number = 1; number <= 100; number++)
    await call("commit", {
      edits: [createWrite(`f${number}`, `text ${number}`), ...(number > 1 ? [{ delete: `f${number - 1}` }] : [])],
    });
  const { oldest } = await call("versions", { params: { limit: 1 } });
  expect(oldest).toBeGreaterThan(50);
  expect(await call("sql", unused)).toEqual([{ count: 0 }]);
  for (let version = oldest; version <= 101; version++)
    expect(await call("content", { path: `f${version - 1}`, at: { version } })).toBe(`text ${version - 1}`);
  const before = (await call("copies")).count;
  await call("branch", { params: { name: "other" } });
  await call("commit", {
    edits: [createWrite("own", "only here"), createWrite("shared", "text 100")],
    options: { branch: "other" },
  });
  expect((await call("copies")).count).toBe(before + 1);
  await call("remove", { name: "other" });
  expect((await call("copies")).count).toBe(before);
  expect(await call("content", { path: "f100", at: { version: 101 } })).toBe("text 100");
});

test("many invalid paths are detected in linear time", async () => {
  const call = openWorkspace("drop-invalid");
  await call("commit", { edits: [createWrite("src/a.ts", "a")] });
  const countStatements = async (count: number) => {
    const edits = Array.from({ length: count }, (_, number) => [
      createWrite(`A${count}/${number}.ts`, "fine"),
      createWrite(`SRC/${number}.ts`, "no"),
    ]).flat();
    return (await call("countStatements", {
      base: await call("latest"),
      edits,
      options: { dropInvalid: true },
    })) as number;
  };
  expect((await countStatements(200)) / (await countStatements(50))).toBeLessThan(6);
  expect(await call("list")).toMatchObject({ version: 3, files: { length: 251 } });
  // A file whose move is invalid stays, and blocks others from its path.
  await call("commit", { edits: [createWrite("a", "a")] });
  const { overlaps } = await call("rebase", {
    base: 4,
    edits: [{ move: "a", to: "srC/a" }, createWrite("A", "twin"), createWrite("b", "b")],
    options: { dropInvalid: true },
  });
  expect(overlaps.map(({ path }: { path: string }) => path)).toEqual(["srC/a", "A"]);
  expect([
    await call("content", { path: "a" }),
    await call("content", { path: "b" }),
    await call("content", { path: "A" }),
  ]).toEqual(["a", "b", null]);
});

test("a clock that was wrong for a while does not prune recent history", async () => {
  const call = openWorkspace("clock");
  await call("limits", { params: { retainDays: 1 } });
  for (let number = 1; number <= 49; number += 1) await call("commit", { edits: [createWrite("a", `${number}\n`)] });
  await call("sql", { path: "UPDATE versions SET until = 0, at = 0 WHERE id = 49 OR id < 10" });
  await call("commit", { edits: [createWrite("a", "50\n")] });
  expect((await call("versions", { params: { limit: 1 } })).oldest).toBe(10);
  expect(await call("content", { path: "a", at: { version: 10 } })).toBe("10\n");
});

test("a branch from an event has the files of that time, even if its parent was created later", async () => {
  const call = openWorkspace("event");
  for (const content of ["1", "2"]) await call("commit", { edits: [createWrite("a", content)] });
  await call("branch", { params: { name: "try" } });
  await call("commit", { edits: [createWrite("a", "3")], options: { branch: "try" } });
  await call("commit", { edits: [createWrite("a", "4")] });
  await call("sql", { path: "UPDATE versions SET event = id * 10" });
  const at = async (event: number, from: string) => {
    const { id } = await call("branch", { params: { from, event } });
    return call("contents", { at: { branch: id } });
  };
  expect(
    await Promise.all(
      [
        [15, "try"],
        [25, "try"],
        [35, "try"],
        [45, "try"],
        [45, "main"],
        [35, "main"],
        [5, "try"],
      ].map(([event, from]) => at(event as number, from as string)),
    ),
  ).toEqual(["1", "2", "3", "3", "4", "2"].map((content) => [["a", content]]).concat([[]]));
});

test("removing a branch is recorded with the number of its versions", async () => {
  const call = openWorkspace("removed");
  await call("commit", { edits: [createWrite("a", "1")] });
  await call("branch", { params: { name: "try" } });
  for (const content of ["2", "3"])
    await call("commit", { edits: [createWrite("a", content)], options: { branch: "try" } });
  await call("remove", { name: "try", origin: createOrigin("t") });
  expect((await call("events")).at(-1)).toEqual({
    type: "files.pruned",
    data: { branch: "try", upTo: 3, versions: 2, by: createOrigin("t") },
  });
});

test("removing a branch leaves what other branches are based on, and a new one of that name has none of its versions", async () => {
  const call = openWorkspace("based");
  for (const name of ["first", "second"]) await call("branch", { params: { name } });
  for (const name of ["first", "second"])
    await call("commit", { edits: [createWrite(name, "1")], options: { branch: name } });
  await call("merge", { name: "first" });
  await call("remove", { name: "first", origin: createOrigin("t") });
  // Both were created when there was no version at all.
  await call("merge", { name: "second" });
  expect([await call("content", { path: "first" }), await call("content", { path: "second" })]).toEqual(["1", "1"]);
  await call("branch", { params: { name: "first" } });
  expect((await call("versions", { params: { branch: "first" } })).versions).toEqual([]);
});

test("a branch of an unchanged branch is merged into that branch, not into main", async () => {
  const call = openWorkspace("grandchild");
  await call("commit", { edits: [createWrite("a", "one\n")] });
  await call("branch", { params: { name: "child" } });
  expect(await call("branch", { params: { name: "grandchild", from: "child" } })).toMatchObject({
    from: "child",
    at: 1,
  });
  await call("commit", { edits: [createWrite("a", "two\n")], options: { branch: "grandchild" } });
  await call("merge", { name: "grandchild" });
  expect([await call("content", { path: "a" }), await call("content", { path: "a", at: { branch: "child" } })]).toEqual(
    ["one\n", "two\n"],
  );
});

test("pages of an older version have the same order as the latest, for any characters", async () => {
  const call = openWorkspace("letters");
  const names = ["a", "ｆ", "😀"];
  await call("commit", { edits: names.map((path) => createWrite(path, "1")) });
  await call("commit", { edits: names.map((path) => createWrite(path, "2")) });
  const pages = await Promise.all(["", ...names].map((after) => call("list", { at: { version: 1, after } })));
  expect(pages.map((page) => page.files.map(({ path }: { path: string }) => path))).toEqual([
    names,
    ["ｆ", "😀"],
    ["😀"],
    [],
  ]);
});
