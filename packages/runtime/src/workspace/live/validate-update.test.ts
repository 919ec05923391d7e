import { expect, test } from "vitest";
import * as Y from "yjs";
import { type Content, craftUpdate, type CraftedStruct, type CraftedUpdate, sharedTypes } from "./crafted.fixture.ts";
import { LiveError } from "./live-error.ts";
import { validateUpdate } from "./validate-update.ts";

const text = sharedTypes.text;

/** Creates two files: the first has entry 1/0 and text 1/1 to 1/5, the second 1/6 and 1/7 to 1/9. */
function createDoc(): Y.Doc {
  const doc = new Y.Doc();
  doc.clientID = 1;
  doc.getMap("files").set("a.txt", new Y.Text("hello"));
  doc.getMap("files").set("b.txt", new Y.Text("two"));
  doc.getMap("binaries").set("logo.png", { hash: "h" });
  return doc;
}

function applyAndDescribe(update: CraftedUpdate | Uint8Array): string {
  const doc = createDoc();
  const before = Y.encodeStateAsUpdate(doc);
  const bytes = update instanceof Uint8Array ? update : craftUpdate(update);
  let delta: Uint8Array;
  try {
    const validation = validateUpdate(doc, bytes);
    if (validation.gap) return "gap";
    ({ delta } = validation);
  } catch (error) {
    expect(error).toBeInstanceOf(LiveError);
    return String((error as LiveError).code);
  } finally {
    expect(Y.encodeStateAsUpdate(doc)).toEqual(before);
  }
  // An accepted update does not break Yjs, neither here nor on the next peer.
  Y.applyUpdate(doc, delta);
  expect([doc.store.pendingStructs, doc.store.pendingDs]).toEqual([null, null]);
  const other = new Y.Doc();
  Y.applyUpdate(other, Y.encodeStateAsUpdate(doc));
  expect(other.getMap("files").toJSON()).toEqual(doc.getMap("files").toJSON());
  for (const file of doc.getMap<Y.Text>("files").values()) expect(file.length).toBe(file.toString().length);
  return "valid";
}

const createUpdate = (struct: CraftedStruct): CraftedUpdate => ({ runs: [[9, 0, struct]] });
const createText = (content: Content): CraftedStruct => ({ left: [1, 5], content });

test("edits of files are valid", () => {
  expect(applyAndDescribe(createUpdate(createText({ text: "!" })))).toBe("valid");
  expect(applyAndDescribe(createUpdate({ right: [1, 1], content: { text: "!" } }))).toBe("valid");
  expect(applyAndDescribe(createUpdate({ left: [1, 2], right: [1, 3], content: { text: "-" } }))).toBe("valid");
  expect(applyAndDescribe(createUpdate({ in: [1, 6], content: { text: "-" } }))).toBe("valid");
  expect(applyAndDescribe(createUpdate({ root: "files", sub: "c.txt", content: { type: text } }))).toBe("valid");
  expect(applyAndDescribe(createUpdate({ left: [1, 0], content: { type: text } }))).toBe("valid");
  expect(applyAndDescribe(createUpdate({ gc: 5 }))).toBe("valid");
  expect(applyAndDescribe(createUpdate(createText({ deleted: 3 })))).toBe("valid");
  expect(
    applyAndDescribe({
      runs: [
        [9, 0, { root: "files", sub: "c.txt", content: { type: text } }, { in: [9, 0], content: { text: "new" } }],
      ],
    }),
  ).toBe("valid");
  expect(applyAndDescribe({ runs: [], deletions: [[1, [0, 1], [2, 2]]] })).toBe("valid");
  // One client's item depends on another's, in either order.
  expect(
    applyAndDescribe({
      runs: [
        [9, 0, { left: [8, 0], content: { text: "b" } }],
        [8, 0, createText({ text: "a" })],
      ],
    }),
  ).toBe("valid");
  expect(
    applyAndDescribe({
      runs: [
        [8, 0, createText({ text: "a" })],
        [9, 0, { left: [8, 0], content: { text: "b" } }],
      ],
    }),
  ).toBe("valid");
  // The same client twice, which amounts to one run.
  expect(
    applyAndDescribe({
      runs: [
        [9, 0, createText({ text: "x" })],
        [9, 0, { in: [1, 6], content: { text: "y" } }],
      ],
    }),
  ).toBe("valid");
  expect(applyAndDescribe(createUpdate({ root: "binaries", sub: "x", content: { any: [{ hash: "x" }] } }))).toBe(
    "valid",
  );
});

