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

test("a client gets the files, and its edits are committed and broadcast", () => {
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

test("a commit becomes a minimal edit and merges with concurrent typing", () => {
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

test("commits made while nobody was connected are in the reopened document, under the same id", () => {
  const workspace = createMemoryWorkspace({ "a.txt": "one\n", "b.txt": "b" });
  const ada = connect(workspace.room);
  ada.files.get("a.txt")?.insert(0, "zero\n");
  settle(ada);
  ada.leave();
  workspace.files.commit(
    [{ write: "a.txt", content: "zero\nONE\n" }, { delete: "b.txt" }, { write: "c.txt", content: "😀" }],
    { kind: "agent" },
  );
  ada.files.get("a.txt")?.insert(0, "offline\n");
  ada.connect(workspace.open());
  settle(ada);
  expect(ada.all()).toEqual({ "a.txt": "offline\nzero\nONE\n", "c.txt": "😀" });
  expect(Object.fromEntries(workspace.rows)).toEqual(ada.all());
  const listHostIds = () =>
    [...Y.decodeStateVector(Y.encodeStateVector(ada.doc)).keys()].filter((client) => client !== ada.doc.clientID);
  for (let opening = 0; opening < 5; opening += 1) {
    ada.leave();
    workspace.files.commit([{ write: "c.txt", content: `😁${opening}` }], { kind: "agent" });
    ada.connect(workspace.open());
  }
  expect(ada.text("c.txt")).toBe("😁4");
  expect(listHostIds()).toEqual([workspace.storage.client]);
});

test("clients that stayed connected during hibernation get what they missed", () => {
  const workspace = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(workspace.room);
  const ben = connect(workspace.room);
  const room = workspace.open();
  ada.stay(room);
  ben.stay(room);
  workspace.files.commit([{ write: "a.txt", content: "one, two" }], { kind: "agent" });
  expect([ada.text("a.txt"), ben.text("a.txt")]).toEqual(["one, two", "one, two"]);
  // A new client sees the presence of earlier ones, though it was lost in hibernation.
  ada.connect(room);
  const carl = connect(room);
  settle(carl, ben, carl, ada);
  expect([...carl.awareness.getStates().keys()].sort()).toEqual([ada, ben, carl].map(({ doc }) => doc.clientID).sort());
});

test("a document with damaged storage is rebuilt from the files, also for clients that have the old one", () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  const workspace = createMemoryWorkspace({
    "a.txt": "one\n",
    "logo.png": { blob: "abc", size: 3, mediaType: "image/png" },
  });
  const ada = connect(workspace.room);
  const ben = connect(workspace.room);
  ada.files.get("a.txt")?.insert(4, "two\n");
  settle(ada, ben);
  workspace.storage.damaged = true;
  const room = workspace.open();
  ben.stay(room);
  ada.connect(room);
  settle(ada, ben, ada);
  expect(ada.closed ?? ben.closed).toBeUndefined();
  expect([ada.all(), ben.all(), workspace.rows.get("a.txt")]).toEqual([
    { "a.txt": "one\ntwo\n" },
    { "a.txt": "one\ntwo\n" },
    "one\ntwo\n",
  ]);
  ben.files.get("a.txt")?.insert(0, "zero\n");
  settle(ada, ben, ada);
  expect([ada.text("a.txt"), workspace.rows.get("a.txt")]).toEqual(["zero\none\ntwo\n", "zero\none\ntwo\n"]);
  expect(error.mock.calls.flat().join()).toMatch(/^the live document of branch main is damaged[^\n]*$/);
  expect(error.mock.calls.flat().join()).not.toContain("one");
});

test("the stored state is compacted and sufficient to reopen the document", () => {
  const workspace = createMemoryWorkspace({ "a.txt": "" });
  const ada = connect(workspace.room);
  const ben = connect(workspace.room);
  for (let edit = 0; edit < 100; edit += 1) {
    ada.files.get("a.txt")?.insert(edit, String(edit % 10));
    settle(ada, ben);
  }
  expect(workspace.storage.tail.length).toBeLessThanOrEqual(20);
  ada.leave();
  ben.leave();
  expect(workspace.storage.tail).toEqual([]);
  expect(connect(workspace.open()).text("a.txt")).toBe(workspace.rows.get("a.txt"));
});

test("an edit the workspace rejects is undone before anyone sees it, and its sender gets the reason", () => {
  const { room, rows } = createMemoryWorkspace({ "a.txt": "one" });
  for (const [path, code, reason] of [
    ["full.txt", 4413, "The workspace is full."],
    ["taken.txt", 4409, "The path is taken."],
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

test("entries with invalid paths are removed, and the rest is kept", () => {
  const { room, rows } = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(room);
  const ben = connect(room);
  const invalid = [
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
  for (const path of invalid) ben.files.set(path, new Y.Text("x"));
  ben.files.set("fine.txt", new Y.Text("x"));
  settle(ben, ada, ben);
  expect(ben.closed).toBeUndefined();
  expect([ada.all(), ben.all(), Object.fromEntries(rows)]).toEqual(
    Array.from({ length: 3 }, () => ({ "a.txt": "one", "fine.txt": "x" })),
  );
});

test("changes by clients to the list of binaries are undone", () => {
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

test("a read-only client sees everything and changes nothing", () => {
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

test("an update with missing dependencies is dropped, and the client is asked for its whole state", () => {
  const { room, rows } = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(room);
  const lost: Uint8Array[] = [];
  ada.doc.on("update", (update: Uint8Array) => lost.push(update));
  ada.files.get("a.txt")?.insert(3, "!");
  ada.files.get("a.txt")?.insert(4, "?");
  const ben = connect(room);
  const countRequests = () => ben.received.filter(([kind, step]) => kind === 0 && step === 0).length;
  for (let time = 0; time < 3; time += 1) {
    ben.sendSync((encoder) => writeUpdate(encoder, lost[1] as Uint8Array));
    ben.flush();
  }
  expect([ben.closed, rows.get("a.txt")]).toEqual([undefined, "one"]);
  // Ben cannot provide what is missing and is not asked forever; Ada can.
  expect(countRequests()).toBe(2);
  settle(ada, ben);
  expect(countRequests()).toBe(3);
  expect([rows.get("a.txt"), ben.text("a.txt")]).toEqual(["one!?", "one!?"]);
});

test("a client cannot edit under the id of another connected user or the host", () => {
  const workspace = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(workspace.room);
  const eve = connect(workspace.room, { user: "eve" });
  const spoofUpdate = (client: number) => {
    const doc = new Y.Doc();
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(eve.doc));
    doc.clientID = client;
    doc.getMap<Y.Text>("files").get("a.txt")?.insert(0, "eve ");
    return Y.encodeStateAsUpdate(doc);
  };
  eve.sendSync((encoder) => writeUpdate(encoder, spoofUpdate(ada.doc.clientID)));
  eve.flush();
  expect(eve.closed?.code).toBe(4409);
  expect(workspace.rows.get("a.txt")).toBe("one");
  eve.connect();
  const host = workspace.storage.client;
  eve.sendSync((encoder) => writeUpdate(encoder, spoofUpdate(host)));
  settle(eve, ada);
  expect(workspace.storage.client).toBeGreaterThan(host);
  workspace.files.commit([{ write: "a.txt", content: "eve one, two" }], { kind: "agent" });
  settle(ada, eve);
  expect([ada.text("a.txt"), workspace.rows.get("a.txt")]).toEqual(["eve one, two", "eve one, two"]);
});

test("clients, commits and crashes in random order converge", () => {
  const random = createRandom("room");
  for (let game = 0; game < 15; game += 1) {
    const workspace = createMemoryWorkspace({ "a.txt": "one\ntwo\nthree\nfour\n", "b.txt": "" });
    const clients = [connect(workspace.room), connect(workspace.room), connect(workspace.room)];
    for (let move = 0; move < 150; move += 1) applyRandomMove(random, workspace, clients);
    settle(...clients);
    settle(...clients);
    const files = Object.fromEntries(workspace.rows);
    expect(clients.map((client) => [client.closed, client.all()])).toEqual(clients.map(() => [undefined, files]));
    expect(connect(workspace.open()).all()).toEqual(files);
  }
});

function applyRandomMove(
  random: Random,
  workspace: ReturnType<typeof createMemoryWorkspace>,
  clients: TestClient[],
): void {
  const path = random.pick(["a.txt", "b.txt", "c.txt"]);
  const client = random.pick(clients);
  const text = client.files.get(path);
  const piece = random.pick(["x", "line\n", "😀", "\n", "two words"]);
  const move = random.below(20);
  if (move < 8) {
    if (!text) client.files.set(path, new Y.Text(piece));
    else if (text.length > 4 && random.chance(0.3)) text.delete(random.below(text.length - 2), 2);
    else text.insert(random.below(text.length + 1), piece);
  } else if (move < 13) {
    const content = workspace.rows.get(path);
    if (typeof content === "string" && random.chance(0.1))
      return void workspace.files.commit([{ delete: path }], { kind: "agent" });
    const lines = (typeof content === "string" ? content : "").split("\n");
    for (let edit = 0; edit <= random.below(3); edit += 1)
      lines.splice(random.below(lines.length + 1), random.below(2), `host ${piece}`);
    workspace.files.commit([{ write: path, content: lines.join("\n") }], { kind: "agent" });
  } else if (move < 19) {
    client.flush();
  } else {
    const room = workspace.open();
    const staying = clients.filter(() => random.chance(0.5));
    for (const client of staying) client.stay(room);
    for (const client of clients) if (!staying.includes(client)) client.connect(room);
  }
}

test("removing a branch disconnects its clients, and their state does not leak into a new branch of that name", () => {
  const workspace = createMemoryWorkspace({ "a.txt": "one\n" });
  const ada = connect(workspace.room);
  workspace.room.dissolve("The branch was removed.");
  expect(ada.closed).toEqual({ code: 4404, reason: "The branch was removed." });
  workspace.rows.set("a.txt", "two\n");
  ada.connect(workspace.open());
  settle(ada);
  expect([ada.all(), Object.fromEntries(workspace.rows)]).toEqual([{ "a.txt": "two\n" }, { "a.txt": "two\n" }]);
});

test("connecting to a branch that does not exist stores nothing", () => {
  const { files, storage } = createMemoryWorkspace();
  const calls: string[] = [];
  const store = new Proxy({} as LiveStorage, { get: (_, name) => () => void calls.push(String(name)) });
  const throwNotFound = () => {
    throw fail("not_found", "There is no such branch.");
  };
  const ada = connect(new Room({ branch: "gone", files: { ...files, iterateContents: throwNotFound }, store }));
  expect([ada.closed?.code, calls, storage.tail]).toEqual([4404, ["readSettled"], []]);
});
