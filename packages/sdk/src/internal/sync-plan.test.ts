import { expect, test } from "vitest";
import { createRandom, type Random } from "../../../../tests/kit/random.ts";
import { getRepeatCount } from "../../../../tests/kit/sample.ts";
import {
  combineMoves,
  countVanished,
  detectMoves,
  FileDiff,
  type FileIndex,
  planSync,
  type SyncSides,
  type SyncStep,
} from "./sync-plan.ts";

type Files = Record<string, string>;

const toIndex = (files: Files): FileIndex<string> => new Map(Object.entries(files));

const allKnown = () => false;

function toSides(base: Files, here: Files, there: Files): SyncSides<string> {
  return { base: toIndex(base), here: toIndex(here), there: toIndex(there) };
}

function createDiff(before: Files, after: Files): FileDiff<string> {
  const diff = new FileDiff<string>();
  for (const path of Object.keys({ ...before, ...after })) diff.record(path, before[path], after[path]);
  return diff;
}

/** Random files as they can exist on a disk: no path is both a file and a folder. */
function randomFiles({ below, pick }: Random, from: Files = {}): Files {
  const files = { ...from };
  for (let edits = below(7); edits > 0; edits--) {
    const path = Array.from({ length: 1 + below(3) }, () => pick(["a", "b", "c"])).join("/");
    const known = pick([path, ...Object.keys(files)]);
    const text = `text ${below(3)}`;
    pick([
      () => void delete files[known],
      () => void (files[path] = text),
      () => {
        const moved = files[known];
        delete files[known];
        if (moved !== undefined) files[path] = moved;
      },
    ])();
    for (const other of Object.keys(files)) if (isInside(other, path) || isInside(path, other)) delete files[other];
  }
  return files;
}

const isInside = (path: string, folder: string) => path.startsWith(`${folder}/`);

function assertFree(files: Files, path: string): void {
  const other = Object.keys(files).find((name) => name === path || isInside(name, path) || isInside(path, name));
  if (other !== undefined) throw new Error(`${other} is in the way of ${path}`);
}

test("a diff contains what was added, edited and deleted, and nothing else", () => {
  const diff = createDiff({ same: "1", edited: "1", deleted: "1" }, { same: "1", edited: "2", added: "3" });
  expect([...diff.written]).toEqual([
    ["edited", "2"],
    ["added", "3"],
  ]);
  expect([[...diff.edited], [...diff.deleted], diff.size]).toEqual([["edited"], [["deleted", "1"]], 3]);
  const changed = ["same", "edited", "deleted", "added"].filter((path) => diff.has(path));
  expect(changed).toEqual(["edited", "deleted", "added"]);
});

test("a diff compares files with the given function and returns whether a file changed", () => {
  const diff = new FileDiff<{ hash: string; size: number }>((one, other) => one.hash === other.hash);
  expect(diff.record("a", { hash: "1", size: 1 }, { hash: "1", size: 2 })).toBe(false);
  expect(diff.record("b", { hash: "1", size: 1 }, { hash: "2", size: 1 })).toBe(true);
  expect(diff.record("c", undefined, undefined)).toBe(false);
  expect(diff.record("d", { hash: "1", size: 1 }, undefined)).toBe(true);
  expect([...diff.written.keys(), ...diff.deleted.keys()]).toEqual(["b", "d"]);
});

test("a move is detected from a deleted file to an added one with the same content, preferably the same name", () => {
  const before = { "src/x": "1", "src/y": "1", "src/z": "2", gone: "3" };
  expect([...detectMoves(createDiff(before, { "lib/y": "1", "lib/x": "1", "lib/q": "1", "lib/z": "2!" }))]).toEqual([
    ["src/y", "lib/y"],
    ["src/x", "lib/x"],
  ]);
});

test("neither a copy nor an overwritten file is a move", () => {
  expect([...detectMoves(createDiff({ a: "1" }, { a: "1", b: "1" }))]).toEqual([]);
  expect([...detectMoves(createDiff({ a: "1", b: "2" }, { b: "1" }))]).toEqual([]);
});

test("a file that replaces a folder, or whose folder replaces a file, is not a move", () => {
  expect([...detectMoves(createDiff({ a: "1" }, { "a/b": "1" }))]).toEqual([]);
  expect([...detectMoves(createDiff({ "a/b": "1", c: "2" }, { a: "2" }))]).toEqual([]);
});

test("moves can be detected by a custom identity", () => {
  const body = {};
  const diff = new FileDiff<{ body: object }>((one, other) => one.body === other.body);
  diff.record("a", { body }, undefined);
  diff.record("b", undefined, { body });
  expect([...detectMoves(diff)]).toEqual([]);
  expect([...detectMoves(diff, (file) => file.body)]).toEqual([["a", "b"]]);
});

test("for random changes, deletions, then moves, then writes can be applied and give the same files", () => {
  const source = createRandom("moves of a diff");
  let moveCount = 0;
  for (let round = 0; round < getRepeatCount("random diffs", { sample: 2000, full: 20_000 }); round++) {
    const before = randomFiles(source, randomFiles(source));
    const after = randomFiles(source, before);
    const diff = createDiff(before, after);
    const moves = detectMoves(diff);
    const targets = new Set(moves.values());
    expect(targets.size).toBe(moves.size);
    const files = { ...before };
    for (const path of diff.deleted.keys()) if (!moves.has(path)) delete files[path];
    for (const [from, to] of source.shuffle(moves)) {
      const text = files[from] as string;
      assertFree(files, to);
      delete files[from];
      files[to] = text;
    }
    for (const [path, text] of diff.written) {
      if (targets.has(path)) continue;
      if (!diff.edited.has(path)) assertFree(files, path);
      files[path] = text;
    }
    expect(files).toEqual(after);
    moveCount += moves.size;
  }
  expect(moveCount).toBeGreaterThan(100);
});

