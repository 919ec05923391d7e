import { expect, test } from "vitest";
import { createOrigin, createPicture, useDesks, createWrite } from "./workspace-life.ts";

const desk = useDesks();

const typing = { origin: { kind: "user", user: "ann" }, options: { joins: true } };

test.each([
  ["a commit", "commit", { edits: [createWrite("a", "changed\n"), createWrite("b", "new\n"), { delete: "c" }] }],
  ["typing that goes on", "commit", { edits: [createWrite("typed", "more"), createWrite("a", "more")], ...typing }],
  ["a revert", "revert", { order: { version: 2 } }],
  ["a merge", "merge", { name: "try" }],
  ["a new branch", "branch", { order: { name: "other" } }],
  ["the end of a branch", "remove", { name: "try" }],
])("%s that fails at any statement changes nothing, and nobody is told of it", async (name, path, asked) => {
  const on = desk(name);
  await on("commit", { edits: [createWrite("a", "one\n"), createWrite("c", "c\n")] });
  await on("commit", { edits: [createWrite("a", "two\n")] });
  await on("branch", { order: { name: "try" } });
  await on("commit", { edits: [createWrite("d", "d\n")], options: { branch: "try" } });
  const states = await on("without", { path, ...asked });
  expect(states.length).toBeGreaterThan(4);
  for (const { before, after } of states) expect(after).toEqual({ ...before, told: [] });
});

test("typing leaves no more copies behind than there are versions, and old texts stay near", async () => {
  const on = desk("typed-copies");
  let text = "";
  for (let version = 0; version < 40; version += 1) {
    for (let key = 0; key < 3; key += 1)
      await on("commit", { edits: [createWrite("new.txt", (text += `${version}-${key}\n`))], ...typing });
    // Whoever looks ends it.
    await on("latest");
  }
  // The first version is the whole file as it was then, and every so many there is another.
  expect((await on("copies")).count).toBe(2);
  expect(
    await on("sql", {
      path: "SELECT count(*) AS count FROM copies WHERE hash NOT IN (SELECT before_copy FROM changes WHERE before_copy NOT NULL UNION SELECT after_copy FROM changes WHERE after_copy NOT NULL)",
    }),
  ).toEqual([{ count: 0 }]);
  expect(await on("content", { path: "new.txt", at: { version: 1 } })).toBe(
    text.split("\n").slice(0, 3).join("\n") + "\n",
  );
});

test("what is put beside a file has a path that can be one, whatever is there already", async () => {
  const on = desk("beside");
  const long = `folder/${"é".repeat(124)}.png`;
  const names = [long, "logo.png"];
  for (const letter of ["a", "b", "c"])
    await on("commit", { edits: names.map((path) => createWrite(path, createPicture(letter))) });
  await on("commit", { edits: [createWrite("Logo.Before-2.png", createPicture("d"))] });
  const { overlaps } = await on("revert", { order: { version: 2 } });
  expect(overlaps.map(({ kept }: { kept: string }) => kept)).toEqual([
    expect.stringMatching(/^folder\/é+\.before-2\.png$/),
    "logo.before-2-2.png",
  ]);
  for (const { kept } of overlaps) expect(await on("content", { path: kept })).toEqual(createPicture("a"));
});

test("what is done to a file goes where the file goes, whoever moves it", async () => {
  const text = (...changed: string[]) => Array.from({ length: 6 }, (_, line) => `${changed[line] ?? line}\n`).join("");
  const both = [["b", text("mine", "1", "2", "3", "4", "theirs")]];
  const begin = async (name: string) => {
    const on = desk(name);
    await on("commit", { edits: [createWrite("a", text())] });
    await on("branch", { order: { name: "try" } });
    return on;
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
    const on = await begin(name);
    for (const edit of here) await on("commit", { edits: [edit] });
    for (const edit of away) await on("commit", { edits: [edit], ...there });
    expect(await on("merge", { name: "try" }), name).toMatchObject({ overlaps: [] });
    expect(await on("whole"), name).toEqual(both);
  }
  const on = await begin("landed");
  await on("commit", { edits: [mine] });
  expect(await on("land", { base: 1, edits: [moved] })).toMatchObject({
    overlaps: [],
    version: { changes: [{ path: "b", kind: "move", from: "a" }] },
  });
  expect(
    await on("land", { base: 2, edits: [createWrite("a", text("mine", "1", "2", "3", "4", "theirs"))] }),
  ).toMatchObject({ overlaps: [] });
  expect(await on("whole")).toEqual(both);
  // Taken back: an edit where the file is now, and the move with what was edited since.
  expect(await on("revert", { order: { version: 2 } })).toMatchObject({ overlaps: [] });
  expect(await on("revert", { order: { version: 3 } })).toMatchObject({ overlaps: [] });
  expect(await on("whole")).toEqual([["a", text("0", "1", "2", "3", "4", "theirs")]]);
});

