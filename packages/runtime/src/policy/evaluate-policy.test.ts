import { expect, test } from "vitest";
import { evaluatePolicy, type PolicyRules, type PolicyTool } from "./evaluate-policy.ts";

const decide = (rules: PolicyRules | undefined, tool: PolicyTool, input: unknown) =>
  evaluatePolicy(rules, { tool, input });

const bash = { name: "bash" };

test("what no rule speaks of is allowed", () => {
  expect(decide(undefined, bash, { command: "ls" }).action).toBe("allow");
  expect(decide({ policy: [{ tool: "fetch", action: "deny" }] }, bash, {}).action).toBe("allow");
});

test("deny wins over ask, ask over allow, whatever their order", () => {
  const policy = (...actions: ("deny" | "ask" | "allow")[]) => ({
    policy: actions.map((action) => ({ tool: "bash", action })),
  });
  expect(decide(policy("allow", "ask", "deny"), bash, {}).action).toBe("deny");
  expect(decide(policy("deny", "allow"), bash, {}).action).toBe("deny");
  expect(decide(policy("allow", "ask"), bash, {}).action).toBe("ask");
});

test("a star stands for anything in the tool's name and in what is matched of the input", () => {
  const config = { policy: [{ tool: "team_*", match: "rm -rf */", action: "deny" as const }] };
  expect(decide(config, { name: "team_vote" }, { command: "rm -rf /tmp/" }).action).toBe("deny");
  expect(decide(config, { name: "team_vote" }, { command: "ls" }).action).toBe("allow");
  expect(decide(config, { name: "vote" }, { command: "rm -rf /tmp/" }).action).toBe("allow");
});

test("other characters of a pattern stand for themselves", () => {
  const config = { policy: [{ tool: "b.sh", action: "deny" as const }] };
  expect(decide(config, bash, {}).action).toBe("allow");
  expect(decide(config, { name: "b.sh" }, {}).action).toBe("deny");
});

test("tools that need a person are asked for, and the reason says so", () => {
  const { action, reason } = decide({ hitl: { tools: ["bash"] } }, bash, {});
  expect(action).toBe("ask");
  expect(reason).toMatch(/approval/);
});

test("a tool that needs a rule is denied without one, and told which one would do", () => {
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
        'No rule of this agent allows careful to do this. This rule in config.policy of its blueprint would: {"tool": "careful", "action": "allow"}',
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

/** Reads the words yes and no, and nothing else. */
const picky = {
  name: "picky",
  defaultPolicy: "deny" as const,
  matchesRule(match: string) {
    if (match === "bug") throw new Error("A bug.");
    return match === "yes" || (match === "no" ? false : undefined);
  },
};

test("a tool says itself what a rule means; one that it cannot read never allows, and denies everything", () => {
  const judged = (match: string, action: "deny" | "ask" | "allow", tool = "picky") =>
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
  expect(judged("yes", "deny").action).toBe("deny");
  expect(judged("no", "deny").action).toBe("allow");
  for (const match of ["perhaps", "", "bug"]) {
    expect(decide({ policy: [{ tool: "picky", match, action: "allow" }] }, picky, { word: match }).action).toBe("deny");
    expect(judged(match, "deny")).toEqual({
      action: "deny",
      reason: `The policy of this agent denies picky, because a rule for it cannot be read: ${JSON.stringify(match)}.`,
    });
    expect(judged(match, "ask").action).toBe("ask");
  }
});

test("a rule for several tools that one of them cannot read is looked for as text there, and never allows it", () => {
  const judged = (match: string, action: "deny" | "allow") =>
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
  expect(judged("secret", "deny")).toBe("deny");
  expect(judged("other", "deny")).toBe("allow");
  expect(judged("secret", "allow")).toBe("deny");
});
