import { expect, test } from "vitest";
import { findByPrefix, shortenIds, toAgentTarget } from "./inbox.ts";

test("an id may be shortened as long as it is the only one that starts so", () => {
  const items = ["abc", "abd", "ab"].map((id) => ({ id }));
  const find = (id: string) => findByPrefix(items, id, (item) => `item ${item.id}`)?.id;
  expect([find("abd"), find("ab"), find("x"), find("")]).toEqual(["abd", "ab", undefined, undefined]);
  expect(() => find("a")).toThrow(
    "“a” is ambiguous: abc (item abc), abd (item abd), ab (item ab). Type more of the id.",
  );
});

test("ids are shortened to at least 8 characters that tell them apart", () => {
  expect(shortenIds(["0123456789"])("0123456789")).toBe("01234567");
  const shorten = shortenIds(["0123456789", "0123456799"]);
  expect([shorten("0123456789"), shorten("0123456799")]).toEqual(["012345678", "012345679"]);
  expect(shortenIds([])("abc")).toBe("abc");
});

test("addresses become targets", () => {
  const kind = "agent";
  expect(toAgentTarget("global~alice/sub", "owner")).toEqual({ kind, agency: "global", agent: "alice/sub" });
  expect(toAgentTarget("review:pr-1@bob~alice", "bob")).toEqual({ kind, agency: "review:pr-1", agent: "alice" });
  // Those of other users are named with their owner.
  expect(toAgentTarget("review:pr-1@bob~alice", "ann")).toEqual({ kind, agency: "review:pr-1@bob", agent: "alice" });
  expect(toAgentTarget("global~alice", "ann")).toEqual({ kind, agency: "global@owner", agent: "alice" });
});
