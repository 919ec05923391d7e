import { expect, test } from "vitest";
import { evaluatePolicy, type PolicyRules, type PolicyTool } from "./evaluate-policy.ts";

const decide = (rules: PolicyRules | undefined, tool: PolicyTool, input: unknown) =>
  evaluatePolicy(rules, { tool, input });

const bash = { name: "bash" };

test("a call that no rule matches is allowed", () => {
  expect(decide(undefined, bash, { command: "ls" }).action).toBe("allow");
  expect(decide({ policy: [{ tool: "fetch", action: "deny" }] }, bash, {}).action).toBe("allow");
});

test("deny wins over ask, and ask over allow, in any order", () => {
  const policy = (...actions: ("deny" | "ask" | "allow")[]) => ({
    policy: actions.map((action) => ({ tool: "bash", action })),
  });
  expect(decide(policy("allow", "ask", "deny"), bash, {}).action).toBe("deny");
  expect(decide(policy("deny", "allow"), bash, {}).action).toBe("deny");
  expect(decide(policy("allow", "ask"), bash, {}).action).toBe("ask");
});

test("* matches anything in the tool's name and in the input", () => {
  const config = { policy: [{ tool: "team_*", match: "rm -rf */", action: "deny" as const }] };
  expect(decide(config, { name: "team_vote" }, { command: "rm -rf /tmp/" }).action).toBe("deny");
  expect(decide(config, { name: "team_vote" }, { command: "ls" }).action).toBe("allow");
  expect(decide(config, { name: "vote" }, { command: "rm -rf /tmp/" }).action).toBe("allow");
});

test("all other characters of a pattern match literally", () => {
  const config = { policy: [{ tool: "b.sh", action: "deny" as const }] };
  expect(decide(config, bash, {}).action).toBe("allow");
  expect(decide(config, { name: "b.sh" }, {}).action).toBe("deny");
});

test("a tool under hitl needs approval, and the reason says so", () => {
  const { action, reason } = decide({ hitl: { tools: ["bash"] } }, bash, {});
  expect(action).toBe("ask");
  expect(reason).toMatch(/approval/);
});

test("a tool that needs a rule is denied without one, and the reason suggests a rule", () => {
  const careful = { name: "careful", defaultPolicy: "deny" as const };
  for (const config of [
    undefined,
    {},
    { hitl: { tools: ["bash"] } },
    { policy: [] },
    { policy: [{ tool: "bash", action: "allow" as const }] },
  ]) {
    expect(decide(config, careful, {})).toEqual({
      action: "deny",
      reason:
        'No policy rule allows this call of careful. To allow it, add this rule to config.policy of the agent\'s blueprint: {"tool": "careful", "action": "allow"}',
    });
  }
  expect(decide(undefined, { ...careful, ruleFor: () => 'a "b"' }, {}).reason).toContain(
    '{"tool": "careful", "match": "a \\"b\\"", "action": "allow"}',
  );
  expect(decide({ policy: [{ tool: "careful", action: "allow" }] }, careful, {}).action).toBe("allow");
  expect(decide({ policy: [{ tool: "*", action: "allow" }] }, careful, {}).action).toBe("allow");
  expect(decide({ policy: [{ tool: "careful", action: "ask" }] }, careful, {}).action).toBe("ask");
  expect(decide({ hitl: { tools: ["careful"] } }, careful, {}).action).toBe("ask");
});

/** Understands the rules “yes” and “no” only. */
const picky = {
  name: "picky",
  defaultPolicy: "deny" as const,
  matchesRule(match: string) {
    if (match === "bug") throw new Error("A bug.");
    return match === "yes" || (match === "no" ? false : undefined);
  },
};

test("a tool interprets its rules; an invalid rule never allows, and denies every call", () => {
  const decideWith = (match: string, action: "deny" | "ask" | "allow", tool = "picky") =>
    decide(
      {
        policy: [
          { tool: "picky", match: "yes", action: "allow" },
          { tool, match, action },
        ],
      },
      picky,
      { word: "perhaps" },
    );
  expect(decideWith("yes", "deny").action).toBe("deny");
  expect(decideWith("no", "deny").action).toBe("allow");
  for (const match of ["perhaps", "", "bug"]) {
    expect(decide({ policy: [{ tool: "picky", match, action: "allow" }] }, picky, { word: match }).action).toBe("deny");
    expect(decideWith(match, "deny")).toEqual({
      action: "deny",
      reason: `The policy of this agent denies picky, because one of its rules is not valid: ${JSON.stringify(match)}.`,
    });
    expect(decideWith(match, "ask").action).toBe("ask");
  }
});

test("a rule for several tools that one of them cannot interpret is matched as text, and never allows its calls", () => {
  const decideWith = (match: string, action: "deny" | "allow") =>
    decide(
      {
        policy: [
          { tool: "p*", match, action },
          { tool: "picky", match: action === "deny" ? "yes" : "no", action: "allow" },
        ],
      },
      picky,
      { word: "secret" },
    ).action;
  expect(decideWith("secret", "deny")).toBe("deny");
  expect(decideWith("other", "deny")).toBe("allow");
  expect(decideWith("secret", "allow")).toBe("deny");
});
