import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTeamParts, type TeamParts } from "../../../../../tests/kit/team-parts.ts";

const start = Date.parse("2026-01-01T00:00:00Z");

let team: TeamParts;

beforeEach(() => {
  vi.useFakeTimers({ now: start, toFake: ["Date"] });
  team = createTeamParts();
});

afterEach(() => {
  vi.useRealTimers();
});

const getStatuses = (agent = "alice") => team.listItems(agent).map(({ status }) => status);

const list = (query: object = {}) => team.inboxes.list("alice", { status: "open", limit: 100, ...query });

async function post(count: number): Promise<void> {
  for (let number = 0; number < count; number++) await team.post("@alice @bob");
}

test("a list has what is open unless it is asked for more, page by page", async () => {
  await post(5);
  await team.inboxes.ack("alice", { ids: ["msg-1"] });
  team.store.updateItem("alice", 2, { status: "given_up" });
  expect(list().items.map(({ id }) => id)).toEqual(["msg-3", "msg-4", "msg-5"]);
  expect(list({ status: "given_up" }).items.map(({ id }) => id)).toEqual(["msg-2"]);
  const first = list({ status: "all", limit: 2 });
  expect([first.items.map(({ id }) => id), first.next]).toEqual([["msg-1", "msg-2"], "msg-2"]);
  expect(list({ status: "all", limit: 3, after: "msg-2" })).not.toHaveProperty("next");
  expect(team.inboxes.count("alice")).toEqual({ pending: 3, seen: 0, deferred: 0, givenUp: 1 });
});

test("items are acknowledged by id, each once, and not those of another inbox", async () => {
  await post(2);
  await team.post("@bob");
  expect((await team.inboxes.ack("alice", { ids: ["msg-1", "msg-1", "msg-2"] })).items).toHaveLength(3);
  expect((await team.inboxes.ack("alice", { ids: ["msg-1"] })).items).toEqual([]);
  await expect(team.inboxes.ack("alice", { ids: ["msg-3"] })).rejects.toThrow("not in the inbox of alice");
  await expect(team.inboxes.ack("alice", { ids: ["3"] })).rejects.toMatchObject({ code: "bad_request" });
  expect([getStatuses(), getStatuses("bob")]).toEqual([
    ["acked", "acked"],
    ["pending", "pending", "pending"],
  ]);
});

test("everything until a message, or a date, is acknowledged: also what is deferred or in a turn, and no more", async () => {
  await post(2);
  vi.setSystemTime(start + 60_000);
  await post(3);
  team.inboxes.defer("alice", { id: "msg-1" }, Date.now());
  team.store.updateItem("alice", 2, { status: "seen" });
  const { items } = await team.inboxes.ack("alice", { until: "msg-3" });
  expect(items.map(({ id }) => id)).toEqual(["msg-1", "msg-2", "msg-3"]);
  expect(getStatuses()).toEqual(["acked", "acked", "acked", "pending", "pending"]);
  expect((await team.inboxes.ack("bob", { until: "2026-01-01T00:00:30Z" })).items.map(({ id }) => id)).toEqual([
    "msg-1",
    "msg-2",
  ]);
  expect((await team.inboxes.ack("bob", { until: "msg-99" })).items).toHaveLength(3);
  await expect(team.inboxes.ack("bob", { until: "soon" })).rejects.toMatchObject({ code: "bad_request" });
});

test("thousands are acknowledged together, and what comes meanwhile is left", async () => {
  await post(1200);
  const acking = team.inboxes.ack("alice", { until: "2030-01-01" });
  await team.post("@alice, one more");
  const { items, omitted } = await acking;
  expect([items.length, omitted]).toEqual([500, 700]);
  expect(new Set(getStatuses().slice(0, 1200))).toEqual(new Set(["acked"]));
  expect(getStatuses()[1200]).toBe("pending");
});

