import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

// Behaviour of every workspace port, whether the files are in the same object or in another one.

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("workspace-port.worker.ts", import.meta.url), {
    objects: ["Owner", "Client"],
    bindings: [`(name = "BLOBS", service = "blobs")`],
    services: [`(name = "blobs", disk = (path = "@/blobs", writable = true))`],
  });
});

afterAll(() => worker?.stop());

type PortClient = (call: string, ...input: unknown[]) => Promise<any>;

const createPortClient =
  (path: string): PortClient =>
  async (call, ...input) => {
    const response = await fetch(`${worker.url}/${path}`, {
      method: "POST",
      body: JSON.stringify({ call, input }),
      signal: AbortSignal.timeout(10_000),
    });
    const result = (await response.json()) as { value?: unknown; errorCode?: string; message?: string };
    if (result.errorCode !== undefined) throw Object.assign(new Error(result.message), { code: result.errorCode });
    return result.value;
  };

const origin = { kind: "agent", agent: "client", tool: "test" };
const createWrite = (path: string, content: unknown) => ({ write: path, content });
const big = "a long line of text\n".repeat(1000);
let nameCount = 0;

describe.each(["local", "remote"])("a %s workspace", (kind) => {
  /** Opens a new workspace, through the port under test and as its owner. */
  const open = () => {
    const name = `${kind}-${++nameCount}`;
    return {
      port: createPortClient(kind === "local" ? `local/${name}` : `remote/${name}/one`),
      owner: createPortClient(`local/${name}`),
    };
  };

  test("commits, lists, reads and deletes, and records every commit as a version with its origin", async () => {
    const { port, owner } = open();
    expect(await port("latest")).toBe(0);
    const result = await port("commit", {
      edits: [createWrite("a/b.txt", "one\n"), createWrite("c.txt", "two\n")],
      origin,
    });
    expect(result).toMatchObject({
      version: {
        id: 1,
        origin,
        changes: [
          { path: "a/b.txt", kind: "add" },
          { path: "c.txt", kind: "add" },
        ],
      },
      overlaps: [],
    });
    expect(await port("list")).toMatchObject({ version: 1, files: [{ path: "a/b.txt" }, { path: "c.txt" }] });
    expect(await port("list", { under: "a" })).toMatchObject({ files: [{ path: "a/b.txt" }] });
    expect(await port("read", "a/b.txt")).toMatchObject({ file: { path: "a/b.txt", size: 4 }, content: "one\n" });
    expect(await port("stat", "a/b.txt")).toMatchObject({ hash: (await port("read", "a/b.txt")).file.hash });
    await port("commit", { edits: [{ delete: "a" }, { move: "c.txt", to: "d.txt" }], origin });
    expect((await port("list")).files).toMatchObject([{ path: "d.txt" }]);
    expect(await port("read", "a/b.txt")).toBeUndefined();
    expect(await port("stat", "a/b.txt")).toBeUndefined();
    expect(await port("read", "a/b.txt", { version: 1 })).toMatchObject({ content: "one\n" });
    expect(await port("latest")).toBe(2);
    expect(await owner("versions")).toEqual([2, 1]);
  });

  test("a commit without changes creates no version", async () => {
    const { port } = open();
    await port("commit", { edits: [createWrite("a", "same")], origin });
    expect(await port("commit", { edits: [createWrite("a", "same")], origin })).toEqual({ overlaps: [], patches: [] });
    expect(await port("latest")).toBe(1);
  });

  test("a commit returns the patch of each text file it changes", async () => {
    const { port } = open();
    await port("commit", { edits: [createWrite("a", "one\ntwo\n"), createWrite("b", "x\n")], origin });
    const { patches } = await port("commit", {
      edits: [createWrite("a", "one\n2\n"), createWrite("b", "x\ny\n"), createWrite("c", "new\n")],
      origin,
    });
    expect(patches).toEqual([
      { path: "a", patch: [[4, "two", "2"]] },
      { path: "b", patch: [[2, "", "y\n"]] },
    ]);
  });

  test("a commit is rejected as stale if a file does not have the expected hash", async () => {
    const { port } = open();
    const commit = (content: string, hash: string | null) =>
      port("commit", { edits: [createWrite("a", content)], origin, expected: { a: hash } });
    expect(await commit("one", "0".repeat(64))).toMatchObject({ stale: "a" });
    expect(await commit("one", null)).toMatchObject({ version: { id: 1 } });
    const { hash } = await port("stat", "a");
    expect(await commit("two", null)).toMatchObject({ stale: "a" });
    expect(await commit("two", hash)).toMatchObject({ version: { id: 2 } });
    expect(await commit("three", hash)).toMatchObject({ stale: "a" });
    expect((await port("read", "a")).content).toBe("two");
    expect(await port("commit", { edits: [{ delete: "a" }], origin, expected: { a: hash, b: null } })).toMatchObject({
      stale: "a",
    });
  });

  test("a key commits once, whatever was committed since and whatever the repeated request contains", async () => {
    const { port, owner } = open();
    await port("commit", { edits: [createWrite("a", "zero\n")], origin });
    const first = await port("commit", { edits: [createWrite("a", "one\n")], origin, key: "k" });
    await port("commit", { edits: [createWrite("a", "two\n")], origin });
    expect(await port("commit", { edits: [createWrite("a", "one\n")], origin, key: "k" })).toEqual(first);
    expect(await port("commit", { edits: [createWrite("a", "three\n")], origin, key: "k", base: 1 })).toEqual(first);
    expect(
      await port("commit", { edits: [createWrite("a", "one\n")], origin, key: "k", expected: { a: null } }),
    ).toEqual(first);
    expect((await port("read", "a")).content).toBe("two\n");
    expect(await owner("versions")).toEqual([3, 2, 1]);
  });

  test("edits on an older base are merged with later changes", async () => {
    const { port } = open();
    await port("commit", { edits: [createWrite("a", "1\n2\n3\n4\n5\n")], origin });
    await port("commit", { edits: [createWrite("a", "one\n2\n3\n4\n5\n")], origin });
    const merged = await port("commit", { edits: [createWrite("a", "1\n2\n3\n4\nfive\n")], origin, base: 1 });
    expect(merged).toMatchObject({ version: { id: 3 }, overlaps: [] });
    expect((await port("read", "a")).content).toBe("one\n2\n3\n4\nfive\n");
    const both = await port("commit", { edits: [createWrite("a", "1\n2\n3\n4\n6\n")], origin, base: 1 });
    expect(both.overlaps).toMatchObject([{ path: "a" }]);
  });

  test("edits that are no longer possible are remaining out of a partial commit and reject a full one", async () => {
    const { port } = open();
    await port("commit", { edits: [createWrite("a", "file")], origin });
    const edits = [createWrite("a/b", "below a file"), createWrite("c", "fine")];
    await expect(port("commit", { edits, origin, base: 1 })).rejects.toMatchObject({ code: "conflict" });
    const { overlaps } = await port("commit", { edits, origin, base: 1, partial: true });
    expect(overlaps).toMatchObject([{ path: "a/b" }]);
    expect((await port("list")).files.map(({ path }: { path: string }) => path)).toEqual(["a", "c"]);
  });

  test("large text and bytes are stored as blobs and read back unchanged", async () => {
    const { port } = open();
    const content = await port("store", big, "long.txt");
    expect(content).toMatchObject({
      blob: expect.stringMatching(/^[0-9a-f]{64}$/),
      size: big.length,
      mediaType: "text/plain",
    });
    await port("commit", { edits: [createWrite("long.txt", content)], origin });
    expect(await port("readText", "long.txt")).toBe(big);
    expect(await port("store", "short", "a.txt")).toBe("short");
    expect(await port("readBytes", "short", "a.txt")).toEqual({ bytes: [...Buffer.from("short")] });
    await expect(
      port("readBytes", { blob: "0".repeat(64), size: 1, mediaType: "text/plain" }, "gone"),
    ).rejects.toMatchObject({ code: "unavailable" });
  });

  test("branches are independent", async () => {
    const { port, owner } = open();
    await port("commit", { edits: [createWrite("a", "main")], origin });
    await owner("branchAsUser", { name: "fork" });
    await port("commit", { edits: [createWrite("a", "fork"), createWrite("b", "new")], origin, branch: "fork" });
    expect((await port("read", "a")).content).toBe("main");
    expect((await port("read", "a", { branch: "fork" })).content).toBe("fork");
    expect((await port("list", { branch: "fork" })).files).toHaveLength(2);
    expect(await port("stat", "b")).toBeUndefined();
    await expect(port("read", "a", { branch: "none" })).rejects.toMatchObject({ code: "not_found" });
  });

  test("a branch is created and removed once, however often that is asked for", async () => {
    const { port, owner } = open();
    await port("commit", { edits: [createWrite("a", "main")], origin });
    const fork = await port("createBranch", { name: "fork" }, origin);
    expect(fork).toMatchObject({ id: "fork", from: "main", at: 1, by: origin, changed: 0 });
    await port("commit", { edits: [createWrite("a", "fork")], origin, branch: "fork" });
    expect(await port("createBranch", { name: "fork" }, origin)).toMatchObject({ id: "fork", changed: 1 });
    const other = { ...origin, agent: "somebody else" };
    await expect(port("createBranch", { name: "fork" }, other)).rejects.toMatchObject({ code: "conflict" });
    await port("createBranch", { name: "below", from: "fork" }, origin);
    expect((await port("read", "a", { branch: "below" })).content).toBe("fork");
    await expect(port("removeBranch", "fork", origin)).rejects.toMatchObject({ code: "conflict" });
    for (const name of ["below", "below", "fork", "fork"]) await port("removeBranch", name, origin);
    expect(await port("listBranches")).toEqual([]);
    expect(await owner("merges")).toEqual([]);
  });

  test("a merge with a key is made once and returns the same again, also its overlaps", async () => {
    const { port, owner } = open();
    await port("commit", { edits: [createWrite("a", "1\n2\n3\n")], origin });
    await port("createBranch", { name: "fork" }, origin);
    await port("commit", { edits: [createWrite("a", "1\nfork\n3\n"), createWrite("b", "x")], origin, branch: "fork" });
    await port("commit", { edits: [createWrite("a", "1\nmain\n3\n")], origin });
    const first = await port("merge", "fork", { key: "k" }, origin);
    expect(first).toMatchObject({ version: { id: 4, merges: "fork", origin }, overlaps: [{ path: "a", line: 2 }] });
    await port("commit", { edits: [createWrite("a", "later")], origin });
    const again = await port("merge", "fork", { key: "k" }, origin);
    expect(again.version).toEqual(first.version);
    expect(again.overlaps).toMatchObject([{ path: "a", line: 2, reason: expect.any(String) }]);
    expect((await port("read", "a")).content).toBe("later");
    expect(await owner("merges")).toEqual(["fork"]);
    expect(await port("merge", "fork", { key: "other" }, origin)).toEqual({ changes: [], overlaps: [] });
  });

  test("a preview has the files that a merge would change, and stores nothing", async () => {
    const { port } = open();
    const edits = [createWrite("a", "1\n2\n3\n4\n5\n"), createWrite("gone", "x"), createWrite("same", "x")];
    await port("commit", { edits, origin });
    await port("createBranch", { name: "fork" }, origin);
    const content = await port("store", big, "long.txt");
    const changes = [createWrite("a", "1\n2\n3\n4\nfork\n"), { delete: "gone" }, createWrite("long.txt", content)];
    await port("commit", { edits: changes, origin, branch: "fork" });
    await port("commit", { edits: [createWrite("a", "main\n2\n3\n4\n5\n")], origin });
    const preview = await port("previewMerge", "fork");
    expect(preview).toMatchObject({
      into: "main",
      versions: { source: 2, target: 3 },
      overlaps: [],
      files: [
        { path: "a", after: { content: "main\n2\n3\n4\nfork\n", info: { hash: expect.any(String) } } },
        { path: "gone" },
        { path: "long.txt", after: { content } },
      ],
    });
    expect(preview.files[1]).toEqual({ path: "gone" });
    expect(await port("latest")).toBe(3);
    const merge = (expected: object) => port("merge", "fork", { expected }, origin);
    expect(await merge({ source: 2, target: 1 })).toMatchObject({ isStale: true });
    expect(await merge({ source: 1, target: 3 })).toMatchObject({ isStale: true });
    expect(await port("latest")).toBe(3);
    expect(await merge(preview.versions)).toMatchObject({ version: { merges: "fork" } });
    expect((await port("read", "a")).content).toBe("main\n2\n3\n4\nfork\n");
  });

  test("the version the model has seen is kept by hash and follows its own writes and moves", async () => {
    const { port } = open();
    await port("commit", { edits: [createWrite("a", "one"), createWrite("b", "two")], origin });
    const { file } = await port("read", "a");
    expect((await port("read", "a")).seenHash).toBeUndefined();
    await port("markSeen", "a", file.hash);
    expect((await port("read", "a")).seenHash).toBe(file.hash);
    await port("commit", {
      edits: [{ move: "a", to: "c" }, { move: "b", to: "d" }, createWrite("e", "three")],
      origin,
      seen: true,
    });
    const seen = async (path: string) => (await port("read", path)).seenHash === (await port("stat", path)).hash;
    expect([await seen("c"), await seen("d"), await seen("e")]).toEqual([true, false, true]);
    await port("commit", { edits: [createWrite("c", "by somebody else")], origin });
    expect((await port("read", "c")).seenHash).toBe(file.hash);
  });

  test("changes are listed since a version, or all files", async () => {
    const { port } = open();
    await port("commit", {
      edits: [createWrite("a", "one"), createWrite("b", "two"), createWrite("c", "three")],
      origin,
    });
    const all = await port("changes", { maxTextBytes: 7 });
    expect(all).toMatchObject({ version: 1, deleted: [] });
    expect(all.base).toBeUndefined();
    expect(Object.fromEntries(all.files.map(({ file, text }: any) => [file.path, text]))).toEqual({
      a: "one",
      b: "two",
      c: undefined,
    });
    await port("commit", { edits: [createWrite("a", "1"), { delete: "b" }], origin });
    expect(await port("changes", { since: 1, maxTextBytes: 100 })).toMatchObject({
      version: 2,
      base: 1,
      files: [{ file: { path: "a" }, text: "1" }],
      deleted: ["b"],
    });
    expect(await port("changes", { since: 2, maxTextBytes: 100 })).toEqual({
      version: 2,
      base: 2,
      files: [],
      deleted: [],
    });
    expect(await port("changes", { since: 99, maxTextBytes: 100 })).toMatchObject({ version: 2, files: [{}, {}] });
  });

  test("errors have their code", async () => {
    const { port } = open();
    await expect(port("commit", { edits: [createWrite("../a", "x")], origin })).rejects.toMatchObject({
      code: "bad_request",
    });
    await expect(port("commit", { edits: [{ delete: "none" }], origin })).rejects.toMatchObject({ code: "not_found" });
    await expect(port("store", "x".repeat(1024 * 1024 + 1), "huge")).rejects.toMatchObject({ code: "too_large" });
    expect(await port("latest")).toBe(0);
  });
});

