import { afterEach, expect, test } from "vitest";
import * as Y from "yjs";
import { connect, disconnectAll, createMemoryWorkspace, settle } from "./live.fixture.ts";

afterEach(disconnectAll);

test("of two files that were made at one path without knowing of each other both are kept", () => {
  const place = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(place.room, { user: "ada" });
  const ben = connect(place.room, { user: "ben" });
  ada.leave();
  ben.leave();
  // Somebody who forgets nothing sends also what they have deleted.
  ada.doc.gc = false;
  place.files.commit(
    [
      { write: "notes.md", content: "by the agent" },
      { write: "same.md", content: "same" },
    ],
    { kind: "agent" },
  );
  for (const [person, name] of [
    [ada, "ada"],
    [ben, "ben"],
  ] as const) {
    person.files.set("notes.md", new Y.Text(`by ${name}, not this`));
    person.files.get("notes.md")?.delete(`by ${name}`.length, ", not this".length);
    person.files.set("same.md", new Y.Text("same"));
    person.files.set("empty.md", new Y.Text());
    person.files.set("gone.md", new Y.Text("thrown away"));
    person.files.delete("gone.md");
  }
  const room = place.open();
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
  expect([Object.fromEntries(place.rows), ada.all(), ben.all()]).toEqual([files, files, files]);
  // Nothing is kept twice, however often they come back.
  for (const person of [ada, ben]) person.connect(place.open());
  settle(ada, ben);
  expect([Object.fromEntries(place.rows), ada.closed, ben.closed]).toEqual([files, undefined, undefined]);
});

test("what was typed offline into a file that is deleted or moved meanwhile is kept", () => {
  const place = createMemoryWorkspace({ "a.txt": "one\n", "b.txt": "two\n" });
  const ada = connect(place.room, { user: "ada" });
  const ben = connect(place.room, { user: "ben" });
  ada.leave();
  ben.leave();
  ada.doc.gc = false;
  place.files.commit([{ delete: "a.txt" }, { delete: "b.txt" }, { write: "moved.txt", content: "two\n" }], {
    kind: "agent",
  });
  const text = ada.files.get("a.txt") as Y.Text;
  text.insert(4, "an hour of work, and this was wrong");
  text.delete(4 + "an hour of work".length, ", and this was wrong".length);
  text.insert(4 + "an hour of work".length, " and then some\n");
  text.delete(0, 4);
  ben.files.get("a.txt")?.insert(0, "oh");
  ben.files.get("b.txt")?.insert(4, "and three and four and five\n");
  const room = place.open();
  ada.connect(room);
  ben.connect(room);
  settle(ada, ben, ada);
  const files = {
    "moved.txt": "two\n",
    "unplaced.ada.txt": "an hour of work and then some\n",
    "unplaced.ben.txt": "ohand three and four and five\n",
  };
  expect([Object.fromEntries(place.rows), ada.all(), ben.all()]).toEqual([files, files, files]);
  for (const person of [ada, ben]) person.connect(place.open());
  settle(ada, ben);
  expect([Object.fromEntries(place.rows), ada.closed, ben.closed]).toEqual([files, undefined, undefined]);
});

test("a last key in a file that somebody deletes is not worth another one", () => {
  const place = createMemoryWorkspace({ "a.txt": "one" });
  const ada = connect(place.room, { user: "ada" });
  ada.leave();
  place.files.commit([{ delete: "a.txt" }], { kind: "agent" });
  ada.files.get("a.txt")?.insert(3, ", two");
  ada.connect(place.open());
  settle(ada);
  expect([[...place.rows], ada.all()]).toEqual([[], {}]);
});
