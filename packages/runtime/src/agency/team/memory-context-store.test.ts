import { expect, test } from "vitest";
import { MemoryContextStore } from "./memory-context-store.ts";

// What it has in common with other stores is in tests/runtime/context-store.test.ts.

test("what a caller does to a row in memory changes nothing in the store", () => {
  const store = new MemoryContextStore();
  const members = ["ann", "bob"];
  const to = ["ann"];
  const messages = [1];
  const message = { channel: "dm", from: "bob", fromKind: "agent", content: "Hi", priority: "normal" } as const;
  store.insertChannel({ name: "dm", kind: "direct", members, createdBy: "bob", createdAt: 1 });
  store.insertMessage({ ...message, to, createdAt: 1 });
  store.insertItem({ agent: "ann", message: 1, priority: "normal", status: "pending", createdAt: 1 });
  store.insertDelivery({ agent: "ann", messages, startedAt: 1 });
  store.putAgent("ann", { note: "here" });
  const read = () => [
    store.findChannel("dm"),
    store.listChannels("", 1)[0],
    store.findMessage(1),
    store.listMessages({ limit: 1, order: "newest" })[0],
    store.findItem("ann", 1),
    store.listDueItems("ann", 1, 1)[0],
    store.findDelivery(1),
    store.listDeliveries()[0],
    store.findAgent("ann"),
  ];
  const before = JSON.stringify(read());
  for (const list of [members, to]) list.push("cid");
  messages.push(2);
  for (const row of read())
    for (const [name, value] of Object.entries(row ?? {}))
      if (Array.isArray(value)) value.push("changed");
      else Object.assign(row ?? {}, { [name]: "changed" });
  expect(JSON.stringify(read())).toBe(before);
});
