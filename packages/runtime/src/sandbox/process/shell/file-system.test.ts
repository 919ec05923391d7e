import { beforeEach, describe, expect, test } from "vitest";
import { diffTrees } from "./changes.ts";
import { FileBody } from "./file-body.ts";
import { TreeFileSystem } from "./file-system.ts";
import { type Folder, splitPath, Tree } from "./tree.ts";

let before: Folder;
let tree: Tree;
let fs: TreeFileSystem;
let fetched: string[];

function createTree(files: Record<string, string | Uint8Array | number>): Folder {
  const tree = new Tree(undefined);
  for (const [path, content] of Object.entries(files)) {
    tree.put(splitPath(path), {
      kind: "file",
      body: typeof content === "number" ? FileBody.ofRemote(path, content) : FileBody.of(content),
      mtime: 1000,
    });
  }
  return tree.root;
}

beforeEach(() => {
  before = createTree({ "a.txt": "one\n", "d/b.txt": "Grüße", "d/e/c.bin": Uint8Array.of(0, 255, 128), "far.txt": 7 });
  tree = new Tree(before);
  fetched = [];
  fs = new TreeFileSystem(tree, {
    maxBytes: 1000,
    now: () => 5000,
    source: async (path) => {
      fetched.push(path);
      return "far off";
    },
  });
});

/** Summarizes the changes. */
function listChanges(): string[] {
  const { written, deleted, folders, links } = diffTrees(before, tree.root);
  return [
    ...[...deleted.keys()].map((path) => `-${path}`),
    ...[...written.keys()].map((path) => `+${path}`),
    ...folders.map((path) => `${path}/`),
    ...links.map((path) => `@${path}`),
  ].sort();
}

describe("reading", () => {
  test("returns text, bytes, or bytes as characters", async () => {
    expect(await fs.readFile("/d/b.txt")).toBe("Grüße");
    expect(await fs.readFile("/d/b.txt", "latin1")).toBe("GrÃ¼Ã\x9fe");
    expect(await fs.readFileBytes("/d/b.txt")).toBe("GrÃ¼Ã\x9fe");
    expect(await fs.readFile("/d/b.txt", { encoding: "base64" })).toBe(Buffer.from("Grüße").toString("base64"));
    expect([...(await fs.readFileBuffer("/d/e/c.bin"))]).toEqual([0, 255, 128]);
    expect((await fs.stat("/d/b.txt")).size).toBe(7);
  });

  test("fetches content that was not sent, once", async () => {
    expect((await fs.stat("/far.txt")).size).toBe(7);
    expect(fetched).toEqual([]);
    expect([await fs.readFile("/far.txt"), await fs.readFile("/far.txt")]).toEqual(["far off", "far off"]);
    expect(fetched).toEqual(["far.txt"]);
  });

  test("returned bytes are a copy", async () => {
    (await fs.readFileBuffer("/d/e/c.bin")).fill(7);
    expect([...(await fs.readFileBuffer("/d/e/c.bin"))]).toEqual([0, 255, 128]);
  });

  test("lists entries sorted by name", async () => {
    expect(await fs.readdir("/")).toEqual(["a.txt", "d", "far.txt"]);
    expect(await fs.readdirWithFileTypes("/d")).toEqual([
      { name: "b.txt", isFile: true, isDirectory: false, isSymbolicLink: false },
      { name: "e", isFile: false, isDirectory: true, isSymbolicLink: false },
    ]);
    expect(fs.getAllPaths().sort()).toEqual(["/", "/a.txt", "/d", "/d/b.txt", "/d/e", "/d/e/c.bin", "/far.txt"]);
  });

  test("changes nothing", () => expect(listChanges()).toEqual([]));
});

