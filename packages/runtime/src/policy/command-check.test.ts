import { describe, expect, test } from "vitest";
import { createCommandCheck, selectCommandRules } from "./command-check.ts";
import type { PolicyAction, PolicyRule } from "./evaluate-policy.ts";

const createCheck = (policy: PolicyRule[], grants: string[] = [], line = "") =>
  createCommandCheck({ policy, grants: grants.map((match) => ({ tool: "bash", match })) }, line);
const deny = (match: string): PolicyRule => ({ tool: "bash", match, action: "deny" });

describe("a rule", () => {
  test.each<[string, string, string[], boolean]>([
    ["rm", "rm", [], true],
    ["rm", "rm", ["-rf", "x"], true],
    ["rm", "rmdir", ["x"], false],
    ["rm*", "rmdir", ["x"], true],
    ["*", "anything", [], true],
    ["rm -rf *", "rm", ["-rf", "x", "y"], true],
    ["rm -rf *", "rm", ["-rf"], true],
    ["rm -rf *", "rm", ["-r", "x"], false],
    ["rm *", "rm", [], true],
    ["curl *", "curl", ["-s", "https://x.org"], true],
    ["* --force", "git", ["push", "--force"], true],
    ["mv * /tmp/*", "mv", ["a", "/tmp/b"], true],
    ["mv * /tmp/*", "mv", ["/tmp/a", "b"], false],
    ["  rm   -rf * ", "rm", ["-rf", "x"], true],
    ["source", ".", ["x"], true],
    [".", "source", ["x"], true],
    ["test", "[", ["1", "]"], true],
    ["bash", "sh", ["-c", "x"], true],
    ["mapfile", "readarray", [], true],
    ["echo a b", "echo", ["a b"], true],
    ["", "rm", [], false],
  ])("“%s” and %s %j: %s", (match, name, args, denied) => {
    expect(createCheck([deny(match)])?.(name, args)).toBe(denied ? "deny" : "allow");
  });

  test("for several tools is matched anywhere in the command line", () => {
    const check = createCheck([{ tool: "*", match: "secret", action: "deny" }]);
    const lines = [["cat", "my-secret.txt"], ["secretly"], ["cat", "x"]];
    expect(lines.map(([name = "", ...args]) => check?.(name, args))).toEqual(["deny", "deny", "allow"]);
  });

  test("that denies or asks wins over one that allows, and one that asks over one that allows", () => {
    const rule = (match: string, action: PolicyAction): PolicyRule => ({ tool: "bash", match, action });
    const rules = [rule("rm", "allow"), rule("mv", "ask"), rule("mv", "allow"), deny("cp"), rule("cp", "allow")];
    const check = createCheck(rules);
    expect(["rm", "mv", "cp", "ls"].map((name) => check?.(name, []))).toEqual(["allow", "ask", "deny", "allow"]);
    expect(createCheck([rule("rm", "allow")])).toBeUndefined();
  });
});

describe("a grant", () => {
  const policy: PolicyRule[] = ["rm", "mv", "bash"].map((match) => ({ tool: "bash", match, action: "ask" }));

  test("lifts rules that ask for the commands that match it, not those that deny", () => {
    const check = createCheck([...policy, deny("rm -rf *")], ["rm *"]);
    expect(check?.("rm", ["x"])).toBe("allow");
    expect(check?.("mv", ["x", "y"])).toBe("ask");
    expect(check?.("rm", ["-rf", "x"])).toBe("deny");
  });

  test("of exactly this line lifts them for all it runs", () => {
    const line = "for f in *; do mv $f x; done";
    expect(createCheck(policy, [line], ` ${line}`)?.("mv", ["a", "x"])).toBe("allow");
    expect(createCheck(policy, [line], `${line}; true`)?.("mv", ["a", "x"])).toBe("ask");
  });

  test("that is a pattern lifts them for its own command only, also if the line reads like the pattern", () => {
    const check = createCheck(policy, ["bash *"], "bash *");
    expect([check?.("bash", ["a.sh"]), check?.("rm", ["x"])]).toEqual(["allow", "ask"]);
  });
});

test("command rules are those with a match whose tool pattern includes the shell", () => {
  const policy: PolicyRule[] = [
    { tool: "bash", match: "rm -rf *", action: "deny" },
    { tool: "*", match: "secret", action: "ask" },
    { tool: "bash", action: "allow" },
    { tool: "sandbox", match: "x", action: "deny" },
    { tool: "ba*", match: "curl", action: "allow" },
  ];
  const grants = ["bash", "fetch"].map((tool) => ({ tool, match: "x" }));
  expect(selectCommandRules({ policy, grants })).toEqual({
    policy: [policy[0], policy[1], policy[4]],
    grants: [grants[0]],
  });
  expect(selectCommandRules(undefined)).toEqual({ policy: [], grants: [] });
});