test("a merge that cannot be is refused whole, by a trial too, and is made once there is room", async () => {
  const on = desk("refused");
  await on("commit", { edits: [createWrite("a", "a\n")] });
  await on("branch", { order: { name: "try" } });
  await on("commit", {
    edits: [createWrite("a", "A\n"), createWrite("Readme.md", "theirs"), createWrite("notes/b", "b")],
    options: { branch: "try" },
  });
  await on("commit", { edits: [createWrite("README.md", "mine"), createWrite("notes", "file")] });
  const refused = async (code: string) => {
    const before = [await on("whole"), await on("branches"), await on("latest")];
    for (const dryRun of [true, false])
      expect(await on("merge", { name: "try", order: { dryRun } })).toMatchObject({ refused: code });
    expect([await on("whole"), await on("branches"), await on("latest")]).toEqual(before);
  };
  await refused("conflict");
  await on("commit", { edits: [{ move: "Readme.md", to: "Guide.md" }], options: { branch: "try" } });
  await refused("conflict");
  await on("commit", { edits: [{ move: "notes", to: "old-notes" }] });
  await on("limits", { order: { maxFiles: 4 } });
  await refused("too_large");
  await on("limits", { order: { maxFiles: 5 } });
  expect(await on("merge", { name: "try" })).toMatchObject({ overlaps: [] });
  expect(await on("whole")).toEqual([
    ["Guide.md", "theirs"],
    ["README.md", "mine"],
    ["a", "A\n"],
    ["notes/b", "b"],
    ["old-notes", "file"],
  ]);
});

test.each([
  [
    "added by both, as text and as a picture",
    undefined,
    "text\n",
    createPicture("a"),
    { x: "text\n", "x.try": createPicture("a") },
  ],
  ["added by both alike", undefined, "text\n", "text\n", { x: "text\n" }],
  [
    "added by both as other texts",
    undefined,
    "one\nmine\n",
    "one\ntheirs\n",
    { x: "one\n<<<<<<< main\nmine\n=======\ntheirs\n>>>>>>> try\n" },
  ],
  ["changed here and deleted there", "text\n", "mine\n", undefined, { x: "mine\n" }],
  ["deleted here and changed there", "text\n", undefined, "theirs\n", { x: "theirs\n" }],
  ["deleted by both", "text\n", undefined, undefined, {}],
  [
    "a picture here, another text there",
    "text\n",
    createPicture("a"),
    "theirs\n",
    { x: createPicture("a"), "x.try": "theirs\n" },
  ],
  [
    "with other line ends here, and another line there",
    "1\n2\n3",
    "1\r\n2\r\n3",
    "1\n2\n3\n4",
    { x: "1\r\n2\r\n3\r\n4" },
  ],
  [
    "with a byte order mark here, and another line there",
    "1\n2\n3\n",
    "\ufeff1\n2\n3\n",
    "1\n2\nthree\n",
    { x: "\ufeff1\n2\nthree\n" },
  ],
])("of a file that is %s nothing is lost in a merge", async (name, base, mine, theirs, expected) => {
  const on = desk(name);
  const change = (content: unknown, options = {}) =>
    on("commit", { edits: [content === undefined ? { delete: "x" } : createWrite("x", content)], options });
  if (base !== undefined) await change(base);
  await on("branch", { order: { name: "try" } });
  if (mine !== base) await change(mine);
  if (theirs !== base) await change(theirs, { branch: "try" });
  await on("merge", { name: "try" });
  expect(Object.fromEntries(await on("whole"))).toEqual(expected);
  expect(await on("merge", { name: "try" })).toEqual({ changes: [], overlaps: [] });
});

test("edits on earlier files are made one after the other, as they would be on the files of now", async () => {
  const on = desk("in-turn");
  await on("commit", {
    edits: [
      createWrite("a", "a\n"),
      createWrite("b", "b\n"),
      createWrite("same", "same\n"),
      createWrite("folder/f", "f\n"),
    ],
  });
  await on("commit", { edits: [createWrite("other", "o\n")] });
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
  expect(await on("land", { base: 1, edits })).toMatchObject({ overlaps: [] });
  expect(await on("whole")).toEqual([
    ["a", "b\n"],
    ["b", "a\n"],
    ["folder/g", "g\n"],
    ["newer", "n\n"],
    ["other", "o\n"],
    ["same", "same\n"],
  ]);
  // Nobody can have made them on files that there were not yet.
  expect(await on("land", { base: 99, edits: [createWrite("a", "late\n")] })).toMatchObject({ refused: "not_found" });
});

