import { expect, test } from "vitest";
import { authorizeCommand } from "./authorize-command.ts";
import type { PolicyRule, PolicyTool } from "./evaluate-policy.ts";

const sandbox: PolicyTool = { name: "sandbox" };
const bash: PolicyTool = { name: "bash", matchesRule: () => false };

const authorize = (command: string, policy: PolicyRule[], tools = [sandbox, bash]) =>
  authorizeCommand({ policy }, tools, command).map(({ name }) => name);

test("a command may run with every tool that the agent has", () => {
  expect(authorizeCommand(undefined, [sandbox, bash], "npm test")).toEqual([sandbox, bash]);
  expect(authorize("npm test", [], [bash])).toEqual(["bash"]);
  expect(() => authorize("npm test", [], [])).toThrow("This agent cannot run commands.");
});

test("a tool that is denied as a whole is not used", () => {
  expect(authorize("npm test", [{ tool: "sandbox", action: "deny" }])).toEqual(["bash"]);
  expect(authorize("npm test", [{ tool: "bash", action: "ask" }])).toEqual(["sandbox"]);
  expect(() => authorize("npm test", [{ tool: "*", action: "deny" }])).toThrow("denies sandbox");
  expect(authorizeCommand({ hitl: { tools: ["sandbox"] } }, [sandbox, bash], "x")).toEqual([bash]);
});

test.each<[command: string, rule: PolicyRule]>([
  ["npm publish", { tool: "sandbox", match: "publish", action: "deny" }],
  ["npm publish", { tool: "sandbox", match: "publish", action: "ask" }],
  ["true && rm -r x", { tool: "bash", match: "rm", action: "deny" }],
  ["cat a | (sh b)", { tool: "bash", match: "bash *", action: "ask" }],
  ["rm x", { tool: "*", match: "rm", action: "deny" }],
])("%s is refused by %o", (command, rule) => {
  expect(() => authorize(command, [rule])).toThrow(
    expect.objectContaining({ code: "forbidden", message: expect.stringContaining(command) }),
  );
  expect(authorize("npm test", [rule])).toEqual(["sandbox", "bash"]);
});

test("a command that was approved for good may run, and one that asks is refused with that reason", () => {
  const policy: PolicyRule[] = [{ tool: "bash", match: "rm *", action: "ask" }];
  const shell = { ...bash, matchesRule: () => undefined };
  expect(() => authorizeCommand({ policy }, [bash], "rm x")).toThrow(/“rm” needs a person's approval/);
  expect(authorizeCommand({ policy, grants: [{ tool: "bash", match: "rm *" }] }, [bash], "rm x")).toEqual([bash]);
  expect(() => authorizeCommand({ policy }, [shell], "rm x")).toThrow("A rule asks");
});
