import { expect, test } from "vitest";
import { createRandom } from "../../../../../../tests/kit/random.ts";
import { getRepeatCount } from "../../../../../../tests/kit/sample.ts";
import type { ShellChange } from "../../shell.ts";
import { listChanges, diffTrees } from "./changes.ts";
import { FileBody } from "./file-body.ts";
import { TreeFileSystem } from "./file-system.ts";
import { iterateFiles, type Folder, splitPath, Tree } from "./tree.ts";

const source = async (path: string) => `far ${path}`;
const limits = { changes: 1000, bytes: 100_000 };

function createTree(files: Record<string, string>): Folder {
  const tree = new Tree(undefined);
  for (const [path, text] of Object.entries(files))
    tree.put(splitPath(path), {
      kind: "file",
      body: text === "far" ? FileBody.ofRemote(path, 10) : FileBody.of(text),
      mtime: 0,
    });
  return tree.root;
}

async function readContents(root: Folder): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const [path, { body }] of iterateFiles(root)) {
    await body.load(source);
    all[path] = body.content();
  }
  return all;
}

/** Applies the changes in order, as a workspace does; each must be possible at its turn. */
function applyChanges(files: Record<string, unknown>, changes: readonly ShellChange[]): Record<string, unknown> {
  const after = { ...files };
  const assertFree = (path: string) => {
    for (const other of Object.keys(after))
      if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`))
        throw new Error(`${other} is in the way of ${path}`);
  };
  for (const change of changes) {
    if ("write" in change) {
      assertFree(change.write);
      after[change.write] = change.content;
    } else if ("delete" in change) {
      if (!(change.delete in after)) throw new Error(`there is no ${change.delete}`);
      delete after[change.delete];
    } else {
      if (!(change.move in after) || change.to in after) throw new Error(`${change.move} cannot become ${change.to}`);
      after[change.to] = after[change.move];
      delete after[change.move];
      assertFree(change.to);
    }
  }
  return after;
}

test("applying the changes of a tree to the old files gives the new files", async () => {
  const { pick, below, chance } = createRandom("changes of a tree");
  const names = ["a", "b", "c", "d"];
  const randomPath = () => `/${Array.from({ length: 1 + below(3) }, () => pick(names)).join("/")}`;
  for (let round = 0; round < getRepeatCount("random trees", { sample: 250, full: 1000 }); round++) {
    const files: Record<string, string> = {};
    const tree = new Tree(undefined);
    for (let n = below(8); n > 0; n--) {
      const place = randomPath().slice(1);
      if (
        tree.put(splitPath(place), { kind: "file", body: FileBody.of(""), mtime: 0 }) &&
        tree.find(splitPath(place))?.kind === "file"
      )
        files[place] = chance(0.2) ? "far" : `text ${below(3)}`;
    }
    for (const place of Object.keys(files))
      if (Object.keys(files).some((other) => other.startsWith(`${place}/`) || place.startsWith(`${other}/`)))
        delete files[place];
    const before = createTree(files);
    const after = new Tree(before);
    const fs = new TreeFileSystem(after, { source, maxBytes: 1_000_000 });
    for (let n = below(12); n > 0; n--) {
      const work = pick([
        () => fs.writeFile(randomPath(), `text ${below(3)}`),
        () => fs.appendFile(randomPath(), "more"),
        () => fs.rm(randomPath(), { recursive: chance(0.7) }),
        () => fs.mv(randomPath(), randomPath()),
        () => fs.mv(randomPath(), randomPath()),
        () => fs.cp(randomPath(), randomPath(), { recursive: true }),
        () => fs.mkdir(randomPath(), { recursive: true }),
        () => fs.link(randomPath(), randomPath()),
        () => fs.symlink(randomPath(), randomPath()),
      ]);
      await work().catch(() => {});
    }
    const changes = await listChanges(diffTrees(before, after.root), source, limits);
    expect(applyChanges(await readContents(before), changes)).toEqual(await readContents(after.root));
  }
});

test("moved files are reported as moves, without their content", async () => {
  const before = createTree({ "a.txt": "far", "d/x": "1", "d/y": "2" });
  const after = new Tree(before);
  const fs = new TreeFileSystem(after, { source, maxBytes: 1000 });
  await fs.mv("/a.txt", "/b.txt");
  await fs.mv("/d", "/e");
  const fetched: string[] = [];
  const changes = await listChanges(diffTrees(before, after.root), async (path) => (fetched.push(path), ""), limits);
  expect([changes, fetched]).toEqual([
    [
      { move: "a.txt", to: "b.txt" },
      { move: "d/x", to: "e/x" },
      { move: "d/y", to: "e/y" },
    ],
    [],
  ]);
});

test("a copy whose original is deleted is a move, and so is each of two hard links", async () => {
  const before = new Tree(createTree({ a: "1", "d/x": "2" }));
  await new TreeFileSystem(before, { source, maxBytes: 1000 }).link("/d/x", "/d/y");
  const after = new Tree(before.root);
  const fs = new TreeFileSystem(after, { source, maxBytes: 1000 });
  await fs.cp("/a", "/b");
  await fs.rm("/a");
  await fs.mv("/d", "/e");
  expect(await listChanges(diffTrees(before.root, after.root), source, limits)).toEqual([
    { move: "a", to: "b" },
    { move: "d/x", to: "e/x" },
    { move: "d/y", to: "e/y" },
  ]);
});

test("too many files and too many bytes are refused", async () => {
  const after = new Tree(createTree({}));
  const fs = new TreeFileSystem(after, { source, maxBytes: 1_000_000 });
  for (let n = 0; n < 10; n++) await fs.writeFile(`/${n}`, "x".repeat(100));
  await expect(listChanges(diffTrees(undefined, after.root), source, { changes: 9, bytes: 10_000 })).rejects.toThrow(
    "It changed 10 files; the limit is 9.",
  );
  await expect(listChanges(diffTrees(undefined, after.root), source, { changes: 10, bytes: 999 })).rejects.toThrow(
    "It wrote more than",
  );
});

test("a file that replaces a folder is not reported as a move", async () => {
  const files = { "d/x": "1", f: "2" };
  const before = createTree(files);
  const after = new Tree(before);
  const fs = new TreeFileSystem(after, { source, maxBytes: 1000 });
  await fs.mv("/d/x", "/z");
  await fs.rm("/d", { recursive: true });
  await fs.mv("/f", "/d");
  await fs.mkdir("/f");
  await fs.mv("/d", "/f/d");
  await fs.cp("/f/d", "/d");
  const changes = await listChanges(diffTrees(before, after.root), source, limits);
  expect(applyChanges(files, changes)).toEqual({ z: "1", "f/d": "2", d: "2" });
});