test.each([
  ["nothing changed", "1", "1", "1", "agreed"],
  ["both made the same change", "1", "2", "2", "agreed"],
  ["both added the same", undefined, "1", "1", "agreed"],
  ["both deleted it", "1", undefined, undefined, "agreed"],
  ["it was changed there", "1", "1", "2", "fetch"],
  ["it was added there", undefined, undefined, "1", "fetch"],
  ["it was changed here", "1", "2", "1", "send"],
  ["it was added here", undefined, "1", undefined, "send"],
  ["it was deleted there", "1", "1", undefined, "removeHere"],
  ["it was deleted here", "1", undefined, "1", "removeThere"],
  ["it was deleted here and changed there", "1", undefined, "2", "fetch"],
  ["it was changed here and deleted there", "1", "2", undefined, "send"],
  ["both changed it", "1", "2", "3", "conflict"],
  ["both added it with different content", undefined, "1", "2", "conflict"],
])("if %s", (_, base, here, there, action) => {
  const side = (id: string | undefined) => new Map([["path", id]]);
  const { agreed, steps } = planSync({ base: side(base), here: side(here), there: side(there) }, allKnown);
  expect([...agreed.map((path) => ({ path, action: "agreed" })), ...steps]).toEqual([{ path: "path", action }]);
});

test("nothing is planned for a file whose state is unknown", () => {
  const sides = toSides({ a: "1", b: "1" }, { a: "1" }, { a: "2", c: "1" });
  const plan = planSync(sides, (path) => path !== "c");
  expect(plan).toEqual({ agreed: [], steps: [{ path: "c", action: "fetch" }], skipped: ["a", "b"] });
});

test("a file that is removed there and sent to another path is moved; a fetched file is not", () => {
  const sides = toSides({ a: "1", b: "2" }, { c: "1", b: "2" }, { a: "1", d: "2" });
  expect(combineMoves(planSync(sides, allKnown).steps, sides)).toEqual([
    { path: "d", action: "fetch" },
    { path: "c", action: "moveThere", from: "a" },
    { path: "b", action: "removeHere" },
  ]);
});

test("a file that the other side has under another name has not vanished", () => {
  const sides = toSides({ a: "1", b: "2", c: "3", d: "4" }, { b: "2", c: "3", e: "1" }, { a: "1", d: "4", f: "2" });
  expect(countVanished(planSync(sides, allKnown).steps, sides)).toEqual({ here: 1, there: 1 });
});

/** Applies a plan to both sides. A conflict keeps both versions. */
function applyPlan(steps: readonly SyncStep[], here: Files, there: Files): { here: Files; there: Files } {
  const sides = { here: { ...here }, there: { ...there } };
  for (const step of steps) {
    const { path, action } = step;
    if (action === "fetch") sides.here[path] = there[path] as string;
    else if (action === "send") sides.there[path] = here[path] as string;
    else if (action === "removeHere") delete sides.here[path];
    else if (action === "removeThere") delete sides.there[path];
    else if (action === "moveThere") {
      sides.there[path] = there[step.from] as string;
      delete sides.there[step.from];
    } else {
      sides.here[`${path}.theirs`] = sides.there[`${path}.theirs`] = there[path] as string;
      sides.there[path] = here[path] as string;
    }
  }
  return sides;
}

test("for random changes, both sides become equal, no change is lost, and nothing is left to do", () => {
  const source = createRandom("sync plans");
  for (let round = 0; round < getRepeatCount("random sync plans", { sample: 2000, full: 20_000 }); round++) {
    const base = randomFiles(source, randomFiles(source));
    const [here, there] = [randomFiles(source, base), randomFiles(source, base)];
    const sides = toSides(base, here, there);
    const { steps, agreed } = planSync(sides, allKnown);
    const paths = [...agreed, ...steps.map(({ path }) => path)];
    expect(paths.sort()).toEqual(Object.keys({ ...base, ...here, ...there }).sort());

    const after = applyPlan(combineMoves(source.shuffle(steps), sides), here, there);
    expect(after.here).toEqual(after.there);
    const [ours, theirs] = [createDiff(base, here), createDiff(base, there)];
    for (const [path, text] of ours.written) expect(after.here[path]).toBe(text);
    for (const [path, text] of theirs.written) {
      expect([after.here[path], after.here[`${path}.theirs`]]).toContain(text);
    }
    for (const path of ours.deleted.keys()) expect(path in after.here).toBe(theirs.written.has(path));
    for (const path of theirs.deleted.keys()) expect(path in after.here).toBe(ours.written.has(path));
    for (const [path, text] of Object.entries(base)) {
      if (!ours.has(path) && !theirs.has(path)) expect(after.here[path]).toBe(text);
    }
    expect(planSync(toSides(after.here, after.here, after.there), allKnown).steps).toEqual([]);
  }
});

test("a plan is the mirror image of the plan for swapped sides", () => {
  const source = createRandom("mirrored sync plans");
  const opposite = {
    fetch: "send",
    send: "fetch",
    removeHere: "removeThere",
    removeThere: "removeHere",
    conflict: "conflict",
  } as const;
  for (let round = 0; round < 200; round++) {
    const base = randomFiles(source);
    const [here, there] = [randomFiles(source, base), randomFiles(source, base)];
    const ours = planSync(toSides(base, here, there), allKnown).steps;
    const theirs = planSync(toSides(base, there, here), allKnown).steps;
    const mirrored = theirs.map(({ path, action }) => [path, opposite[action]] as const);
    expect(new Map(ours.map(({ path, action }) => [path, action]))).toEqual(new Map(mirrored));
  }
});
