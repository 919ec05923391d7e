import { fail } from "@thinkery/sdk";
import { afterEach, expect, test, vi } from "vitest";
import { writeUpdate } from "y-protocols/sync";
import * as Y from "yjs";
import { type Random, createRandom } from "../../../../../tests/kit/random.ts";
import type { LiveStorage } from "./live-store.ts";
import { connect, disconnectAll, createMemoryWorkspace, settle, type TestClient } from "./live.fixture.ts";
import { Room } from "./room.ts";

afterEach(() => {
  vi.restoreAllMocks();
  disconnectAll();
});

test("whoever connects has the files, and what they type is committed and reaches the others", () => {
  const { room, rows, commits } = createMemoryWorkspace({
    "a.txt": "one\n",
    "logo.png": { blob: "abc", size: 3, mediaType: "image/png" },
  });
  const ada = connect(room);
  const ben = connect(room, { user: "ben" });
  expect(ada.all()).toEqual({ "a.txt": "one\n" });
  expect(ada.doc.getMap("binaries").toJSON()).toEqual({ "logo.png": { hash: "abc", size: 3, mediaType: "image/png" } });
  ben.files.get("a.txt")?.insert(4, "two\n");
  ben.files.set("src/new.ts", new Y.Text("x"));
  settle(ada, ben);
  expect(ada.all()).toEqual({ "a.txt": "one\ntwo\n", "src/new.ts": "x" });
  expect(rows.get("a.txt")).toBe("one\ntwo\n");
  expect(commits.map(({ origin }) => origin)).toEqual([
    { kind: "user", user: "ben" },
    { kind: "user", user: "ben" },
  ]);
  ada.files.delete("a.txt");
  settle(ada, ben);
  expect([...rows.keys()]).toEqual(["logo.png", "src/new.ts"]);
  expect(ben.all()).toEqual({ "src/new.ts": "x" });
});

test("a commit of somebody else becomes a small edit, and both survive what is typed meanwhile", () => {
  const { room, rows, files } = createMemoryWorkspace({ "a.txt": "one\ntwo\nthree\n" });
  const ada = connect(room);
  const text = ada.files.get("a.txt") as Y.Text;
  text.insert(0, "zero\n");
  files.commit([{ write: "a.txt", content: "one\ntwo\n3\n" }], { kind: "agent" });
  settle(ada);
  expect(rows.get("a.txt")).toBe("zero\none\ntwo\n3\n");
  expect(ada.files.get("a.txt")).toBe(text);
  expect(text.toString()).toBe("zero\none\ntwo\n3\n");
  files.commit([{ write: "a.txt", content: "nothing\none\ntwo\nand 3\nfour" }], { kind: "agent" });
  settle(ada);
  expect(text.toString()).toBe("nothing\none\ntwo\nand 3\nfour");
  files.commit([{ write: "a.txt", content: { blob: "h", size: 9, mediaType: "text/plain" } }], { kind: "agent" });
  settle(ada);
  expect(ada.all()).toEqual({});
  expect(ada.doc.getMap("binaries").has("a.txt")).toBe(true);
  ada.files.set("a.txt", new Y.Text("text again"));
  settle(ada);
  expect([rows.get("a.txt"), ada.all(), ada.doc.getMap("binaries").toJSON()]).toEqual([
    "text again",
    { "a.txt": "text again" },
    {},
  ]);
});

test("what happened while nobody was connected is in the document when it is opened, under the same id", () => {
  const place = createMemoryWorkspace({ "a.txt": "one\n", "b.txt": "b" });
  const ada = connect(place.room);
  ada.files.get("a.txt")?.insert(0, "zero\n");
  settle(ada);
  ada.leave();
  place.files.commit(
    [{ write: "a.txt", content: "zero\nONE\n" }, { delete: "b.txt" }, { write: "c.txt", content: "😀" }],
    { kind: "agent" },
  );
  ada.files.get("a.txt")?.insert(0, "offline\n");
  ada.connect(place.open());
  settle(ada);
  expect(ada.all()).toEqual({ "a.txt": "offline\nzero\nONE\n", "c.txt": "😀" });
  expect(Object.fromEntries(place.rows)).toEqual(ada.all());
  const ours = () =>
    [...Y.decodeStateVector(Y.encodeStateVector(ada.doc)).keys()].filter((client) => client !== ada.doc.clientID);
  for (let opening = 0; opening < 5; opening += 1) {
    ada.leave();
    place.files.commit([{ write: "c.txt", content: `😁${opening}` }], { kind: "agent" });
    ada.connect(place.open());
  }
  expect(ada.text("c.txt")).toBe("😁4");
  expect(ours()).toEqual([place.storage.client]);
});

