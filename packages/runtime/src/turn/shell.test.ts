import { expect, test } from "vitest";
import { bash } from "../tools/bash.ts";
import { decide } from "./policy.ts";
import { rulesOf } from "./shell.ts";

test("rules for the shell are about its commands, rules for several tools about anything in them", () => {
  const policy = [
    { tool: "bash", match: "rm -rf *", action: "deny" as const },
    { tool: "*", match: "secret", action: "ask" as const },
    { tool: "bash", action: "allow" as const },
    { tool: "sandbox", match: "x", action: "deny" as const },
    { tool: "ba*", match: "curl", action: "allow" as const },
  ];
  expect(rulesOf(policy)).toEqual([
    { match: "rm -rf *", action: "deny" },
    { match: "secret", action: "ask", anywhere: true },
    { match: "curl", action: "allow", anywhere: true },
  ]);
});

test("the call itself is judged by rules without a command", () => {
  const input = { command: "rm -rf x; echo secret" };
  expect(decide({ policy: [{ tool: "bash", match: "rm", action: "deny" }, { tool: "*", match: "secret", action: "deny" }] }, bash, input).action).toBe("allow");
  expect(decide({ policy: [{ tool: "bash", action: "deny" }] }, bash, input).action).toBe("deny");
  expect(decide({ hitl: { tools: ["bash"] } }, bash, input).action).toBe("ask");
});
