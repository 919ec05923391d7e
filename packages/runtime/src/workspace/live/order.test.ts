import { afterEach, expect, test } from "vitest";
import * as Y from "yjs";
import { createHostileFrame } from "../../../../../tests/attack/yjs/frames.ts";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { craftUpdate, createUpdateMessage } from "./crafted.fixture.ts";
import { withStepCounter } from "./item-steps.fixture.ts";
import { connect, disconnectAll, createMemoryWorkspace, settle } from "./live.fixture.ts";
import { isInOrder } from "./order.ts";

afterEach(disconnectAll);

test("an item placed after its right origin disconnects its sender and affects nobody else", () => {
  const workspace = createMemoryWorkspace({ "a.txt": "The host wrote this.\n" });
  const ada = connect(workspace.room, { user: "ada" });
  const eve = connect(workspace.room, { user: "eve" });
  const [host = 0] = [...Y.decodeStateVector(Y.encodeStateVector(ada.doc)).keys()];
  eve.sendRaw(
    createUpdateMessage(
      craftUpdate({ runs: [[4711, 0, { left: [host, 19], right: [host, 3], content: { text: "!" } }]] }),
    ),
  );
  settle(eve, ada);
  expect([eve.closed?.code, ada.closed]).toEqual([4400, undefined]);
  ada.files.get("a.txt")?.insert(0, "Now: ");
  settle(ada);
  const late = connect(workspace.room, { user: "late" });
  settle(late);
  const files = { "a.txt": "Now: The host wrote this.\n" };
  expect([Object.fromEntries(workspace.rows), ada.all(), late.all()]).toEqual([files, files, files]);
});

test("connected clients and later ones converge after hostile updates", () => {
  const random = createRandom("order");
  for (let round = 0; round < 60; round += 1) {
    const workspace = createMemoryWorkspace({ "a.txt": "The host wrote this.\n", "b.txt": "And this.\n" });
    const ada = connect(workspace.room, { user: "ada" });
    const typed = ada.files.get("b.txt") as Y.Text;
    for (let key = 0; key < 6; key += 1) typed.insert(key % 4, `k${key}`);
    for (let frame = 0; frame < 25; frame += 1) {
      const clients = [...Y.decodeStateVector(Y.encodeStateVector(ada.doc))].filter(
        ([client]) => client !== ada.doc.clientID,
      );
      const known = { valid: [], clients, paths: ["a.txt", "b.txt"] };
      const eve = connect(workspace.room, { user: "eve" });
      eve.sendRaw(createHostileFrame("random structs", random, known) as Uint8Array);
      settle(eve, ada);
      eve.leave();
    }
    const late = connect(workspace.room, { user: "late" });
    settle(ada, late);
    const texts = Object.fromEntries([...workspace.rows].filter(([, content]) => typeof content === "string").sort());
    const sorted = (files: Record<string, string>) => Object.fromEntries(Object.entries(files).sort());
    expect([sorted(ada.all()), sorted(late.all())]).toEqual([texts, texts]);
    disconnectAll();
  }
});

test("checking the order of many items takes a few steps per item, however far apart their origins are", () => {
  withStepCounter((countSteps) => {
    const doc = new Y.Doc();
    doc.clientID = 1;
    doc.getMap("files").set("a.txt", new Y.Text("x".repeat(2_000)));
    const before = Y.decodeStateVector(Y.encodeStateVector(doc));
    const structs = Array.from({ length: 1_000 }, (_, index) => ({
      left: [1, 1 + index] as const,
      right: [1, 2_000] as const,
      content: { text: "y" },
    }));
    doc.transact(() => {
      Y.applyUpdate(doc, craftUpdate({ runs: [[9, 0, ...structs]] }));
      const steps = countSteps(() => expect(isInOrder(doc, before, new Set([9]))).toBe(true));
      expect(steps).toBeLessThan(30 * 1_000);
    });
  });
});
