import type { Channel, InboxItem, TeamAgent, TeamTask } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { reduceChannels, reduceInbox, reduceRoster, reduceTasks } from "./reduce-team.ts";
import { createMessage } from "./team-double.ts";

const createAgent = (name: string, change: Partial<TeamAgent> = {}): TeamAgent => ({
  name,
  status: "idle",
  steps: 0,
  tokens: 0,
  costUsd: 0,
  inbox: { pending: 0, seen: 0, deferred: 0, givenUp: 0 },
  ...change,
});

const createChannel = (name: string, change: Partial<Channel> = {}): Channel => ({
  name,
  kind: "channel",
  createdBy: "owner",
  createdAt: "2030-01-01T00:00:00Z",
  messages: 3,
  ...change,
});

const createItem = (id: string, change: Partial<InboxItem> = {}): InboxItem => ({
  id,
  agent: "bob",
  channel: "general",
  from: "eve",
  fromKind: "agent",
  content: "Hello",
  status: "pending",
  priority: "normal",
  attempts: 0,
  createdAt: "2030-01-01T00:00:00Z",
  ...change,
});

test("the roster follows what agents do, keeps their order, and begins anew with each connection", () => {
  const first = reduceRoster({ agents: [] }, { type: "sync", agents: [createAgent("a"), createAgent("b")] }, 5);
  const working = reduceRoster(first, { type: "agent", agent: createAgent("a", { status: "working" }) }, 6);
  expect(working.agents.map(({ name, status }) => `${name} ${status}`)).toEqual(["a working", "b idle"]);
  const added = reduceRoster(working, { type: "agent", agent: createAgent("c") }, 7);
  const removed = reduceRoster(added, { type: "agent-removed", name: "b" }, 8);
  expect(removed.agents.map(({ name }) => name)).toEqual(["a", "c"]);
  const again = reduceRoster(removed, { type: "sync", agents: [createAgent("b")] }, 9);
  expect([again.agents.map(({ name }) => name), again.at]).toEqual([["b"], 5]);
  expect(reduceRoster(again, { type: "changed", what: "tools" }, 10)).toBe(again);
});

test("channels count their messages, each once", () => {
  const pages = { items: [createChannel("general"), createChannel("ops")], more: false };
  const message = createMessage(4, { channel: "ops", createdAt: "2030-01-02T00:00:00Z" });
  const counted = reduceChannels(pages, { type: "message", message });
  expect(counted.items.map(({ messages }) => messages)).toEqual([3, 4]);
  const repeated = reduceChannels(counted, { type: "message", message });
  expect(repeated.items[1]?.messages).toBe(4);
  const created = reduceChannels(counted, { type: "channel", channel: createChannel("new") });
  expect(created.items.map(({ name }) => name)).toEqual(["general", "ops", "new"]);
  const removed = reduceChannels(created, { type: "channel-removed", name: "ops" });
  expect(removed.items.map(({ name }) => name)).toEqual(["general", "new"]);
});

test("inboxes drop what was handled and keep what was given up, each agent its own", () => {
  const items = [createItem("msg-1"), createItem("msg-2")];
  const reduce = (change: Partial<InboxItem>, id = "msg-1") =>
    reduceInbox(items, { type: "inbox", item: createItem(id, change) }, "bob").map(
      (item) => `${item.id} ${item.status}`,
    );
  expect(reduce({ status: "acked" })).toEqual(["msg-2 pending"]);
  expect(reduce({ status: "given_up" })).toEqual(["msg-1 given_up", "msg-2 pending"]);
  expect(reduce({}, "msg-3")).toEqual(["msg-1 pending", "msg-2 pending", "msg-3 pending"]);
  expect(reduce({ status: "acked", agent: "eve" })).toEqual(["msg-1 pending", "msg-2 pending"]);
});

test("tasks are replaced in their place, and new ones added", () => {
  const task: TeamTask = {
    id: "a",
    type: "code",
    title: "A",
    status: "pending",
    dependencies: [],
    createdAt: 0,
    createdBy: "bob",
  };
  const pages = { items: [task, { ...task, id: "b" }], more: false };
  const changed = reduceTasks(pages, { type: "task", task: { ...task, status: "complete" } });
  const added = reduceTasks(changed, { type: "task", task: { ...task, id: "c" } });
  expect(added.items.map(({ id, status }) => `${id} ${status}`)).toEqual(["a complete", "b pending", "c pending"]);
});
