import {
  isThinkeryError,
  parseAgencyId,
  parseAgencyTarget,
  parseAgentTarget,
  parseChannelTarget,
  parseTarget,
} from "@thinkery/sdk";
import { expect, test } from "vitest";

const getError = (parse: () => unknown): string => {
  try {
    parse();
  } catch (error) {
    if (isThinkeryError(error) && error.code === "bad_request") return error.message;
    throw error;
  }
  return "accepted";
};

test("a bare name is an agent in the global agency", () => {
  expect(parseTarget("alice")).toEqual({ kind: "agent", agent: "alice", agency: "global" });
});

test("an agent can be qualified with its agency and its tag", () => {
  expect(parseTarget("alice@review")).toEqual({ kind: "agent", agent: "alice", agency: "review" });
  expect(parseTarget("alice@review:pr-123")).toEqual({ kind: "agent", agent: "alice", agency: "review:pr-123" });
});

test("an agency can be one of another user", () => {
  expect(parseTarget("alice@review@bob")).toEqual({ kind: "agent", agent: "alice", agency: "review@bob" });
  expect(parseTarget("alice/sub-1@review:pr-1@bob")).toMatchObject({ agent: "alice/sub-1", agency: "review:pr-1@bob" });
  expect(parseTarget("@global@owner")).toEqual({ kind: "agency", agency: "global@owner" });
  expect(parseAgencyTarget("@review@bob").agency).toBe("review@bob");
});

test("a path names a sub-agent", () => {
  expect(parseTarget("alice/subagent-x@review")).toMatchObject({ agent: "alice/subagent-x", agency: "review" });
});

test("a leading @ names the agency itself", () => {
  expect(parseTarget("@review")).toEqual({ kind: "agency", agency: "review" });
  expect(parseTarget("@review:pr-123")).toEqual({ kind: "agency", agency: "review:pr-123" });
});

test("each kind of invalid target has its own error", () => {
  expect(getError(() => parseTarget(""))).toContain("missing");
  expect(getError(() => parseTarget("@"))).toContain("no agency after the “@”");
  expect(getError(() => parseTarget("alice@"))).toContain("no agency after the “@”");
  expect(getError(() => parseTarget("a@b@c@d"))).toContain("more than two “@”");
  expect(getError(() => parseTarget("alice@review@"))).toContain("no user after the last “@”");
  expect(getError(() => parseTarget("alice@review@b b"))).toContain("Invalid user name “b b”");
  expect(getError(() => parseTarget("alice:pr-1"))).toContain("put the tag after the agency");
  expect(getError(() => parseTarget("#general@review"))).toContain("channel");
  expect(getError(() => parseTarget("a//b"))).toContain("Invalid agent name “”");
  expect(getError(() => parseTarget("a/../b"))).toContain("Invalid agent name “..”");
  expect(getError(() => parseTarget("a/b/c/d/e"))).toContain("too deep");
  expect(getError(() => parseTarget("alice@re view"))).toContain("Invalid agency name “re view”");
  expect(getError(() => parseTarget("sub"))).toContain("reserved");
  expect(getError(() => parseTarget("аlice"))).toContain("ASCII");
});

test("a command that expects an agent rejects an agency and shows the correct form", () => {
  expect(parseAgentTarget("alice@review").agent).toBe("alice");
  expect(getError(() => parseAgentTarget("@review"))).toContain("alice@review");
});

test("a command that expects an agency defaults to global and rejects an agent", () => {
  expect(parseAgencyTarget(undefined).agency).toBe("global");
  expect(parseAgencyTarget("@review").agency).toBe("review");
  expect(getError(() => parseAgencyTarget("review"))).toContain("@review");
});

test("the @ is optional where only an agency is accepted", () => {
  expect(parseAgencyId("review:pr-1")).toBe("review:pr-1");
  expect(parseAgencyId("@review")).toBe("review");
  expect(parseAgencyId("review@bob")).toBe("review@bob");
  expect(parseAgencyId("@review:pr-1@bob")).toBe("review:pr-1@bob");
  expect(getError(() => parseAgencyId("a/b"))).toContain("Invalid agency name “a/b”");
  expect(getError(() => parseAgencyId("a@b@c"))).toContain("more than one “@”");
  expect(getError(() => parseAgencyId("review@"))).toContain("Invalid user name “”");
});

test("a channel is named with or without the #, and with its agency", () => {
  const channel = (text: string) => parseChannelTarget(text, "home");
  expect(channel("#general")).toEqual({ kind: "channel", channel: "general", agency: "home" });
  expect(channel("#general@review")).toEqual({ kind: "channel", channel: "general", agency: "review" });
  expect(channel("#general@review@bob")).toMatchObject({ channel: "general", agency: "review@bob" });
  expect(channel("dev-1.x@review:pr-1")).toEqual({ kind: "channel", channel: "dev-1.x", agency: "review:pr-1" });
});

test("direct messages are a channel named after the other member", () => {
  expect(parseChannelTarget("#@alice@review")).toMatchObject({ channel: "@alice", agency: "review" });
  expect(parseChannelTarget("#@alice")).toMatchObject({ channel: "@alice", agency: "global" });
  expect(parseChannelTarget("alice+~owner@review")).toMatchObject({ channel: "alice+~owner", agency: "review" });
});

test("an agency as a channel is its default channel", () => {
  expect(parseChannelTarget("@review")).toEqual({ kind: "channel", channel: "general", agency: "review" });
});

test("each kind of invalid channel has its own error, which says to quote the #", () => {
  expect(getError(() => parseChannelTarget(""))).toContain("names no channel; use '#general'");
  expect(getError(() => parseChannelTarget("#"))).toContain("in quotes: shells take # for a comment");
  expect(getError(() => parseChannelTarget("#@"))).toContain("names no channel");
  expect(getError(() => parseChannelTarget("#general@"))).toContain("no agency after the “@”");
  expect(getError(() => parseChannelTarget("#a b"))).toContain("Invalid channel name “a b”");
  expect(getError(() => parseChannelTarget("#a/b@review"))).toContain("Invalid channel name “a/b”");
  expect(getError(() => parseChannelTarget("#@sub@review"))).toContain("Invalid agent name “sub”");
  expect(getError(() => parseChannelTarget("#general@re view"))).toContain("Invalid agency name “re view”");
  expect(getError(() => parseChannelTarget("#general@a@b@c"))).toContain("more than two “@”");
});
