import { afterEach, expect, test } from "vitest";
import * as Y from "yjs";
import { connect, disconnectAll, createMemoryWorkspace, settle } from "./live.fixture.ts";

afterEach(disconnectAll);

test("files created concurrently at the same path are all kept", () => {
  const workspace = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(workspace.room, { user: "ada" });
  const ben = connect(workspace.room, { user: "ben" });
  ada.leave();
  ben.leave();
  // A client without garbage collection also sends what it has deleted.
  ada.doc.gc = false;
  workspace.files.commit(
    [
      { write: "notes.md", content: "by the agent" },
      { write: "same.md", content: "same" },
    ],
    { kind: "agent" },
  );
  for (const [client, name] of [
    [ada, "ada"],
    [ben, "ben"],
  ] as const) {
    client.files.set("notes.md", new Y.Text(`by ${name}, not this`));
    client.files.get("notes.md")?.delete(`by ${name}`.length, ", not this".length);
    client.files.set("same.md", new Y.Text("same"));
    client.files.set("empty.md", new Y.Text());
    client.files.set("gone.md", new Y.Text("thrown away"));
    client.files.delete("gone.md");
  }
  const room = workspace.open();
  ada.connect(room);
  ben.connect(room);
  settle(ada, ben, ada);
  const files = {
    "a.txt": "one",
    "empty.md": "",
    "notes.ada.md": "by ada",
    "notes.ben.md": "by ben",
    "notes.md": "by the agent",
    "same.md": "same",
  };
  expect([Object.fromEntries(workspace.rows), ada.all(), ben.all()]).toEqual([files, files, files]);
  // Nothing is duplicated, however often they reconnect.
  for (const client of [ada, ben]) client.connect(workspace.open());
  settle(ada, ben);
  expect([Object.fromEntries(workspace.rows), ada.closed, ben.closed]).toEqual([files, undefined, undefined]);
});

test("text typed offline into a file that was deleted or moved meanwhile is kept", () => {
  const workspace = createMemoryWorkspace({ "a.txt": "one\n", "b.txt": "two\n" });
  const ada = connect(workspace.room, { user: "ada" });
  const ben = connect(workspace.room, { user: "ben" });
  ada.leave();
  ben.leave();
  ada.doc.gc = false;
  workspace.files.commit([{ delete: "a.txt" }, { delete: "b.txt" }, { write: "moved.txt", content: "two\n" }], {
    kind: "agent",
  });
  const text = ada.files.get("a.txt") as Y.Text;
  text.insert(4, "an hour of work, and this was wrong");
  text.delete(4 + "an hour of work".length, ", and this was wrong".length);
  text.insert(4 + "an hour of work".length, " and then some\n");
  text.delete(0, 4);
  ben.files.get("a.txt")?.insert(0, "oh");
  ben.files.get("b.txt")?.insert(4, "and three and four and five\n");
  const room = workspace.open();
  ada.connect(room);
  ben.connect(room);
  settle(ada, ben, ada);
  const files = {
    "moved.txt": "two\n",
    "unplaced.ada.txt": "an hour of work and then some\n",
    "unplaced.ben.txt": "ohand three and four and five\n",
  };
  expect([Object.fromEntries(workspace.rows), ada.all(), ben.all()]).toEqual([files, files, files]);
  for (const client of [ada, ben]) client.connect(workspace.open());
  settle(ada, ben);
  expect([Object.fromEntries(workspace.rows), ada.closed, ben.closed]).toEqual([files, undefined, undefined]);
});

test("a few characters typed into a deleted file are dropped", () => {
  const workspace = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(workspace.room, { user: "ada" });
  ada.leave();
  workspace.files.commit([{ delete: "a.txt" }], { kind: "agent" });
  ada.files.get("a.txt")?.insert(3, ", two");
  ada.connect(workspace.open());
  settle(ada);
  expect([[...workspace.rows], ada.all()]).toEqual([[], {}]);
});
