import type { ShellResult, ToolContext } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { evaluatePolicy, type PolicyRule } from "../policy/evaluate-policy.ts";
import { bash } from "./bash.ts";

const result = (more: Partial<ShellResult>): ShellResult => ({
  exitCode: 0,
  stdout: "",
  stderr: "",
  notes: [],
  ms: 1,
  ...more,
});

/** Returns the tool's result and its summary in the action log. */
async function runBash(shellResult: Partial<ShellResult>): Promise<[string, string | undefined]> {
  const text = (await bash.execute({ command: "x" }, {
    shell: { run: async () => result(shellResult) },
  } as unknown as ToolContext)) as string;
  return [text, bash.summarize?.(text)];
}

test.each<[string, Partial<ShellResult>, string, string]>([
  ["no output", {}, "The command produced no output.", "The command produced no output."],
  ["output", { stdout: "a\nb\n" }, "a\nb", "2 lines"],
  ["both outputs", { stdout: "a\n", stderr: "b\n" }, "a\nb", "2 lines"],
  ["a failure with output", { stdout: "a\n", exitCode: 2 }, "a\n\nexit code 2", "1 line, exit code 2"],
  ["a failure without output", { exitCode: 1 }, "exit code 1", "0 lines, exit code 1"],
  [
    "notes",
    { stdout: "a\n\nb\n", exitCode: 1, notes: ["One.", "Two."] },
    "a\n\nb\n\nexit code 1\n\nNote: One.\nNote: Two.",
    "3 lines, exit code 1",
  ],
  [
    "terminal control characters",
    { stdout: "\u001b[31mred\u001b[0m\r\n10%\r20%\n\0\u0007" },
    "red\n10%\n20%\n\ufffd\ufffd",
    "4 lines",
  ],
  ["only notes", { notes: ["One."] }, "Note: One.", "0 lines"],
])("%s", async (_, shellResult, text, summary) => {
  expect(await runBash(shellResult)).toEqual([text, summary]);
});

test("a timeout is passed on only if it is given", async () => {
  const calls: unknown[] = [];
  const context = {
    shell: { run: async (...args: unknown[]) => (calls.push(args), result({})) },
  } as unknown as ToolContext;
  await bash.execute(bash.inputSchema.parse({ command: "a", timeoutMs: 5 }), context);
  await bash.execute(bash.inputSchema.parse({ command: "b" }), context);
  expect(calls).toEqual([
    ["a", { timeoutMs: 5 }],
    ["b", {}],
  ]);
  for (const invalid of [
    {},
    { command: "" },
    { command: 1 },
    { command: "x", timeoutMs: 0 },
    { command: "x", cwd: "/" },
  ])
    expect(bash.inputSchema.safeParse(invalid).success).toBe(false);
});

test("the description is short", () => {
  expect(bash.description.length).toBeLessThan(260);
});

test("rules with a command do not match the call of the shell itself", () => {
  const call = { tool: bash, input: { command: "rm -rf x; echo secret" } };
  const commandRules: PolicyRule[] = [
    { tool: "bash", match: "rm", action: "deny" },
    { tool: "*", match: "secret", action: "deny" },
  ];
  expect(evaluatePolicy({ policy: commandRules }, call).action).toBe("allow");
  expect(evaluatePolicy({ policy: [{ tool: "bash", action: "deny" }] }, call).action).toBe("deny");
  expect(evaluatePolicy({ hitl: { tools: ["bash"] } }, call).action).toBe("ask");
});
