import { afterAll, beforeAll, expect, test } from "vitest";
import * as Y from "yjs";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("live-document.worker.ts", import.meta.url), { objects: ["DocumentObject"] });
});

afterAll(() => worker?.stop());

interface OpenDocument {
  /** Whether no statement failed. */
  succeeded: boolean;
  damaged: boolean;
  doc: Y.Doc;
  texts: Record<string, string>;
  files: Record<string, string>;
  tail: number;
  /** What its edits took to be placed. */
  steps: number;
  parts: number;
  maxRowBytes: number;
}

async function open(name: string, request: object = {}): Promise<OpenDocument> {
  const response = await fetch(`${worker.url}/${name}`, { method: "POST", body: JSON.stringify(request) });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  const { state = "AAA=", ...seen } = JSON.parse(text) as { state?: string } & Omit<OpenDocument, "doc" | "texts">;
  const doc = new Y.Doc();
  Y.applyUpdate(doc, Buffer.from(state, "base64"));
  return { ...seen, doc, texts: doc.getMap("files").toJSON() };
}

/** Types in a client's copy of the document; returns the updates, one per key. */
function typeKeys({ doc }: OpenDocument, path: string, keys: number): string[] {
  const updates: string[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(Buffer.from(update).toString("base64")));
  const text = doc.getMap<Y.Text>("files").get(path);
  for (let key = 0; key < keys; key += 1) text?.insert(text.length, String(key % 10));
  return updates;
}

test("a document is stored as a snapshot plus later updates, and reopens unchanged", async () => {
  const seen = await open("tail", { edits: [{ write: "a.txt", content: "begin " }] });
  const after = await open("tail", { updates: typeKeys(seen, "a.txt", 30), close: false });
  expect([after.texts, after.tail, after.parts]).toEqual([{ "a.txt": `begin ${"0123456789".repeat(3)}` }, 30, 1]);
  const again = await open("tail");
  expect([again.texts, again.files]).toEqual([after.texts, after.texts]);
  expect(Y.encodeStateVector(again.doc)).toEqual(Y.encodeStateVector(after.doc));
  const long = await open("tail", { updates: typeKeys(again, "a.txt", 1_000), close: false });
  expect(long.parts).toBe(1);
  expect(long.tail).toBeLessThanOrEqual(501);
  const closed = await open("tail", { updates: typeKeys(long, "a.txt", 60) });
  expect([closed.tail, closed.parts, closed.texts["a.txt"]?.length]).toEqual([0, 1, 6 + 30 + 1_000 + 60]);
});

test("a document whose edits would take too long to place again is rebuilt from the files, once", async () => {
  const [ada, ben] = [await open("steps", { edits: [{ write: "a.txt", content: "x" }] }), await open("steps")];
  const prepend = ({ doc }: OpenDocument, name: string) => {
    const before = Y.encodeStateVector(doc);
    for (let line = 0; line < 20; line += 1) doc.getMap<Y.Text>("files").get("a.txt")?.insert(0, name);
    return Buffer.from(Y.encodeStateAsUpdate(doc, before)).toString("base64");
  };
  expect((await open("steps", { updates: [prepend(ada, "a")] })).steps).toBe(0);
  const both = await open("steps", { updates: [prepend(ben, "b")] });
  // Ben's lines were each placed past Ada's.
  expect([both.steps >= 20 * 20, both.damaged]).toEqual([true, false]);
  const rebuilt = await open("steps", { damage: "UPDATE live_docs SET steps = 100000000" });
  expect([rebuilt.damaged, rebuilt.steps, rebuilt.texts]).toEqual([true, 0, both.files]);
  expect((await open("steps")).damaged).toBe(false);
});

test("a document larger than one row is stored in several", async () => {
  const edits = Array.from({ length: 5 }, (_, index) => ({
    write: `${index}.txt`,
    content: `${index}`.repeat(900_000),
  }));
  const { parts, maxRowBytes, texts, files } = await open("large", { edits });
  expect([parts, texts]).toEqual([5, files]);
  expect(maxRowBytes).toBeLessThanOrEqual(1024 * 1024);
  expect((await open("large")).texts).toEqual(files);
});

test("an update that failed at any statement is applied completely, and once, when it is sent again", async () => {
  const first = await open("failing", {
    edits: [
      { write: "a.txt", content: "one " },
      { write: "b.txt", content: "two" },
    ],
  });
  const files = first.doc.getMap<Y.Text>("files");
  let expected = "one ";
  let rounds = 0;
  for (let succeeded = false; !succeeded; rounds += 1) {
    files.get("a.txt")?.insert(4, `${rounds} `);
    expected = `one ${rounds} ${expected.slice(4)}`;
    if (rounds % 2 === 0) files.set(`new-${rounds}.txt`, new Y.Text(`new ${rounds}`));
    // As a client does that reconnects.
    const updates = [Buffer.from(Y.encodeStateAsUpdate(first.doc)).toString("base64")];
    succeeded = (await open("failing", { updates, close: false, failAtStatement: rounds + 1 })).succeeded;
    const { doc, texts, files: rows } = await open("failing", { updates, close: false });
    expect([texts, rows["a.txt"]]).toEqual([rows, expected]);
    Y.applyUpdate(first.doc, Y.encodeStateAsUpdate(doc));
    expect(first.doc.getMap("files").toJSON()).toEqual(rows);
  }
  expect(rounds).toBeGreaterThan(10);
});

test.each([
  [
    "a wrong byte in an update",
    "UPDATE live_updates SET data = CAST(X'00' || substr(data, 2) AS BLOB) WHERE number = (SELECT max(number) FROM live_updates)",
  ],
  [
    "an update that is not one, with the right checksum",
    "UPDATE live_updates SET data = X'FFFFFF', checksum = 4294967040 WHERE number = 1",
  ],
  ["an update missing", "DELETE FROM live_updates WHERE number = 2"],
  [
    "a snapshot that is cut off",
    "INSERT OR REPLACE INTO live_snapshots (branch, part, checksum, data) VALUES ('main', 0, 1, X'0102')",
  ],
])("with %s, the document is rebuilt from the files and stays usable", async (name, damage) => {
  const object = encodeURIComponent(name);
  const seen = await open(object, {
    edits: [
      { write: "a.txt", content: "one " },
      { write: "b.txt", content: "two" },
    ],
  });
  await open(object, { updates: typeKeys(seen, "a.txt", 5), close: false });
  const rebuilt = await open(object, { damage });
  expect([rebuilt.damaged, rebuilt.texts, rebuilt.files]).toEqual([
    true,
    { "a.txt": "one 01234", "b.txt": "two" },
    { "a.txt": "one 01234", "b.txt": "two" },
  ]);
  // Client ids differ, so that holders of the old document do not take the new one for its continuation.
  const getMaxClientId = ({ doc }: OpenDocument) => Math.max(...Y.decodeStateVector(Y.encodeStateVector(doc)).keys());
  expect(getMaxClientId(rebuilt)).toBeGreaterThan(getMaxClientId(seen));
  const next = await open(object, { updates: typeKeys(rebuilt, "a.txt", 2) });
  expect([next.damaged, next.files["a.txt"], next.texts["a.txt"]]).toEqual([false, "one 0123401", "one 0123401"]);
});
