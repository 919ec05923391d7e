import { afterEach, expect, test, vi } from "vitest";
import { connect, disconnectAll, createMemoryWorkspace, settle } from "./live.fixture.ts";
import { Room } from "./room.ts";

afterEach(disconnectAll);

test("new clients of a closed document are served without loading it", () => {
  const workspace = createMemoryWorkspace({ "a.txt": "one\n" });
  const ada = connect(workspace.room);
  ada.files.get("a.txt")?.insert(4, "two\n");
  settle(ada);
  ada.leave();
  const read = vi.fn((): Uint8Array[] | undefined => undefined);
  const store = { ...workspace.store, read };
  const room = (workspace.current.room = new Room({ branch: "main", files: workspace.files, store }));
  const ben = connect(room);
  const reader = connect(room, { mayWrite: false });
  expect([ben.text("a.txt"), reader.text("a.txt"), read.mock.calls]).toEqual(["one\ntwo\n", "one\ntwo\n", []]);
  // A client with an older state gets the rest, and a change loads the document.
  read.mockImplementation(() => workspace.store.read());
  ben.files.get("a.txt")?.insert(8, "three\n");
  settle(ben);
  workspace.files.commit([{ write: "a.txt", content: "ONE\ntwo\nthree\n" }], { kind: "agent" });
  settle(ben, reader);
  ada.files.get("a.txt")?.insert(4, "offline\n");
  for (const client of [ben, reader]) client.leave();
  ada.connect(workspace.open());
  settle(ada);
  expect([ada.text("a.txt"), workspace.rows.get("a.txt")]).toEqual([
    "ONE\noffline\ntwo\nthree\n",
    "ONE\noffline\ntwo\nthree\n",
  ]);
});
