import { afterEach, expect, test } from "vitest";
import * as Y from "yjs";
import { createHostileFrame } from "../../../../../tests/attack/yjs/frames.ts";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { craftUpdate, createUpdateMessage } from "./crafted.fixture.ts";
import { connect, disconnectAll, createMemoryWorkspace, settle } from "./live.fixture.ts";

afterEach(disconnectAll);

test("what says that it is behind what comes later costs its sender the connection, and nobody else anything", () => {
  const place = createMemoryWorkspace({ "a.txt": "The house wrote this.\n" });
  const ada = connect(place.room, { user: "ada" });
  const eve = connect(place.room, { user: "eve" });
  const [house = 0] = [...Y.decodeStateVector(Y.encodeStateVector(ada.doc)).keys()];
  eve.raw(
    createUpdateMessage(
      craftUpdate({ runs: [[4711, 0, { left: [house, 19], right: [house, 3], content: { text: "!" } }]] }),
    ),
  );
  settle(eve, ada);
  expect([eve.closed?.code, ada.closed]).toEqual([4400, undefined]);
  ada.files.get("a.txt")?.insert(0, "Now: ");
  settle(ada);
  const late = connect(place.room, { user: "late" });
  settle(late);
  const files = { "a.txt": "Now: The house wrote this.\n" };
  expect([Object.fromEntries(place.rows), ada.all(), late.all()]).toEqual([files, files, files]);
});

test("whatever is taken from whomever, who was there and who comes later have the same", () => {
  const chance = createRandom("order");
  for (let round = 0; round < 60; round += 1) {
    const place = createMemoryWorkspace({ "a.txt": "The house wrote this.\n", "b.txt": "And this.\n" });
    const ada = connect(place.room, { user: "ada" });
    const typed = ada.files.get("b.txt") as Y.Text;
    for (let key = 0; key < 6; key += 1) typed.insert(key % 4, `k${key}`);
    for (let frame = 0; frame < 25; frame += 1) {
      const clients = [...Y.decodeStateVector(Y.encodeStateVector(ada.doc))].filter(
        ([client]) => client !== ada.doc.clientID,
      );
      const known = { valid: [], clients, paths: ["a.txt", "b.txt"] };
      const eve = connect(place.room, { user: "eve" });
      eve.raw(createHostileFrame("updates that are made up", chance, known) as Uint8Array);
      settle(eve, ada);
      eve.leave();
    }
    const late = connect(place.room, { user: "late" });
    settle(ada, late);
    const texts = Object.fromEntries([...place.rows].filter(([, content]) => typeof content === "string").sort());
    const sorted = (files: Record<string, string>) => Object.fromEntries(Object.entries(files).sort());
    expect([sorted(ada.all()), sorted(late.all())]).toEqual([texts, texts]);
    disconnectAll();
  }
});