test("those who stayed connected while the object slept are told what they missed", () => {
  const place = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(place.room);
  const ben = connect(place.room);
  const room = place.open();
  ada.stay(room);
  ben.stay(room);
  place.files.commit([{ write: "a.txt", content: "one, two" }], { kind: "agent" });
  expect([ada.text("a.txt"), ben.text("a.txt")]).toEqual(["one, two", "one, two"]);
  // Whoever comes now hears of those who were there before, though all that was known of them is forgotten.
  ada.connect(room);
  const carl = connect(room);
  settle(carl, ben, carl, ada);
  expect([...carl.awareness.getStates().keys()].sort()).toEqual([ada, ben, carl].map(({ doc }) => doc.clientID).sort());
});

test("a document whose stored state is damaged is made anew from the files, and those who have the old one get the new one", () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  const place = createMemoryWorkspace({
    "a.txt": "one\n",
    "logo.png": { blob: "abc", size: 3, mediaType: "image/png" },
  });
  const ada = connect(place.room);
  const ben = connect(place.room);
  ada.files.get("a.txt")?.insert(4, "two\n");
  settle(ada, ben);
  place.storage.damaged = true;
  const room = place.open();
  ben.stay(room);
  ada.connect(room);
  settle(ada, ben, ada);
  expect(ada.closed ?? ben.closed).toBeUndefined();
  expect([ada.all(), ben.all(), place.rows.get("a.txt")]).toEqual([
    { "a.txt": "one\ntwo\n" },
    { "a.txt": "one\ntwo\n" },
    "one\ntwo\n",
  ]);
  ben.files.get("a.txt")?.insert(0, "zero\n");
  settle(ada, ben, ada);
  expect([ada.text("a.txt"), place.rows.get("a.txt")]).toEqual(["zero\none\ntwo\n", "zero\none\ntwo\n"]);
  expect(error.mock.calls.flat().join()).toMatch(/^the live document of branch main is damaged[^\n]*$/);
  expect(error.mock.calls.flat().join()).not.toContain("one");
});

test("the stored state stays small, and is all that is needed to go on", () => {
  const place = createMemoryWorkspace({ "a.txt": "" });
  const ada = connect(place.room);
  const ben = connect(place.room);
  for (let edit = 0; edit < 100; edit += 1) {
    ada.files.get("a.txt")?.insert(edit, String(edit % 10));
    settle(ada, ben);
  }
  expect(place.storage.tail.length).toBeLessThanOrEqual(20);
  ada.leave();
  ben.leave();
  expect(place.storage.tail).toEqual([]);
  expect(connect(place.open()).text("a.txt")).toBe(place.rows.get("a.txt"));
});

test("what the workspace does not take is put back before anybody sees it, and its sender is told why", () => {
  const { room, rows } = createMemoryWorkspace({ "a.txt": "one" });
  for (const [path, code, reason] of [
    ["full.txt", 4413, "There is no room for it."],
    ["twin.txt", 4409, "It has a twin."],
    ["long.txt", 4413, `${"“” ".repeat(17)}…`],
  ] as const) {
    const ada = connect(room);
    const ben = connect(room);
    ben.doc.transact(() => {
      ben.files.get("a.txt")?.insert(0, "not this ");
      ben.files.set(path, new Y.Text("secret"));
    });
    settle(ben, ada);
    expect(ben.closed).toEqual({ code, reason });
    expect(ben.all()).toEqual({ "a.txt": "one" });
    expect(ada.all()).toEqual({ "a.txt": "one" });
    expect(rows.get("a.txt")).toBe("one");
    expect(ada.closed).toBeUndefined();
    expect(ada.received.some((bytes) => Buffer.from(bytes).includes("secret"))).toBe(false);
  }
});

