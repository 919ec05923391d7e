import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

// What every workspace port does, whether the files are in the same object or in another one.

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("workspace-port.worker.ts", import.meta.url), {
    objects: ["Owner", "Client"],
    bindings: [`(name = "BLOBS", service = "blobs")`],
    services: [`(name = "blobs", disk = (path = "@/blobs", writable = true))`],
  });
});

afterAll(() => worker?.stop());

type Ask = (call: string, ...input: unknown[]) => Promise<any>;

const createAsk =
  (path: string): Ask =>
  async (call, ...input) => {
    const response = await fetch(`${worker.url}/${path}`, {
      method: "POST",
      body: JSON.stringify({ call, input }),
      signal: AbortSignal.timeout(10_000),
    });
    const answer = (await response.json()) as { value?: unknown; refused?: string; message?: string };
    if (answer.refused !== undefined) throw Object.assign(new Error(answer.message), { code: answer.refused });
    return answer.value;
  };

const origin = { kind: "agent", agent: "client", tool: "test" };
const createWrite = (path: string, content: unknown) => ({ write: path, content });
const big = "a long line of text\n".repeat(1000);
let names = 0;

describe.each(["local", "remote"])("a %s workspace", (kind) => {
  /** A workspace of its own: what is asked through the port, and its owner's view of it. */
  const open = () => {
    const name = `${kind}-${++names}`;
    return {
      ask: createAsk(kind === "local" ? `local/${name}` : `remote/${name}/one`),
      owner: createAsk(`local/${name}`),
    };
  };

  test("commits, lists, reads and deletes, and every commit is a version with its origin", async () => {
    const { ask, owner } = open();
    expect(await ask("latest")).toBe(0);
    const made = await ask("commit", {
      edits: [createWrite("a/b.txt", "one\n"), createWrite("c.txt", "two\n")],
      origin,
    });
    expect(made).toMatchObject({
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
    expect(await ask("list")).toMatchObject({ version: 1, files: [{ path: "a/b.txt" }, { path: "c.txt" }] });
    expect(await ask("list", { under: "a" })).toMatchObject({ files: [{ path: "a/b.txt" }] });
    expect(await ask("read", "a/b.txt")).toMatchObject({ file: { path: "a/b.txt", size: 4 }, content: "one\n" });
    expect(await ask("stat", "a/b.txt")).toMatchObject({ hash: (await ask("read", "a/b.txt")).file.hash });
    await ask("commit", { edits: [{ delete: "a" }, { move: "c.txt", to: "d.txt" }], origin });
    expect((await ask("list")).files).toMatchObject([{ path: "d.txt" }]);
    expect(await ask("read", "a/b.txt")).toBeUndefined();
    expect(await ask("stat", "a/b.txt")).toBeUndefined();
    expect(await ask("read", "a/b.txt", { version: 1 })).toMatchObject({ content: "one\n" });
    expect(await ask("latest")).toBe(2);
    expect(await owner("versions")).toEqual([2, 1]);
  });

  test("a commit that changes nothing makes no version", async () => {
    const { ask } = open();
    await ask("commit", { edits: [createWrite("a", "same")], origin });
    expect(await ask("commit", { edits: [createWrite("a", "same")], origin })).toEqual({ overlaps: [], patches: [] });
    expect(await ask("latest")).toBe(1);
  });

  test("a commit carries the patch of each text that it changes", async () => {
    const { ask } = open();
    await ask("commit", { edits: [createWrite("a", "one\ntwo\n"), createWrite("b", "x\n")], origin });
    const { patches } = await ask("commit", {
      edits: [createWrite("a", "one\n2\n"), createWrite("b", "x\ny\n"), createWrite("c", "new\n")],
      origin,
    });
    expect(patches).toEqual([
      { path: "a", patch: [[4, "two", "2"]] },
      { path: "b", patch: [[2, "", "y\n"]] },
    ]);
  });

  test("what is expected of a file decides whether a commit is made", async () => {
    const { ask } = open();
    const commit = (content: string, hash: string | null) =>
      ask("commit", { edits: [createWrite("a", content)], origin, expected: { a: hash } });
    expect(await commit("one", "0".repeat(64))).toMatchObject({ stale: "a" });
    expect(await commit("one", null)).toMatchObject({ version: { id: 1 } });
    const { hash } = await ask("stat", "a");
    expect(await commit("two", null)).toMatchObject({ stale: "a" });
    expect(await commit("two", hash)).toMatchObject({ version: { id: 2 } });
    expect(await commit("three", hash)).toMatchObject({ stale: "a" });
    expect((await ask("read", "a")).content).toBe("two");
    expect(await ask("commit", { edits: [{ delete: "a" }], origin, expected: { a: hash, b: null } })).toMatchObject({
      stale: "a",
    });
  });

  test("a key is one commit, whatever was committed since and whatever comes with it", async () => {
    const { ask, owner } = open();
    await ask("commit", { edits: [createWrite("a", "zero\n")], origin });
    const first = await ask("commit", { edits: [createWrite("a", "one\n")], origin, key: "k" });
    await ask("commit", { edits: [createWrite("a", "two\n")], origin });
    expect(await ask("commit", { edits: [createWrite("a", "one\n")], origin, key: "k" })).toEqual(first);
    expect(await ask("commit", { edits: [createWrite("a", "three\n")], origin, key: "k", base: 1 })).toEqual(first);
    expect(
      await ask("commit", { edits: [createWrite("a", "one\n")], origin, key: "k", expected: { a: null } }),
    ).toEqual(first);
    expect((await ask("read", "a")).content).toBe("two\n");
    expect(await owner("versions")).toEqual([3, 2, 1]);
  });

  test("edits on an older base are merged with what came since", async () => {
    const { ask } = open();
    await ask("commit", { edits: [createWrite("a", "1\n2\n3\n4\n5\n")], origin });
    await ask("commit", { edits: [createWrite("a", "one\n2\n3\n4\n5\n")], origin });
    const merged = await ask("commit", { edits: [createWrite("a", "1\n2\n3\n4\nfive\n")], origin, base: 1 });
    expect(merged).toMatchObject({ version: { id: 3 }, overlaps: [] });
    expect((await ask("read", "a")).content).toBe("one\n2\n3\n4\nfive\n");
    const both = await ask("commit", { edits: [createWrite("a", "1\n2\n3\n4\n6\n")], origin, base: 1 });
    expect(both.overlaps).toMatchObject([{ path: "a" }]);
  });

  test("what is impossible by now is left out of a partial commit, and refuses a whole one", async () => {
    const { ask } = open();
    await ask("commit", { edits: [createWrite("a", "file")], origin });
    const edits = [createWrite("a/b", "below a file"), createWrite("c", "fine")];
    await expect(ask("commit", { edits, origin, base: 1 })).rejects.toMatchObject({ code: "conflict" });
    const { overlaps } = await ask("commit", { edits, origin, base: 1, partial: true });
    expect(overlaps).toMatchObject([{ path: "a/b" }]);
    expect((await ask("list")).files.map(({ path }: { path: string }) => path)).toEqual(["a", "c"]);
  });

  test("large text and bytes are blobs, and come back as they were", async () => {
    const { ask } = open();
    const content = await ask("store", big, "long.txt");
    expect(content).toMatchObject({
      blob: expect.stringMatching(/^[0-9a-f]{64}$/),
      size: big.length,
      mediaType: "text/plain",
    });
    await ask("commit", { edits: [createWrite("long.txt", content)], origin });
    expect(await ask("readText", "long.txt")).toBe(big);
    expect(await ask("store", "short", "a.txt")).toBe("short");
    expect(await ask("readBytes", "short", "a.txt")).toEqual({ bytes: [...Buffer.from("short")] });
    await expect(
      ask("readBytes", { blob: "0".repeat(64), size: 1, mediaType: "text/plain" }, "gone"),
    ).rejects.toMatchObject({ code: "unavailable" });
  });

  test("branches are apart until they are merged", async () => {
    const { ask, owner } = open();
    await ask("commit", { edits: [createWrite("a", "main")], origin });
    await owner("createBranch", { name: "fork" });
    await ask("commit", { edits: [createWrite("a", "fork"), createWrite("b", "new")], origin, branch: "fork" });
    expect((await ask("read", "a")).content).toBe("main");
    expect((await ask("read", "a", { branch: "fork" })).content).toBe("fork");
    expect((await ask("list", { branch: "fork" })).files).toHaveLength(2);
    expect(await ask("stat", "b")).toBeUndefined();
    await expect(ask("read", "a", { branch: "none" })).rejects.toMatchObject({ code: "not_found" });
  });

  test("what the model has seen is kept by hash, and follows what it writes and moves", async () => {
    const { ask } = open();
    await ask("commit", { edits: [createWrite("a", "one"), createWrite("b", "two")], origin });
    const { file } = await ask("read", "a");
    expect((await ask("read", "a")).seenHash).toBeUndefined();
    await ask("markSeen", "a", file.hash);
    expect((await ask("read", "a")).seenHash).toBe(file.hash);
    await ask("commit", {
      edits: [{ move: "a", to: "c" }, { move: "b", to: "d" }, createWrite("e", "three")],
      origin,
      seen: true,
    });
    const seen = async (path: string) => (await ask("read", path)).seenHash === (await ask("stat", path)).hash;
    expect([await seen("c"), await seen("d"), await seen("e")]).toEqual([true, false, true]);
    await ask("commit", { edits: [createWrite("c", "by somebody else")], origin });
    expect((await ask("read", "c")).seenHash).toBe(file.hash);
  });

  test("a reader is told what changed since its version, or everything", async () => {
    const { ask } = open();
    await ask("commit", {
      edits: [createWrite("a", "one"), createWrite("b", "two"), createWrite("c", "three")],
      origin,
    });
    const all = await ask("changes", { maxTextBytes: 7 });
    expect(all).toMatchObject({ version: 1, deleted: [] });
    expect(all.base).toBeUndefined();
    expect(Object.fromEntries(all.files.map(({ file, text }: any) => [file.path, text]))).toEqual({
      a: "one",
      b: "two",
      c: undefined,
    });
    await ask("commit", { edits: [createWrite("a", "1"), { delete: "b" }], origin });
    expect(await ask("changes", { since: 1, maxTextBytes: 100 })).toMatchObject({
      version: 2,
      base: 1,
      files: [{ file: { path: "a" }, text: "1" }],
      deleted: ["b"],
    });
    expect(await ask("changes", { since: 2, maxTextBytes: 100 })).toEqual({
      version: 2,
      base: 2,
      files: [],
      deleted: [],
    });
    expect(await ask("changes", { since: 99, maxTextBytes: 100 })).toMatchObject({ version: 2, files: [{}, {}] });
  });

  test("what is refused is refused with its code", async () => {
    const { ask } = open();
    await expect(ask("commit", { edits: [createWrite("../a", "x")], origin })).rejects.toMatchObject({
      code: "bad_request",
    });
    await expect(ask("commit", { edits: [{ delete: "none" }], origin })).rejects.toMatchObject({ code: "not_found" });
    await expect(ask("store", "x".repeat(1024 * 1024 + 1), "huge")).rejects.toMatchObject({ code: "too_large" });
    expect(await ask("latest")).toBe(0);
  });
});

const appends = getRepeatCount("appends", { sample: 120, full: 600 });
const kills = getRepeatCount("port kills", { sample: 4, full: 20 });

test(`${appends} edits of three clients over RPC and ${kills} kills: none is lost, doubled or made on another base`, async () => {
  const chance = createRandom("workspace port");
  const owner = createAsk("local/crash");
  const sure: (ask: Ask) => Ask =
    (ask) =>
    (call, ...input) =>
      waitUntil(call, async () => ({ value: await ask(call, ...input) }), { within: 60_000 }).then(
        ({ value }) => value,
      );
  const paths = ["a.txt", "b.txt"];
  let left = appends;
  let stale = 0;
  const lines = new Map(paths.map((path) => [path, [] as string[]]));

  const working = ["one", "two", "three"].map(async (client) => {
    const ask = sure(createAsk(`remote/crash/${client}`));
    while (left-- > 0) {
      const key = `${client}-${left}`;
      const path = chance.pick(paths);
      // A client whose answer was lost sends the same key again, and one whose base has changed reads it anew.
      while ((await ask("append", path, `${key}\n`, key)).stale !== undefined) stale++;
      lines.get(path)?.push(key);
    }
  });
  const killing = (async () => {
    for (let kill = 0; kill < kills; kill++) {
      const before = left;
      await waitUntil("some more edits", () => left < before - 5 || left <= 0);
      await worker.restart();
    }
  })();
  await Promise.all([...working, killing]);
  console.log(`${appends} edits, ${stale} of them on a base that had changed, ${kills} kills`);

  const keys = (await sure(owner)("keys")) as { id: number; key: string }[];
  expect(keys.map(({ key }) => key).sort()).toEqual([...lines.values()].flat().sort());
  for (const path of paths) {
    const text = (await sure(owner)("readText", path)) as string;
    expect(text.split("\n").slice(0, -1).sort()).toEqual([...(lines.get(path) as string[])].sort());
  }
  // Each version is the one before it and the line of its own key.
  const texts = new Map(paths.map((path) => [path, ""]));
  for (const { id, key } of keys.slice(0, 200)) {
    const path = paths.find((path) => lines.get(path)?.includes(key)) as string;
    const expected = `${texts.get(path)}${key}\n`;
    expect([id, (await owner("contentAt", path, id)) ?? ""]).toEqual([id, expected]);
    texts.set(path, expected);
  }
}, 180_000);