describe("writing", () => {
  test("does not affect the original tree", async () => {
    await fs.writeFile("/a.txt", "two\n");
    await fs.writeFile("/d/new/x.txt", "x");
    expect(await fs.readFile("/a.txt")).toBe("two\n");
    expect(listChanges()).toEqual(["+a.txt", "+d/new/x.txt"]);
    expect(new Tree(before).find(["a.txt"])).toMatchObject({ body: expect.objectContaining({ size: 4 }) });
    expect(await new TreeFileSystem(new Tree(before), { source: async () => "", maxBytes: 1 }).readFile("/a.txt")).toBe(
      "one\n",
    );
  });

  test("identical content, times and modes are not changes", async () => {
    await fs.writeFile("/a.txt", "one\n");
    await fs.utimes("/d/b.txt", new Date(), new Date(9));
    await fs.chmod("/d/b.txt", 0o755);
    expect([listChanges(), [...fs.modes]]).toEqual([[], ["d/b.txt"]]);
    expect((await fs.stat("/d/b.txt")).mtime.getTime()).toBe(9);
  });

  test("appends, also to content that was not sent", async () => {
    await fs.appendFile("/a.txt", "zwölf\n");
    await fs.appendFile("/far.txt", "!");
    await fs.appendFile("/d/e/c.bin", Uint8Array.of(1));
    expect([
      await fs.readFile("/a.txt"),
      await fs.readFile("/far.txt"),
      [...(await fs.readFileBuffer("/d/e/c.bin"))],
    ]).toEqual(["one\nzwölf\n", "far off!", [0, 255, 128, 1]]);
  });

  test.each([
    ["text", "Grüße", undefined, "Grüße"],
    ["bytes as characters", "GrÃ¼Ã\x9fe", "binary", "Grüße"],
    ["base64", Buffer.from("Grüße").toString("base64"), "base64", "Grüße"],
    ["hex", Buffer.from("Grüße").toString("hex"), "hex", "Grüße"],
    ["bytes", new TextEncoder().encode("Grüße"), undefined, "Grüße"],
    ["bytes that are not text", Uint8Array.of(255), undefined, Uint8Array.of(255)],
    ["text with a NUL", "a\0b", undefined, Uint8Array.of(97, 0, 98)],
    ["a byte order mark", "\ufeffa", undefined, "\ufeffa"],
  ] as const)("accepts %s", async (_, given, encoding, content) => {
    await fs.writeFile("/n", given as string, encoding);
    expect((diffTrees(before, tree.root).written.get("n") as { body: FileBody }).body.content()).toEqual(content);
  });

  test("scripts are executable, other files are not", async () => {
    await fs.writeFile("/run", "#!/bin/sh\n");
    expect([(await fs.stat("/run")).mode, (await fs.stat("/a.txt")).mode]).toEqual([0o755, 0o644]);
  });

  test("writes to /dev/null and the like are ignored", async () => {
    await fs.writeFile("/dev/null", "x");
    await fs.appendFile("/dev/stdout", "x");
    expect(listChanges()).toEqual([]);
  });

  test("space is limited, and removed files free it", async () => {
    await fs.writeFile("/big", "x".repeat(900));
    await expect(fs.writeFile("/more", "x".repeat(200))).rejects.toThrow("ENOSPC");
    await fs.writeFile("/big", "x".repeat(950));
    await fs.mkdir("/f");
    await fs.mv("/big", "/f/big");
    await fs.rm("/f", { recursive: true });
    await fs.writeFile("/more", "x".repeat(999));
    expect(listChanges()).toEqual(["+more"]);
  });
});

describe("moving, copying, removing", () => {
  test("files and folders", async () => {
    await fs.mv("/a.txt", "/z.txt");
    await fs.mv("/d", "/moved");
    await fs.cp("/moved", "/copied", { recursive: true });
    await fs.rm("/moved/e", { recursive: true });
    expect(listChanges()).toEqual([
      "+copied/b.txt",
      "+copied/e/c.bin",
      "+moved/b.txt",
      "+z.txt",
      "-a.txt",
      "-d/b.txt",
      "-d/e/c.bin",
    ]);
  });

  test("a copied folder is independent", async () => {
    await fs.mkdir("/own");
    await fs.writeFile("/own/x", "1");
    await fs.cp("/own", "/copy", { recursive: true });
    await fs.writeFile("/own/x", "2");
    await fs.writeFile("/own/y", "2");
    await fs.cp("/d", "/d2", { recursive: true });
    await fs.writeFile("/d2/b.txt", "changed");
    expect([await fs.readFile("/copy/x"), await fs.readdir("/copy"), await fs.readFile("/d/b.txt")]).toEqual([
      "1",
      ["x"],
      "Grüße",
    ]);
  });

  test("empty folders are reported", async () => {
    await fs.mkdir("/x/y/z", { recursive: true });
    await fs.rm("/d/e/c.bin");
    expect(listChanges()).toEqual(["-d/e/c.bin", "d/e/", "x/y/z/"]);
  });

  test.each([
    ["a folder into itself", () => fs.mv("/d", "/d/e/d"), "EINVAL"],
    ["a copy into itself", () => fs.cp("/d", "/d/e/d", { recursive: true }), "EINVAL"],
    [
      "a folder over one with files",
      () => fs.mkdir("/g/d/x", { recursive: true }).then(() => fs.mv("/d", "/g/d")),
      "ENOTEMPTY",
    ],
    ["a file over a folder", () => fs.mv("/a.txt", "/d"), "EISDIR"],
    ["something into a file", () => fs.mv("/d", "/a.txt/d"), "ENOTDIR"],
    ["a folder without “recursive”", () => fs.cp("/d", "/x"), "EISDIR"],
    ["a missing file", () => fs.mv("/no", "/x"), "ENOENT"],
    ["text over a folder", () => fs.writeFile("/d", "x"), "EISDIR"],
    ["text below a file", () => fs.writeFile("/a.txt/x", "x"), "ENOTDIR"],
    ["a folder that is not empty", () => fs.rm("/d"), "ENOTEMPTY"],
    ["everything", () => fs.rm("/", { recursive: true }), "EBUSY"],
    ["a folder in place of a file", () => fs.mkdir("/a.txt"), "EEXIST"],
    ["a folder in a missing folder", () => fs.mkdir("/x/y"), "ENOENT"],
    ["a folder below a file", () => fs.mkdir("/a.txt/y", { recursive: true }), "ENOTDIR"],
    ["a name with a NUL", () => fs.writeFile("/a\0b", ""), "ENOENT"],
  ])("%s fails, and nothing is changed", async (_, work, code) => {
    await expect(work()).rejects.toThrow(code);
    expect(listChanges().filter((change) => !change.endsWith("/"))).toEqual([]);
    expect(await fs.readFile("/a.txt")).toBe("one\n");
  });
});

