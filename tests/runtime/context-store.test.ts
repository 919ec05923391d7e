import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ItemPatch, MessageFilter, NewItemRow } from "../../packages/runtime/src/agency/team/context-store.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";
import { conflict, createChannel, createItem, createMessage, noItems, notFound } from "./context-store-rows.ts";
import { createStep, createStoreClient, openMemory, type RunSteps, type StoreClient } from "./context-store-steps.ts";

// Behaviour of every context store, in SQLite or in memory.

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("context-store.worker.ts", import.meta.url), { objects: ["StoreObject"] });
});

afterAll(() => worker?.stop());

let storeCount = 0;

function openSql(): RunSteps {
  const url = `${worker.url}/${++storeCount}`;
  return async (steps) => {
    const response = await fetch(url, { method: "POST", body: JSON.stringify({ steps }) });
    if (!response.ok) throw new Error(await response.text());
    return ((await response.json()) as { outcomes: Awaited<ReturnType<RunSteps>> }).outcomes;
  };
}

describe.each([
  ["SQLite", openSql],
  ["memory", openMemory],
])("a context store in %s", (_, open) => {
  let run: RunSteps;
  let store: StoreClient;

  beforeEach(async () => {
    run = open();
    store = createStoreClient(run);
    await store.insertChannel(createChannel("general"));
  });

  const list = async (filter: Partial<MessageFilter>) => {
    const rows = await store.listMessages({ limit: 100, order: "oldest", ...filter });
    return rows.map(({ number }) => number);
  };
  const insertMessages = async (channel: string, times: number[]) => {
    for (const createdAt of times) await store.insertMessage(createMessage(channel, { createdAt }));
  };
  const insertItems = async (
    agent: string,
    items: [message: number, fields: Partial<NewItemRow>, patch?: ItemPatch][],
  ) => {
    for (const [message, fields, patch] of items) {
      await store.insertItem(createItem(agent, message, fields));
      if (patch) await store.updateItem(agent, message, patch);
    }
  };

  test("channels are listed by name page by page, and found without regard to case", async () => {
    for (const name of ["beta", "Alpha", "delta"]) await store.insertChannel(createChannel(name));
    const pages = [
      await store.listChannels("", 2),
      await store.listChannels("BETA", 2),
      await store.listChannels("z", 2),
    ];
    expect(pages.map((page) => page.map(({ name }) => name))).toEqual([["Alpha", "beta"], ["delta", "general"], []]);
    expect(await store.findChannel("ALPHA")).toEqual({ ...createChannel("Alpha"), messages: 0 });
    expect(await store.findChannel("gamma")).toBeUndefined();
    await expect(store.insertChannel(createChannel("alpha"))).rejects.toMatchObject(conflict);
    expect((await store.findChannel("alpha"))?.name).toBe("Alpha");
    const direct = {
      ...createChannel("dm.ann.bob"),
      kind: "direct" as const,
      members: ["ann", "bob"],
      description: "x",
    };
    await store.insertChannel(direct);
    expect(await store.findChannel("DM.ann.bob")).toEqual({ ...direct, messages: 0 });
  });

  test("a message gets the next number and is counted in its channel", async () => {
    await store.insertChannel(createChannel("other"));
    expect(await store.insertMessage(createMessage("GENERAL", { createdAt: 20 }))).toBe(1);
    expect(await store.insertMessage(createMessage("other", { createdAt: 30 }))).toBe(2);
    const full = { from: "Ann", fromKind: "user" as const, to: ["ann", "bob"], priority: "high" as const, thread: 1 };
    const long = createMessage("general", {
      ...full,
      content: "a “long” one",
      resource: "hash",
      size: 9,
      createdAt: 40,
    });
    expect(await store.insertMessage({ ...long, key: "k" })).toBe(3);
    expect(await store.findMessage(1)).toEqual({ ...createMessage("general"), number: 1, createdAt: 20, replies: 1 });
    expect(await store.findMessage(3)).toEqual({ ...long, number: 3, replies: 0 });
    expect(await store.findMessage(4)).toBeUndefined();
    expect(await store.listChannels("", 5)).toMatchObject([
      { messages: 2, lastMessageAt: 40 },
      { messages: 1, lastMessageAt: 30 },
    ]);
  });

  test("a key is used once, and what is refused leaves no trace", async () => {
    await store.insertMessage(createMessage("general", { key: "k" }));
    await expect(store.insertMessage(createMessage("general", { key: "k" }))).rejects.toMatchObject(conflict);
    await expect(store.insertMessage(createMessage("none"))).rejects.toMatchObject(notFound);
    await expect(store.insertMessage(createMessage("general", { thread: 9 }))).rejects.toMatchObject(notFound);
    await store.insertChannel(createChannel("other"));
    await expect(store.insertMessage(createMessage("other", { thread: 1 }))).rejects.toMatchObject(notFound);
    expect(await store.listChannels("", 5)).toMatchObject([{ messages: 1 }, { messages: 0 }]);
    expect(await store.findMessage(1)).toMatchObject({ replies: 0 });
    expect(await store.insertMessage(createMessage("general", { key: "K" }))).toBe(2);
    expect(await store.findMessageByKey("k")).toMatchObject({ number: 1 });
    expect(await store.findMessageByKey("none")).toBeUndefined();
  });

  test("messages are listed in either order within all bounds", async () => {
    await store.insertChannel(createChannel("other"));
    for (const channel of ["general", "other", "general", "general", "other", "general"])
      await insertMessages(channel, [1]);
    expect(await list({})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await list({ order: "newest", limit: 2 })).toEqual([6, 5]);
    expect(await list({ channel: "General" })).toEqual([1, 3, 4, 6]);
    expect(await list({ channel: "general", after: 1, limit: 2 })).toEqual([3, 4]);
    expect(await list({ channel: "general", before: 6, order: "newest" })).toEqual([4, 3, 1]);
    expect(await list({ channel: "general", after: 1, upTo: 4 })).toEqual([3, 4]);
    expect(await list({ after: 2, upTo: 5, before: 5 })).toEqual([3, 4]);
    expect(await list({ after: 6 })).toEqual([]);
    expect(await list({ upTo: 0 })).toEqual([]);
    expect(await list({ before: 0 })).toEqual([]);
    expect(await list({ channel: "none" })).toEqual([]);
  });

  test("a thread is a message and those that answer it, in both orders and within bounds", async () => {
    for (const thread of [undefined, undefined, 1, 1, 3, 1])
      await store.insertMessage(createMessage("general", { thread }));
    expect(await list({ thread: 1 })).toEqual([1, 3, 4, 6]);
    expect(await list({ thread: 1, order: "newest", limit: 2 })).toEqual([6, 4]);
    expect(await list({ thread: 1, after: 1, before: 6 })).toEqual([3, 4]);
    expect(await list({ thread: 3, channel: "GENERAL" })).toEqual([3, 5]);
    expect(await list({ thread: 3, channel: "other" })).toEqual([]);
    expect(await list({ thread: 9 })).toEqual([]);
    expect(await store.listMessages({ limit: 3, order: "oldest" })).toMatchObject([
      { replies: 3 },
      { replies: 0 },
      { replies: 1, thread: 1 },
    ]);
  });

  test("dates bound messages, from the first one of that time, although the clock was set back", async () => {
    await insertMessages("general", [10, 20, 20, 30]);
    expect(await list({ since: 20 })).toEqual([2, 3, 4]);
    expect(await list({ until: 20 })).toEqual([1, 2, 3]);
    expect(await list({ since: 11, until: 29, order: "newest" })).toEqual([3, 2]);
    expect(await list({ since: 31 })).toEqual([]);
    expect(await list({ until: 9 })).toEqual([]);
    await insertMessages("general", [15, 40]);
    expect(await list({ since: 30 })).toEqual([4, 5, 6]);
    expect(await list({ since: 31, channel: "general" })).toEqual([6]);
    expect(await list({ until: 20, channel: "general" })).toEqual([1, 2, 3]);
    expect(await store.findMessage(5)).toMatchObject({ createdAt: 15 });
  });

  test("deleting a channel deletes its messages, their items and their keys, and nothing else", async () => {
    await store.insertChannel(createChannel("other"));
    await store.insertMessage(createMessage("other", { key: "k" }));
    await insertMessages("general", [1]);
    await insertMessages("other", [1]);
    await insertItems("ann", [
      [1, {}],
      [2, {}, { status: "acked" }],
      [3, {}, { status: "acked" }],
    ]);
    await insertItems("bob", [[3, {}]]);
    await store.deleteChannel("OTHER", 1000);
    expect(await store.findChannel("other")).toBeUndefined();
    expect(await list({})).toEqual([2]);
    expect(await store.findMessageByKey("k")).toBeUndefined();
    expect(await store.findItem("ann", 1)).toBeUndefined();
    expect(await store.countItems("ann")).toEqual({ ...noItems, acked: 1 });
    expect(await store.countItems("bob")).toEqual(noItems);
    expect([await store.hasOpenItems(), await store.listDueAgents(9)]).toEqual([false, []]);
    expect(await store.getNextDueAt(0)).toBeUndefined();
    await store.deleteChannel("other", 1000);
    await store.insertChannel(createChannel("other"));
    expect(await store.insertMessage(createMessage("other", { key: "k" }))).toBe(4);
    expect(await store.findChannel("other")).toMatchObject({ messages: 1 });
  });

  test("a channel that is deleted in parts is hidden at once, and its name is taken until nothing is left", async () => {
    await store.insertChannel(createChannel("other"));
    await insertMessages("other", [1, 1, 1]);
    await insertItems(
      "ann",
      [1, 2, 3].map((message) => [message, {}]),
    );
    expect(await store.deleteChannel("Other", 2)).toBe(false);
    expect(await store.listHiddenChannels()).toEqual(["other"]);
    expect(await store.findChannel("other")).toBeUndefined();
    expect(await store.listChannels("", 10)).toMatchObject([{ name: "general" }]);
    expect(await list({})).toEqual([3]);
    expect(await store.countItems("ann")).toEqual({ ...noItems, pending: 1 });
    await expect(store.insertChannel(createChannel("OTHER"))).rejects.toMatchObject(conflict);
    await expect(store.insertMessage(createMessage("other"))).rejects.toMatchObject({ code: "not_found" });
    expect(await store.deleteChannel("other", 1)).toBe(true);
    expect([await store.listHiddenChannels(), await store.hasOpenItems()]).toEqual([[], false]);
    await store.insertChannel(createChannel("other"));
    expect(await store.findChannel("other")).toMatchObject({ messages: 0 });
    expect(await store.deleteChannel("nothing", 1)).toBe(true);
  });

  test("numbers are never used again", async () => {
    await insertMessages("general", [1, 1]);
    await store.deleteChannel("general", 1000);
    await store.insertChannel(createChannel("general"));
    expect(await store.insertMessage(createMessage("general"))).toBe(3);
    const delivery = { agent: "ann", messages: [1], startedAt: 1 };
    const first = await store.insertDelivery(delivery);
    await store.closeDelivery(first);
    expect(await store.insertDelivery(delivery)).toBe(first + 1);
  });

  test("items are listed by message, of the wanted statuses, page by page", async () => {
    await insertMessages("general", [1, 1, 1, 1, 1, 1]);
    const statuses = ["pending", "seen", "acked", "pending", "given_up", "deferred"] as const;
    for (const [index, status] of statuses.entries()) await insertItems("Ann", [[6 - index, { status }]]);
    await insertItems("bob", [[1, {}]]);
    const listItems = async (...input: Parameters<StoreClient["listItems"]>) =>
      (await store.listItems(...input)).map(({ message, status }) => `${message} ${status}`);
    expect(await listItems({ agent: "ann", statuses: ["pending", "seen", "deferred"], after: 0, limit: 3 })).toEqual([
      "1 deferred",
      "3 pending",
      "5 seen",
    ]);
    expect(await listItems({ agent: "ANN", statuses: ["seen", "pending"], after: 3, limit: 9 })).toEqual([
      "5 seen",
      "6 pending",
    ]);
    const all = { agent: "ann", statuses, after: 0, limit: 9 };
    expect(await listItems(all)).toHaveLength(6);
    expect(await listItems({ ...all, statuses: [] })).toEqual([]);
    expect(await listItems({ ...all, agent: "cid" })).toEqual([]);
    expect(await store.countItems("aNN")).toEqual({
      ...noItems,
      pending: 2,
      seen: 1,
      deferred: 1,
      acked: 1,
      given_up: 1,
    });
  });

  test("a message is in an inbox once", async () => {
    await insertMessages("general", [1]);
    await insertItems("ann", [[1, { priority: "high" }]]);
    await expect(store.insertItem(createItem("ANN", 1))).rejects.toMatchObject(conflict);
    expect(await store.findItem("Ann", 1)).toEqual({
      ...createItem("ann", 1, { priority: "high" }),
      attempts: 0,
      failures: 0,
    });
    expect(await store.countItems("ann")).toEqual({ ...noItems, pending: 1 });
  });

  test("an item is changed where the patch says so, null removes, and counts follow", async () => {
    await insertMessages("general", [1, 1]);
    await insertItems("ann", [[1, {}]]);
    const item = { ...createItem("ann", 1), attempts: 0, failures: 0 };
    const patch = { status: "deferred" as const, attempts: 2, failures: 1, dueAt: 50, error: "failed", delivery: 7 };
    await store.updateItem("ANN", 1, patch);
    expect(await store.findItem("ann", 1)).toEqual({ ...item, ...patch });
    await store.updateItem("ann", 1, {});
    await store.updateItem("ann", 1, { status: "deferred", dueAt: null, error: null });
    expect(await store.findItem("ann", 1)).toEqual({
      ...item,
      status: "deferred",
      attempts: 2,
      failures: 1,
      delivery: 7,
    });
    await store.updateItem("ann", 1, { status: "acked", delivery: null });
    expect(await store.findItem("ann", 1)).toEqual({ ...item, status: "acked", attempts: 2, failures: 1 });
    await store.updateItem("ann", 2, { status: "acked" });
    expect(await store.countItems("ann")).toEqual({ ...noItems, acked: 1 });
  });

  test("due items come by priority and then by message, once their time has come", async () => {
    await insertMessages("general", [1, 1, 1, 1, 1, 1, 1, 1]);
    await insertItems("ann", [
      [1, { priority: "low" }],
      [2, {}, { status: "deferred", dueAt: 10 }],
      [3, { priority: "high" }, { dueAt: 20 }],
      [4, {}],
      [5, { priority: "high" }],
      [6, { priority: "high" }, { status: "seen" }],
      [7, { priority: "high" }, { status: "given_up", dueAt: 5 }],
      [8, {}, { status: "deferred" }],
    ]);
    const listDue = async (now: number, limit = 9) =>
      (await store.listDueItems("ANN", now, limit)).map(({ message }) => message);
    expect(await listDue(9)).toEqual([5, 4, 8, 1]);
    expect(await listDue(10)).toEqual([5, 2, 4, 8, 1]);
    expect(await listDue(20)).toEqual([3, 5, 2, 4, 8, 1]);
    expect(await listDue(20, 3)).toEqual([3, 5, 2]);
    expect(await store.listDueItems("bob", 99, 9)).toEqual([]);
  });

  test("due agents are listed by name, and the next time is that of the first item that waits for one", async () => {
    expect(await store.getNextDueAt(0)).toBeUndefined();
    await insertMessages("general", [1, 1]);
    await insertItems("cid", [
      [1, {}, { dueAt: 30 }],
      [2, { status: "acked" }],
    ]);
    await insertItems("Bob", [[1, { status: "seen" }]]);
    await insertItems("ann", [[1, {}, { status: "deferred", dueAt: 20 }]]);
    expect([await store.listDueAgents(19), await store.listDueAgents(20)]).toEqual([[], ["ann"]]);
    expect(await store.listDueAgents(30)).toEqual(["ann", "cid"]);
    expect(await store.getNextDueAt(0)).toBe(20);
    await store.updateItem("BOB", 1, { status: "pending" });
    expect([await store.getNextDueAt(0), await store.getNextDueAt(20), await store.getNextDueAt(30)]).toEqual([
      20,
      30,
      undefined,
    ]);
    expect(await store.listDueAgents(30)).toEqual(["ann", "Bob", "cid"]);
    for (const agent of ["ann", "bob"]) await store.updateItem(agent, 1, { status: "acked" });
    expect(await store.getNextDueAt(0)).toBe(30);
    await store.updateItem("cid", 1, { status: "seen" });
    expect(await store.getNextDueAt(0)).toBeUndefined();
  });

  test("items are open until they are acked or given up", async () => {
    await insertMessages("general", [1]);
    expect(await store.hasOpenItems()).toBe(false);
    await insertItems("ann", [[1, {}]]);
    const seen: boolean[] = [];
    for (const status of ["pending", "seen", "deferred", "acked", "seen", "given_up"] as const) {
      await store.updateItem("ann", 1, { status });
      seen.push(await store.hasOpenItems());
    }
    expect(seen).toEqual([true, true, true, false, true, false]);
  });

  test("a delivery is listed until it is closed", async () => {
    const startDelivery = (agent: string, messages: number[]) =>
      store.insertDelivery({ agent, messages, startedAt: 5 });
    const [first, second] = [await startDelivery("Ann", [2, 1]), await startDelivery("bob", [3])];
    await startDelivery("ann", [4]);
    expect(await store.findDelivery(first)).toEqual({ number: first, agent: "Ann", messages: [2, 1], startedAt: 5 });
    await store.setDeliveryRun(first, "run");
    expect((await store.listDeliveries()).map(({ messages, runId }) => [messages, runId])).toEqual([
      [[2, 1], "run"],
      [[3], undefined],
      [[4], undefined],
    ]);
    expect(await store.listDeliveries("ANN")).toMatchObject([{ messages: [2, 1] }, { messages: [4] }]);
    await store.closeDelivery(first);
    await store.closeDelivery(first);
    await store.setDeliveryRun(first, "late");
    expect(await store.findDelivery(first)).toBeUndefined();
    expect((await store.listDeliveries()).map(({ number }) => number)).toEqual([second, second + 1]);
  });

  test("an agent's values are set and removed one by one", async () => {
    expect(await store.findAgent("ann")).toBeUndefined();
    await store.putAgent("Ann", {});
    expect(await store.findAgent("ann")).toEqual({ agent: "Ann", turnsWithoutProgress: 0 });
    await store.putAgent("ann", { note: "reading", task: "t1" });
    await store.putAgent("ann", { turnsWithoutProgress: 2, note: null });
    await store.putAgent("ANN", {});
    expect(await store.findAgent("ann")).toEqual({ agent: "Ann", task: "t1", turnsWithoutProgress: 2 });
  });

  test("removing an agent removes all but its messages", async () => {
    await insertMessages("general", [1]);
    for (const agent of ["ann", "bob"]) {
      await insertItems(agent, [[1, {}]]);
      await store.insertDelivery({ agent, messages: [1], startedAt: 1 });
      await store.putAgent(agent, { note: "here" });
    }
    await store.removeAgent("ANN");
    await store.removeAgent("ANN");
    expect(await store.findAgent("ann")).toBeUndefined();
    expect(await store.findItem("ann", 1)).toBeUndefined();
    expect(await store.countItems("ann")).toEqual(noItems);
    expect(await store.listDueAgents(9)).toEqual(["bob"]);
    expect(await store.listDeliveries()).toMatchObject([{ agent: "bob" }]);
    expect(await list({})).toEqual([1]);
    expect(await store.findAgent("bob")).toMatchObject({ note: "here" });
    await insertItems("Ann", [[1, {}]]);
    expect(await store.listDueAgents(9)).toEqual(["Ann", "bob"]);
  });

  test("a transaction whose work throws stores nothing, at any depth", async () => {
    const post = (key: string) => createStep("insertMessage", createMessage("general", { key }));
    const outcomes = await run([
      { transaction: [post("a"), createStep("deleteChannel", "general", 1000)], throws: true },
      {
        transaction: [
          post("b"),
          { transaction: [post("c"), createStep("insertItem", createItem("ann", 2))], throws: true },
          { transaction: [post("d")] },
          post("b"),
        ],
      },
      { transaction: [post("e"), { transaction: [createStep("removeAgent", "ann")] }], throws: true },
    ]);
    expect(outcomes).toEqual([
      { errorCode: "thrown by the work" },
      {
        value: [
          { value: 1 },
          { errorCode: "thrown by the work" },
          { value: [{ value: 2 }] },
          { errorCode: "conflict" },
        ],
      },
      { errorCode: "thrown by the work" },
    ]);
    const keys = ["a", "b", "c", "d", "e"].map((key) => store.findMessageByKey(key));
    expect((await Promise.all(keys)).map((found) => found?.number)).toEqual([undefined, 1, undefined, 2, undefined]);
    expect(await store.findChannel("general")).toMatchObject({ messages: 2 });
    expect(await store.countItems("ann")).toEqual(noItems);
  });
});