const appends = getRepeatCount("appends", { sample: 120, full: 600 });
const kills = getRepeatCount("port kills", { sample: 4, full: 20 });

test(`${appends} edits of three clients over RPC and ${kills} kills: none is lost, duplicated or applied to another base`, async () => {
  const chance = createRandom("workspace port");
  const owner = createPortClient("local/crash");
  const retry: (port: PortClient) => PortClient =
    (port) =>
    (call, ...input) =>
      waitUntil(call, async () => ({ value: await port(call, ...input) }), { timeoutMs: 60_000 }).then(
        ({ value }) => value,
      );
  const paths = ["a.txt", "b.txt"];
  let remaining = appends;
  let stale = 0;
  const lines = new Map(paths.map((path) => [path, [] as string[]]));

  const working = ["one", "two", "three"].map(async (client) => {
    const port = retry(createPortClient(`remote/crash/${client}`));
    while (remaining-- > 0) {
      const key = `${client}-${remaining}`;
      const path = chance.pick(paths);
      // A client that got no response repeats the same key; one whose base has changed reads the file again.
      while ((await port("append", path, `${key}\n`, key)).stale !== undefined) stale++;
      lines.get(path)?.push(key);
    }
  });
  const killing = (async () => {
    for (let kill = 0; kill < kills; kill++) {
      const before = remaining;
      await waitUntil("some more edits", () => remaining < before - 5 || remaining <= 0);
      await worker.restart();
    }
  })();
  await Promise.all([...working, killing]);
  console.log(`${appends} edits, ${stale} of them on a base that had changed, ${kills} kills`);

  const keys = (await retry(owner)("keys")) as { id: number; key: string }[];
  expect(keys.map(({ key }) => key).sort()).toEqual([...lines.values()].flat().sort());
  for (const path of paths) {
    const text = (await retry(owner)("readText", path)) as string;
    expect(text.split("\n").slice(0, -1).sort()).toEqual([...(lines.get(path) as string[])].sort());
  }
  // Each version is the previous one plus the line of its own key.
  const texts = new Map(paths.map((path) => [path, ""]));
  for (const { id, key } of keys.slice(0, 200)) {
    const path = paths.find((path) => lines.get(path)?.includes(key)) as string;
    const expected = `${texts.get(path)}${key}\n`;
    expect([id, (await owner("contentAt", path, id)) ?? ""]).toEqual([id, expected]);
    texts.set(path, expected);
  }
}, 180_000);