test("the state of an honest client is valid after any edits", () => {
  const doc = createDoc();
  const client = new Y.Doc();
  Y.applyUpdate(client, Y.encodeStateAsUpdate(doc));
  const files = client.getMap<Y.Text>("files");
  for (let edit = 0; edit < 300; edit += 1) {
    const file = files.get(["a.txt", "b.txt", "c.txt"][edit % 3] as string);
    if (!file) files.set("c.txt", new Y.Text("c"));
    else if (edit % 7 === 0) files.delete(["a.txt", "b.txt", "c.txt"][edit % 3] as string);
    else if (edit % 4 === 0 && file.length > 2) file.delete(1, 1);
    else file.insert(edit % (file.length + 1), "xy");
    if (edit % 7 === 1) files.set(["a.txt", "b.txt"][edit % 2] as string, new Y.Text("again"));
  }
  expect(validateUpdate(doc, Y.encodeStateAsUpdate(client)).gap).toBe(false);
  const since = Y.encodeStateAsUpdate(client, Y.encodeStateVector(doc));
  expect(validateUpdate(doc, since).clients).toEqual(new Set([client.clientID]));
  Y.applyUpdate(doc, since);
  expect(validateUpdate(doc, since).clients).toEqual(new Set());
});

test("an update with missing dependencies is a gap", () => {
  const gaps: CraftedUpdate[] = [
    { runs: [[9, 3, createText({ text: "!" })]] },
    createUpdate({ left: [1, 50], content: { text: "!" } }),
    createUpdate({ right: [7, 0], content: { text: "!" } }),
    createUpdate({ in: [7, 0], content: { text: "!" } }),
    { runs: [[9, 0, { skip: 3 }, createText({ text: "!" })]] },
    { runs: [[9, 0, createText({ text: "!" }), { skip: 3 }, createText({ text: "!" })]] },
    { runs: [], deletions: [[7, [0, 1]]] },
    { runs: [], deletions: [[1, [5, 50]]] },
  ];
  expect(gaps.map(applyAndDescribe)).toEqual(gaps.map(() => "gap"));
});

test("other content types are rejected everywhere", () => {
  const contents: Content[] = [
    { json: ['"x"'] },
    { bytes: new Uint8Array(3) },
    { embed: '{"image":"x"}' },
    { format: ["bold", "true"] },
    { doc: "sub" },
    ...Object.values(sharedTypes)
      .filter((type) => type !== text)
      .map((type) => ({ type })),
  ];
  for (const content of contents) {
    for (const location of [
      { left: [1, 5] },
      { root: "files", sub: "c.txt" },
      { in: [1, 0] },
      { root: "binaries", sub: "x" },
    ] as const) {
      expect(applyAndDescribe(createUpdate({ ...location, content }))).toBe("4400");
    }
  }
});

test("content in the wrong place is rejected", () => {
  const wrong: CraftedUpdate[] = [
    createUpdate({ root: "files", sub: "c.txt", content: { text: "no file" } }),
    createUpdate({ root: "files", sub: "c.txt", content: { any: ["no file"] } }),
    createUpdate({ root: "files", content: { type: text } }),
    createUpdate({ root: "files", content: { text: "no map" } }),
    createUpdate({ root: "binaries", content: { any: [1] } }),
    createUpdate({ root: "binaries", sub: "x", content: { type: text } }),
    createUpdate({ root: "other", sub: "x", content: { type: text } }),
    createUpdate({ root: "", content: { text: "x" } }),
    createUpdate({ root: "__proto__", sub: "x", content: { type: text } }),
    createUpdate(createText({ type: text })),
    createUpdate(createText({ any: ["x"] })),
    createUpdate({ left: [1, 0], content: { text: "x" } }),
    createUpdate({ in: [1, 0], content: { type: text } }),
    createUpdate({ in: [1, 0], sub: "attribute", content: { any: ["x"] } }),
    createUpdate({ in: [1, 0], sub: "attribute", content: { text: "x" } }),
    createUpdate({ root: "binaries", sub: "x", content: { any: [{ deep: { er: 1 } }] } }),
    createUpdate({ root: "binaries", sub: "x", content: { any: ["no object"] } }),
    createUpdate({ in: [1, 2], content: { text: "in a letter" } }),
    createUpdate({ in: [1, 10], content: { text: "in a binary" } }),
    createUpdate({ left: [1, 2], right: [1, 8], content: { text: "between two files" } }),
    createUpdate({ left: [1, 10], content: { text: "beside a binary" } }),
  ];
  for (const [index, update] of wrong.entries()) expect([index, applyAndDescribe(update)]).toEqual([index, "4400"]);
});

