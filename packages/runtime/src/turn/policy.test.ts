import { expect, test } from "vitest";
import { decide } from "./policy.ts";

test("what no rule speaks of is allowed", () => {
  expect(decide(undefined, "bash", { command: "ls" }).action).toBe("allow");
  expect(decide({ policy: [{ tool: "fetch", action: "deny" }] }, "bash", {}).action).toBe("allow");
});

test("deny wins over ask, ask over allow, whatever their order", () => {
  const policy = (...actions: ("deny" | "ask" | "allow")[]) => ({ policy: actions.map((action) => ({ tool: "bash", action })) });
  expect(decide(policy("allow", "ask", "deny"), "bash", {}).action).toBe("deny");
  expect(decide(policy("deny", "allow"), "bash", {}).action).toBe("deny");
  expect(decide(policy("allow", "ask"), "bash", {}).action).toBe("ask");
});

test("a star stands for anything in the tool's name and in what is matched of the input", () => {
  const config = { policy: [{ tool: "team_*", match: "rm -rf */", action: "deny" as const }] };
  expect(decide(config, "team_vote", { command: "rm -rf /tmp/" }).action).toBe("deny");
  expect(decide(config, "team_vote", { command: "ls" }).action).toBe("allow");
  expect(decide(config, "vote", { command: "rm -rf /tmp/" }).action).toBe("allow");
});

test("other characters of a pattern stand for themselves", () => {
  const config = { policy: [{ tool: "b.sh", action: "deny" as const }] };
  expect(decide(config, "bash", {}).action).toBe("allow");
  expect(decide(config, "b.sh", {}).action).toBe("deny");
});

test("tools that need a person are asked for, and the reason says so", () => {
  const { action, reason } = decide({ hitl: { tools: ["bash"] } }, "bash", {});
  expect(action).toBe("ask");
  expect(reason).toMatch(/approval/);
});
