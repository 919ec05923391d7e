import { isThinkeryError } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { parseAgencyId, parseAgencyTarget, parseAgentTarget, parseTarget } from "./target.ts";

const getRefusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (isThinkeryError(error) && error.code === "bad_request") return error.message;
    throw error;
  }
  return "accepted";
};

test("a bare name is an agent of the global agency", () => {
  expect(parseTarget("alice")).toEqual({ kind: "agent", agent: "alice", agency: "global" });
});

test("an agent can be named with its agency and its tag", () => {
  expect(parseTarget("alice@review")).toEqual({ kind: "agent", agent: "alice", agency: "review" });
  expect(parseTarget("alice@review:pr-123")).toEqual({ kind: "agent", agent: "alice", agency: "review:pr-123" });
});

test("an @ in front names the agency itself", () => {
  expect(parseTarget("@review")).toEqual({ kind: "agency", agency: "review" });
  expect(parseTarget("@review:pr-123")).toEqual({ kind: "agency", agency: "review:pr-123" });
});

test("what is wrong with a target is said in its own words", () => {
  expect(getRefusal(() => parseTarget(""))).toContain("missing");
  expect(getRefusal(() => parseTarget("@"))).toContain("no agency after the “@”");
  expect(getRefusal(() => parseTarget("alice@"))).toContain("no agency after the “@”");
  expect(getRefusal(() => parseTarget("a@b@c"))).toContain("more than one “@”");
  expect(getRefusal(() => parseTarget("alice:pr-1"))).toContain("a tag belongs behind one");
  expect(getRefusal(() => parseTarget("#general@review"))).toContain("channel");
  expect(getRefusal(() => parseTarget("a/b"))).toContain("“a/b” cannot name an agent");
  expect(getRefusal(() => parseTarget("alice@re view"))).toContain("“re view” cannot name an agency");
  expect(getRefusal(() => parseTarget("sub"))).toContain("reserved");
  expect(getRefusal(() => parseTarget("аlice"))).toContain("ASCII");
});

test("a command that wants an agent refuses an agency and shows the way", () => {
  expect(parseAgentTarget("alice@review").agent).toBe("alice");
  expect(getRefusal(() => parseAgentTarget("@review"))).toContain("alice@review");
});

test("a command that wants an agency takes none for global and refuses an agent", () => {
  expect(parseAgencyTarget(undefined).agency).toBe("global");
  expect(parseAgencyTarget("@review").agency).toBe("review");
  expect(getRefusal(() => parseAgencyTarget("review"))).toContain("@review");
});

test("where only an agency can be meant the @ may be left out", () => {
  expect(parseAgencyId("review:pr-1")).toBe("review:pr-1");
  expect(parseAgencyId("@review")).toBe("review");
  expect(getRefusal(() => parseAgencyId("a/b"))).toContain("“a/b” cannot name an agency");
});