test("an entry under a path that cannot be one is taken out again, and the rest stays", () => {
  const { room, rows } = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(room);
  const ben = connect(room);
  const wrong = [
    "../up",
    "/etc/passwd",
    "a\\b",
    "",
    "./a.txt",
    "/work/a.txt",
    "e\u0301",
    "con",
    "x".repeat(300),
    "a\0b",
  ];
  for (const path of wrong) ben.files.set(path, new Y.Text("x"));
  ben.files.set("fine.txt", new Y.Text("x"));
  settle(ben, ada, ben);
  expect(ben.closed).toBeUndefined();
  expect([ada.all(), ben.all(), Object.fromEntries(rows)]).toEqual(
    Array.from({ length: 3 }, () => ({ "a.txt": "one", "fine.txt": "x" })),
  );
});

test("what clients do to the list of other files is put back", () => {
  const binary = { blob: "abc", size: 3, mediaType: "image/png" };
  const { room, storage } = createMemoryWorkspace({ "logo.png": binary });
  const ada = connect(room);
  const ben = connect(room);
  ben.doc.getMap("binaries").delete("logo.png");
  ben.doc.getMap("binaries").set("other.png", { hash: "x" });
  settle(ben, ada, ben);
  for (const { doc, closed } of [ada, ben]) {
    expect(closed).toBeUndefined();
    expect(doc.getMap("binaries").toJSON()).toEqual({ "logo.png": { hash: "abc", size: 3, mediaType: "image/png" } });
    expect(new Set(Y.decodeStateVector(Y.encodeStateVector(doc)).keys())).toEqual(
      new Set([storage.client, ben.doc.clientID]),
    );
  }
});

test("whoever may only read is shown everything and changes nothing", () => {
  const { room, rows, commits } = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(room);
  const reader = connect(room, { mayWrite: false });
  reader.files.get("a.txt")?.insert(0, "no ");
  settle(reader, ada, reader);
  expect(reader.closed).toBeUndefined();
  expect([ada.text("a.txt"), rows.get("a.txt"), commits.length]).toEqual(["one", "one", 0]);
  ada.files.get("a.txt")?.insert(3, ", two");
  settle(ada, reader);
  expect(reader.text("a.txt")).toBe("no one, two");
  expect(ada.awareness.getStates().has(reader.doc.clientID)).toBe(true);
});

test("an update that builds on what is not here is not kept; the client is asked for all of it", () => {
  const { room, rows } = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(room);
  const lost: Uint8Array[] = [];
  ada.doc.on("update", (update: Uint8Array) => lost.push(update));
  ada.files.get("a.txt")?.insert(3, "!");
  ada.files.get("a.txt")?.insert(4, "?");
  const bens = connect(room);
  const asked = () => bens.received.filter(([kind, what]) => kind === 0 && what === 0).length;
  for (let time = 0; time < 3; time += 1) {
    bens.say((encoder) => writeUpdate(encoder, lost[1] as Uint8Array));
    bens.flush();
  }
  expect([bens.closed, rows.get("a.txt")]).toEqual([undefined, "one"]);
  // Ben cannot bring what is missing, and is not asked for ever; Ada can.
  expect(asked()).toBe(2);
  settle(ada, bens);
  expect(asked()).toBe(3);
  expect([rows.get("a.txt"), bens.text("a.txt")]).toEqual(["one!?", "one!?"]);
});