test("updates that would corrupt the document are rejected", () => {
  const broken: CraftedUpdate[] = [
    // References to itself, to a later item, and a cycle.
    createUpdate({ left: [9, 0], content: { text: "x" } }),
    createUpdate({ right: [9, 5], content: { text: "x" } }),
    createUpdate({ in: [9, 0], content: { type: text } }),
    {
      runs: [
        [9, 0, { left: [8, 0], content: { text: "x" } }],
        [8, 0, { left: [9, 0], content: { text: "y" } }],
      ],
    },
    // Empty and uncountable lengths.
    { runs: [[9, 0, { gc: 1 }, { gc: 0 }]] },
    { runs: [[9, 0, { gc: 1 }, createText({ deleted: 0 })]] },
    { runs: [[9, 0, { gc: 1 }, createText({ text: "" })]] },
    createUpdate({ gc: 2 ** 40 }),
    { runs: [[9, 2 ** 33, { gc: 1 }]] },
    createUpdate(createText({ deleted: Number.MAX_SAFE_INTEGER })),
    // Continues a binary's entry.
    { runs: [[1, 10, { in: [1, 0], content: { text: "oxx" } }]] },
    // Deletions that would be walked repeatedly.
    { runs: [], deletions: [[1, [0, 5], [0, 5]]] },
    { runs: [], deletions: [[1, [3, 2], [1, 1]]] },
    { runs: [], deletions: [[1, [3, 0]]] },
  ];
  for (const [index, update] of broken.entries()) expect([index, applyAndDescribe(update)]).toEqual([index, "4400"]);
});

test("known structs are ignored, and only what continues them is validated", () => {
  const doc = createDoc();
  Y.applyUpdate(doc, craftUpdate(createUpdate(createText({ text: "ab" }))));
  const countNewClients = (struct: CraftedStruct) => {
    const { gap, delta, clients } = validateUpdate(doc, craftUpdate(createUpdate(struct)));
    Y.applyUpdate(doc, delta);
    expect(gap).toBe(false);
    return clients.size;
  };
  // Yjs itself would follow these dangling references.
  expect(countNewClients({ left: [1, 5], right: [9, 70], content: { text: "ab" } })).toBe(0);
  expect(countNewClients({ in: [1, 2], content: { text: "ab" } })).toBe(0);
  expect(countNewClients(createText({ text: "abcd" }))).toBe(1);
  expect(countNewClients({ in: [1, 6], content: { text: "abcdef" } })).toBe(1);
  expect(doc.getMap("files").toJSON()).toEqual({ "a.txt": "helloabcdef", "b.txt": "two" });
});

test("updates that are too expensive to apply are rejected", () => {
  const crowd = (count: number): CraftedUpdate => ({
    runs: Array.from(
      { length: count },
      (_, index) => [100 + index, 0, { left: [1, 3], content: { text: "x" } }] as const,
    ),
  });
  expect(applyAndDescribe(crowd(1_000))).toBe("valid");
  expect(applyAndDescribe(crowd(10_000))).toBe("4413");
  // Each item was inserted at the one before, so Yjs passes all that follow to place one more without a right neighbour.
  const doc = createDoc();
  const insertAtEach = (client: number, count: number): CraftedStruct[] =>
    Array.from({ length: count }, (_, index) => ({
      left: index === 0 ? [1, 5] : [client, index - 1],
      content: { text: "x" },
    }));
  Y.applyUpdate(doc, craftUpdate({ runs: [8, 9].map((client) => [client, 0, ...insertAtEach(17 - client, 2_000)]) }));
  expect(() => validateUpdate(doc, craftUpdate({ runs: [[100, 0, ...insertAtEach(9, 2_000)]] }))).toThrow(LiveError);
  const holes = (count: number): CraftedUpdate => ({
    runs: [[9, 0, createText({ text: "x".repeat(2 * count) })]],
    deletions: [[9, ...Array.from({ length: count }, (_, index) => [2 * index, 1] as const)]],
  });
  expect(applyAndDescribe(holes(5_000))).toBe("valid");
  expect(applyAndDescribe(holes(30_000))).toBe("4413");
});

test("bytes that are not an update are rejected", () => {
  for (const bytes of [
    [],
    [1],
    [255, 255, 255, 255, 255, 255, 255, 255, 255, 255],
    [1, 1, 9, 0, 11],
    [0, 1, 1, 255],
    [1, 200, 200, 3, 9, 0, 0],
  ]) {
    expect(applyAndDescribe(new Uint8Array(bytes))).toBe("4400");
  }
});
