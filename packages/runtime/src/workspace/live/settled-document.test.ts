import { afterEach, expect, test, vi } from "vitest";
import { connect, disconnectAll, createMemoryWorkspace, settle } from "./live.fixture.ts";
import { Room } from "./room.ts";

afterEach(disconnectAll);

test("who comes to a document that nobody has open is told all of it without its being made", () => {
  const place = createMemoryWorkspace({ "a.txt": "one\n" });
  const ada = connect(place.room);
  ada.files.get("a.txt")?.insert(4, "two\n");
  settle(ada);
  ada.leave();
  const read = vi.fn((): Uint8Array[] | undefined => undefined);
  const store = { ...place.store, read };
  const room = (place.place.room = new Room({ branch: "main", files: place.files, store }));
  const ben = connect(room);
  const again = connect(room, { mayWrite: false });
  expect([ben.text("a.txt"), again.text("a.txt"), read.mock.calls]).toEqual(["one\ntwo\n", "one\ntwo\n", []]);
  // Somebody who has a part of it is told the rest, and whoever changes something has it made.
  read.mockImplementation(() => place.store.read());
  ben.files.get("a.txt")?.insert(8, "three\n");
  settle(ben);
  place.files.commit([{ write: "a.txt", content: "ONE\ntwo\nthree\n" }], { kind: "agent" });
  settle(ben, again);
  ada.files.get("a.txt")?.insert(4, "offline\n");
  for (const person of [ben, again]) person.leave();
  ada.connect(place.open());
  settle(ada);
  expect([ada.text("a.txt"), place.rows.get("a.txt")]).toEqual([
    "ONE\noffline\ntwo\nthree\n",
    "ONE\noffline\ntwo\nthree\n",
  ]);
});