test("nobody edits under the id of another user who is here, nor under the house's own", () => {
  const place = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(place.room);
  const eve = connect(place.room, { user: "eve" });
  const spoofed = (client: number) => {
    const doc = new Y.Doc();
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(eve.doc));
    doc.clientID = client;
    doc.getMap<Y.Text>("files").get("a.txt")?.insert(0, "eve ");
    return Y.encodeStateAsUpdate(doc);
  };
  eve.say((encoder) => writeUpdate(encoder, spoofed(ada.doc.clientID)));
  eve.flush();
  expect(eve.closed?.code).toBe(4409);
  expect(place.rows.get("a.txt")).toBe("one");
  eve.connect();
  const house = place.storage.client;
  eve.say((encoder) => writeUpdate(encoder, spoofed(house)));
  settle(eve, ada);
  expect(place.storage.client).toBeGreaterThan(house);
  place.files.commit([{ write: "a.txt", content: "eve one, two" }], { kind: "agent" });
  settle(ada, eve);
  expect([ada.text("a.txt"), place.rows.get("a.txt")]).toEqual(["eve one, two", "eve one, two"]);
});

test("whatever people, the house and its crashes do in whatever order, all end up with the same", () => {
  const chance = createRandom("room");
  for (let game = 0; game < 15; game += 1) {
    const place = createMemoryWorkspace({ "a.txt": "one\ntwo\nthree\nfour\n", "b.txt": "" });
    const people = [connect(place.room), connect(place.room), connect(place.room)];
    for (let move = 0; move < 150; move += 1) play(chance, place, people);
    settle(...people);
    settle(...people);
    const files = Object.fromEntries(place.rows);
    expect(people.map((person) => [person.closed, person.all()])).toEqual(people.map(() => [undefined, files]));
    expect(connect(place.open()).all()).toEqual(files);
  }
});

function play(chance: Random, place: ReturnType<typeof createMemoryWorkspace>, people: TestClient[]): void {
  const path = chance.pick(["a.txt", "b.txt", "c.txt"]);
  const person = chance.pick(people);
  const text = person.files.get(path);
  const piece = chance.pick(["x", "line\n", "😀", "\n", "two words"]);
  const move = chance.below(20);
  if (move < 8) {
    if (!text) person.files.set(path, new Y.Text(piece));
    else if (text.length > 4 && chance.chance(0.3)) text.delete(chance.below(text.length - 2), 2);
    else text.insert(chance.below(text.length + 1), piece);
  } else if (move < 13) {
    const content = place.rows.get(path);
    if (typeof content === "string" && chance.chance(0.1))
      return void place.files.commit([{ delete: path }], { kind: "agent" });
    const lines = (typeof content === "string" ? content : "").split("\n");
    for (let edit = 0; edit <= chance.below(3); edit += 1)
      lines.splice(chance.below(lines.length + 1), chance.below(2), `house ${piece}`);
    place.files.commit([{ write: path, content: lines.join("\n") }], { kind: "agent" });
  } else if (move < 19) {
    person.flush();
  } else {
    const room = place.open();
    const staying = people.filter(() => chance.chance(0.5));
    for (const one of staying) one.stay(room);
    for (const one of people) if (!staying.includes(one)) one.connect(room);
  }
}

test("when a branch is removed, everybody on it is told, and what they have is not taken for another of that name", () => {
  const place = createMemoryWorkspace({ "a.txt": "one\n" });
  const ada = connect(place.room);
  place.room.dissolve("The branch is gone.");
  expect(ada.closed).toEqual({ code: 4404, reason: "The branch is gone." });
  place.rows.set("a.txt", "two\n");
  ada.connect(place.open());
  settle(ada);
  expect([ada.all(), Object.fromEntries(place.rows)]).toEqual([{ "a.txt": "two\n" }, { "a.txt": "two\n" }]);
});

test("a branch that is not there leaves nothing behind when somebody asks for it", () => {
  const { files, storage } = createMemoryWorkspace();
  const asked: string[] = [];
  const store = new Proxy({} as LiveStorage, { get: (_, name) => () => void asked.push(String(name)) });
  const none = () => {
    throw fail("not_found", "There is no such branch.");
  };
  const ada = connect(new Room({ branch: "gone", files: { ...files, iterateContents: none }, store }));
  expect([ada.closed?.code, asked, storage.tail]).toEqual([4404, ["readSettled"], []]);
});