test("an item is put off for a while, or until a date, or for five minutes", async () => {
  await post(1);
  const defer = (until?: string | number) =>
    team.inboxes.defer("alice", { id: "msg-1", ...(until === undefined ? {} : { until }) }, start).items[0]?.dueAt;
  expect(defer()).toBe("2026-01-01T00:05:00.000Z");
  expect(defer(90)).toBe("2026-01-01T00:01:30.000Z");
  expect(defer("2026-03-01T12:00:00+02:00")).toBe("2026-03-01T10:00:00.000Z");
  // Not in the past: it would come again at once, and again.
  expect(defer("2020-01-01")).toBe("2026-01-01T00:00:01.000Z");
  expect(defer(0.1)).toBe("2026-01-01T00:00:01.000Z");
  for (const until of ["tomorrow", "", "2028-01-01", Number.POSITIVE_INFINITY])
    expect(() => defer(until)).toThrow("until");
  expect(team.store.listDueItems("alice", start, 10)).toEqual([]);
  expect(team.store.listDueItems("alice", start + 1000, 10)).toHaveLength(1);
});

test("what is final cannot be put off, nor what was put off again and again", async () => {
  await post(2);
  await team.inboxes.ack("alice", { ids: ["msg-1"] });
  expect(() => team.inboxes.defer("alice", { id: "msg-1" }, start)).toThrow("is acked and cannot be deferred");
  // Turns that failed do not count.
  team.store.updateItem("alice", 2, { attempts: 23, failures: 3 });
  team.inboxes.defer("alice", { id: "msg-2" }, start);
  team.store.updateItem("alice", 2, { attempts: 24 });
  expect(() => team.inboxes.defer("alice", { id: "msg-2" }, start)).toThrow("was put off 20 times");
});

test("a retry starts over with what was given up or waits, and changes nothing that is handled", async () => {
  await post(5);
  team.store.updateItem("alice", 1, { status: "given_up", attempts: 3, failures: 3, error: "No." });
  team.store.updateItem("alice", 2, { status: "deferred", attempts: 1, dueAt: start + 9000 });
  team.store.updateItem("alice", 3, { status: "acked" });
  team.store.updateItem("alice", 4, { status: "seen", attempts: 1 });
  team.store.updateItem("alice", 5, { attempts: 1, failures: 1, dueAt: start + 9000, error: "No." });
  const { items } = team.inboxes.retry("alice", ["msg-1", "msg-2", "msg-3", "msg-4", "msg-5"]);
  expect(items.map(({ id }) => id)).toEqual(["msg-1", "msg-2", "msg-5"]);
  expect(getStatuses()).toEqual(["pending", "pending", "acked", "seen", "pending"]);
  expect(items[0]).toMatchObject({ attempts: 0 });
  expect(items[0]).not.toHaveProperty("error");
  expect(team.store.listDueItems("alice", start, 10).map(({ message }) => message)).toEqual([1, 2, 5]);
});

test("everything that is open can be given up, with the reason", async () => {
  await post(3);
  await team.inboxes.ack("alice", { ids: ["msg-1"] });
  await team.inboxes.giveUpAll("alice", "The run has ended.");
  expect(getStatuses()).toEqual(["acked", "given_up", "given_up"]);
  expect(list({ status: "given_up" }).items[0]?.error).toBe("The run has ended.");
  expect(getStatuses("bob")).toEqual(["pending", "pending", "pending"]);
});

test("a response has as many long messages as fit", async () => {
  for (let number = 0; number < 40; number++) await team.post(`@alice ${"x".repeat(60_000)}`);
  const { items, omitted = 0 } = await team.inboxes.ack("alice", { until: "msg-40" });
  expect([items.length < 40, items.length + omitted]).toEqual([true, 40]);
});

test("those who watch see each change, and nothing of messages that are gone", async () => {
  await post(1);
  team.inboxes.defer("alice", { id: "msg-1" }, start);
  await team.inboxes.ack("alice", { until: "msg-1" });
  const seen = team.items.flatMap(({ agent, status }) => (agent === "alice" ? status : []));
  expect(seen).toEqual(["pending", "deferred", "acked"]);
});
