import { describe, expect, test } from "vitest";
import type { PolicyAction, PolicyRule } from "./evaluate-policy.ts";
import { createCommandCheck, selectCommandRules } from "./match-command.ts";

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
    expect(createCommandCheck([deny(match)])?.(name, args)).toBe(!denied);
  });

  test("for several tools is matched anywhere in the command line", () => {
    const isAllowed = createCommandCheck([{ tool: "*", match: "secret", action: "deny" }]);
    const lines = [["cat", "my-secret.txt"], ["secretly"], ["cat", "x"]];
    expect(lines.map(([name = "", ...args]) => isAllowed?.(name, args))).toEqual([false, false, true]);
  });

  test("that denies or asks wins over one that allows, and a command that needs approval is refused", () => {
    const rule = (match: string, action: PolicyAction): PolicyRule => ({ tool: "bash", match, action });
    const rules = [rule("rm", "allow"), rule("mv", "ask"), rule("mv", "allow"), deny("cp"), rule("cp", "allow")];
    const isAllowed = createCommandCheck(rules);
    expect(["rm", "mv", "cp", "ls"].map((name) => isAllowed?.(name, []))).toEqual([true, false, false, true]);
    expect(createCommandCheck([rule("rm", "allow")])).toBeUndefined();
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
  expect(selectCommandRules(policy)).toEqual([policy[0], policy[1], policy[4]]);
});