test("of very many files that cannot be where they should be it is found out in one go", async () => {
  const on = desk("sift");
  await on("commit", { edits: [createWrite("src/a.ts", "a")] });
  const taken = async (count: number) => {
    const edits = Array.from({ length: count }, (_, number) => [
      createWrite(`A${count}/${number}.ts`, "fine"),
      createWrite(`SRC/${number}.ts`, "no"),
    ]).flat();
    return (await on("statements", { base: await on("latest"), edits, options: { dropInvalid: true } })) as number;
  };
  expect((await taken(200)) / (await taken(50))).toBeLessThan(6);
  expect(await on("list")).toMatchObject({ version: 3, files: { length: 251 } });
  // What has to stay where it was is in the way of what would have come there.
  await on("commit", { edits: [createWrite("a", "a")] });
  const { overlaps } = await on("land", {
    base: 4,
    edits: [{ move: "a", to: "srC/a" }, createWrite("A", "twin"), createWrite("b", "b")],
    options: { dropInvalid: true },
  });
  expect(overlaps.map(({ path }: { path: string }) => path)).toEqual(["srC/a", "A"]);
  expect([
    await on("content", { path: "a" }),
    await on("content", { path: "b" }),
    await on("content", { path: "A" }),
  ]).toEqual(["a", "b", null]);
});

test("a clock that was wrong for a while costs no history", async () => {
  const on = desk("clock");
  await on("limits", { order: { retainDays: 1 } });
  for (let number = 1; number <= 49; number += 1) await on("commit", { edits: [createWrite("a", `${number}\n`)] });
  await on("sql", { path: "UPDATE versions SET until = 0, at = 0 WHERE id = 49 OR id < 10" });
  await on("commit", { edits: [createWrite("a", "50\n")] });
  expect((await on("versions", { order: { limit: 1 } })).oldest).toBe(10);
  expect(await on("content", { path: "a", at: { version: 10 } })).toBe("10\n");
});

test("a branch as of an event is what there was then, also where its parent was made later", async () => {
  const on = desk("event");
  for (const content of ["1", "2"]) await on("commit", { edits: [createWrite("a", content)] });
  await on("branch", { order: { name: "try" } });
  await on("commit", { edits: [createWrite("a", "3")], options: { branch: "try" } });
  await on("commit", { edits: [createWrite("a", "4")] });
  await on("sql", { path: "UPDATE versions SET event = id * 10" });
  const at = async (event: number, from: string) => {
    const { id } = await on("branch", { order: { from, event } });
    return on("whole", { at: { branch: id } });
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

test("that a branch was removed, and how much with it, is told", async () => {
  const on = desk("removed");
  await on("commit", { edits: [createWrite("a", "1")] });
  await on("branch", { order: { name: "try" } });
  for (const content of ["2", "3"])
    await on("commit", { edits: [createWrite("a", content)], options: { branch: "try" } });
  await on("remove", { name: "try", origin: createOrigin("t") });
  expect((await on("events")).at(-1)).toEqual({
    type: "files.pruned",
    data: { branch: "try", upTo: 3, versions: 2, by: createOrigin("t") },
  });
});

test("a branch of a branch that has not changed yet is merged there, not into what both come from", async () => {
  const on = desk("grandchild");
  await on("commit", { edits: [createWrite("a", "one\n")] });
  await on("branch", { order: { name: "child" } });
  expect(await on("branch", { order: { name: "grandchild", from: "child" } })).toMatchObject({ from: "child", at: 1 });
  await on("commit", { edits: [createWrite("a", "two\n")], options: { branch: "grandchild" } });
  await on("merge", { name: "grandchild" });
  expect([await on("content", { path: "a" }), await on("content", { path: "a", at: { branch: "child" } })]).toEqual([
    "one\n",
    "two\n",
  ]);
});

test("earlier files are listed page by page in the order of today's, whatever their letters", async () => {
  const on = desk("letters");
  const names = ["a", "ｆ", "😀"];
  await on("commit", { edits: names.map((path) => createWrite(path, "1")) });
  await on("commit", { edits: names.map((path) => createWrite(path, "2")) });
  const pages = await Promise.all(["", ...names].map((after) => on("list", { at: { version: 1, after } })));
  expect(pages.map((page) => page.files.map(({ path }: { path: string }) => path))).toEqual([
    names,
    ["ｆ", "😀"],
    ["😀"],
    [],
  ]);
});
