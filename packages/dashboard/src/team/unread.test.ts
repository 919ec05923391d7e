import type { Channel } from "@thinkery/sdk";
import { beforeEach, expect, test, vi } from "vitest";

const create = (name: string, messages: number): Channel => ({
  name,
  kind: "channel",
  createdBy: "owner",
  createdAt: "2030-01-01T00:00:00Z",
  messages,
});

let stored: Map<string, string>;

/** A page that was loaded anew, with what the browser has stored. */
async function loadPage() {
  vi.resetModules();
  return import("./unread.ts");
}

beforeEach(() => {
  stored = new Map();
  vi.stubGlobal("window", {
    localStorage: {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
      removeItem: (key: string) => void stored.delete(key),
    },
  });
});

const readStored = (user = "owner") => JSON.parse(stored.get(`thinkery.read.${user}.review`) ?? "null") as unknown;

test("nothing is unread at the first visit, and what comes later is, also after a reload", async () => {
  const { countUnread, markRead, parseMarks } = await loadPage();
  expect(countUnread(parseMarks(undefined), create("general", 10))).toBe(0);
  markRead("owner", "review", [create("general", 10)]);
  expect(readStored()).toEqual({ general: 10 });
  const marks = parseMarks(stored.get("thinkery.read.owner.review"));
  expect(countUnread(marks, create("general", 12))).toBe(2);
  expect(countUnread(marks, create("new", 3))).toBe(3);
  expect(countUnread(marks, create("constructor", 1))).toBe(1);
  expect(countUnread(marks, create("general", 1))).toBe(0);
});

test("reading a channel marks it alone, forgets channels that are gone, and is separate for each user", async () => {
  const first = await loadPage();
  first.markRead("owner", "review", [create("general", 1), create("old", 1)]);
  const { markRead } = await loadPage();
  const channels = [create("general", 4), create("ops", 2)];
  markRead("owner", "review", channels, "ops");
  expect(readStored()).toEqual({ general: 1, ops: 2 });
  markRead("owner", "review", channels, "missing");
  expect(readStored()).toEqual({ general: 1, ops: 2 });
  expect(readStored("bob")).toBeNull();
});

test("whatever is stored, the marks can be read", async () => {
  const { parseMarks } = await loadPage();
  for (const text of ["", "{", "null", "[1]", "1", '"x"']) expect(parseMarks(text).isKnown, text).toBe(false);
  expect(parseMarks('{"a":"x","b":2,"c":null}').counts).toEqual({ b: 2 });
});