describe("links", () => {
  test("are followed within the tree", async () => {
    await fs.symlink("../a.txt", "/d/up");
    await fs.symlink("/d", "/way");
    expect([await fs.readFile("/way/up"), await fs.readlink("/d/up"), await fs.realpath("/way/up")]).toEqual([
      "one\n",
      "../a.txt",
      "/a.txt",
    ]);
    await fs.writeFile("/way/up", "through\n");
    expect(await fs.readFile("/a.txt")).toBe("through\n");
    expect((await fs.lstat("/way")).isSymbolicLink).toBe(true);
    await fs.rm("/way");
    expect(listChanges()).toEqual(["+a.txt", "@d/up"]);
  });

  test("that point outside are resolved from the root", async () => {
    await fs.symlink("../../../../../a.txt", "/d/e/out");
    await fs.symlink("/proc/self/root/etc/passwd", "/host");
    expect(await fs.readFile("/d/e/out")).toBe("one\n");
    await expect(fs.readFile("/host")).rejects.toThrow("ENOENT");
  });

  test("in a circle fail", async () => {
    await fs.symlink("/two", "/one");
    await fs.symlink("/one", "/two");
    await fs.symlink("self", "/self");
    for (const path of ["/one", "/self", "/self/x"]) await expect(fs.readFile(path)).rejects.toThrow("ELOOP");
    expect(await fs.exists("/one")).toBe(false);
  });

  test("a hard link is the same file until it is written", async () => {
    await fs.link("/a.txt", "/hard");
    expect((await fs.stat("/hard")).identity).toBe((await fs.stat("/a.txt")).identity);
    expect(listChanges()).toEqual(["+hard"]);
  });
});

test("the depth of nested folders is limited, however they are created", async () => {
  await expect(fs.mkdir(`/${"x/".repeat(300)}`, { recursive: true })).rejects.toThrow("ENAMETOOLONG");
  await expect(fs.writeFile(`/${"x".repeat(5000)}`, "")).rejects.toThrow("ENAMETOOLONG");
  await fs.mkdir("/in");
  const nest = async () => {
    await fs.mkdir("/out");
    await fs.mv("/in", "/out/in");
    await fs.mv("/out", "/in");
  };
  let nested = 0;
  await expect(
    (async () => {
      for (; nested < 400; nested++) await nest();
    })(),
  ).rejects.toThrow("ENAMETOOLONG");
  expect(nested).toBeGreaterThan(200);
  await expect(fs.cp("/in", "/d/e/deeper", { recursive: true })).rejects.toThrow("ENAMETOOLONG");
  expect(diffTrees(before, tree.root).folders).toHaveLength(2);
});

test("paths cannot leave the root, and equivalent Unicode spellings are one name", async () => {
  expect([
    fs.resolvePath("/d", "../../../x"),
    fs.resolvePath("/d", "./e/../b.txt"),
    fs.resolvePath("/d", "/y//z/"),
  ]).toEqual(["/x", "/d/b.txt", "/y/z"]);
  await fs.writeFile("/e\u0301.txt", "x");
  expect([await fs.exists("/é.txt"), await fs.readdir("/")]).toEqual([true, ["a.txt", "d", "far.txt", "é.txt"]]);
});
