import type { Channel } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { findChannel, getChannelTitle, sortChannels } from "./channel-name.ts";

const create = (name: string, change: Partial<Channel> = {}): Channel => ({
  name,
  kind: "channel",
  createdBy: "owner",
  createdAt: "2030-01-01T00:00:00Z",
  messages: 0,
  ...change,
});

const direct = (one: string, other: string, lastMessageAt?: string): Channel =>
  create(`${one}+${other}`, { kind: "direct", members: [one, other], ...(lastMessageAt ? { lastMessageAt } : {}) });

test("a direct channel is called after the others in it", () => {
  expect(getChannelTitle(create("general"), "owner")).toBe("general");
  expect(getChannelTitle(direct("owner", "bob"), "owner")).toBe("bob");
  expect(getChannelTitle(direct("eve", "bob"), "owner")).toBe("eve and bob");
  expect(getChannelTitle(create("x", { kind: "direct" }), "owner")).toBe("x");
});

test("@bob is the direct channel of the reader and bob", () => {
  const channels = [create("bob"), direct("bob", "eve"), direct("bob", "owner")];
  expect(findChannel(channels, "@bob", "owner")?.name).toBe("bob+owner");
  expect(findChannel(channels, "@Bob", "owner")?.name).toBe("bob+owner");
  expect(findChannel(channels, "BOB+eve", "owner")?.name).toBe("bob+eve");
  expect(findChannel(channels, "@eve", "owner")).toBeUndefined();
  expect(findChannel(channels, "missing", "owner")).toBeUndefined();
});

test("the default channel is first, and direct channels are in the order of their last messages", () => {
  const channels = [
    create("a10"),
    direct("a", "b", "2030-01-01"),
    create("a9"),
    direct("c", "d", "2030-01-02"),
    create("general"),
  ];
  const { named, direct: sorted } = sortChannels(channels, "general");
  expect(named.map(({ name }) => name)).toEqual(["general", "a9", "a10"]);
  expect(sorted.map(({ name }) => name)).toEqual(["c+d", "a+b"]);
});
