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

/** What a model is told of a command, and what the action log says. */
async function runBash(came: Partial<ShellResult>): Promise<[string, string | undefined]> {
  const text = (await bash.execute({ command: "x" }, {
    shell: { run: async () => result(came) },
  } as unknown as ToolContext)) as string;
  return [text, bash.summarize?.(text)];
}

test.each<[string, Partial<ShellResult>, string, string]>([
  ["nothing", {}, "It ran, and wrote nothing.", "It ran, and wrote nothing."],
  ["output", { stdout: "a\nb\n" }, "a\nb", "2 lines"],
  ["both outputs", { stdout: "a\n", stderr: "b\n" }, "a\nb", "2 lines"],
  ["a bad end", { stdout: "a\n", exitCode: 2 }, "a\n\nexit code 2", "1 line, exit code 2"],
  ["only a bad end", { exitCode: 1 }, "exit code 1", "0 lines, exit code 1"],
  [
    "notes",
    { stdout: "a\n\nb\n", exitCode: 1, notes: ["One.", "Two."] },
    "a\n\nb\n\nexit code 1\n\nNote: One.\nNote: Two.",
    "3 lines, exit code 1",
  ],
  [
    "what a terminal would act on",
    { stdout: "\u001b[31mred\u001b[0m\r\n10%\r20%\n\0\u0007" },
    "red\n10%\n20%\n\ufffd\ufffd",
    "4 lines",
  ],
  ["only notes", { notes: ["One."] }, "Note: One.", "0 lines"],
])("%s", async (_, came, text, summary) => {
  expect(await runBash(came)).toEqual([text, summary]);
});

test("a time limit is passed on, and only where it is given", async () => {
  const given: unknown[] = [];
  const context = {
    shell: { run: async (...input: unknown[]) => (given.push(input), result({})) },
  } as unknown as ToolContext;
  await bash.execute(bash.inputSchema.parse({ command: "a", timeoutMs: 5 }), context);
  await bash.execute(bash.inputSchema.parse({ command: "b" }), context);
  expect(given).toEqual([
    ["a", { timeoutMs: 5 }],
    ["b", {}],
  ]);
  for (const wrong of [{}, { command: "" }, { command: 1 }, { command: "x", timeoutMs: 0 }, { command: "x", cwd: "/" }])
    expect(bash.inputSchema.safeParse(wrong).success).toBe(false);
});

test("what it is told costs a model little", () => {
  expect(bash.description.length).toBeLessThan(260);
});

test("the call of the shell itself is judged by rules without a command", () => {
  const call = { tool: bash, input: { command: "rm -rf x; echo secret" } };
  const about: PolicyRule[] = [
    { tool: "bash", match: "rm", action: "deny" },
    { tool: "*", match: "secret", action: "deny" },
  ];
  expect(evaluatePolicy({ policy: about }, call).action).toBe("allow");
  expect(evaluatePolicy({ policy: [{ tool: "bash", action: "deny" }] }, call).action).toBe("deny");
  expect(evaluatePolicy({ hitl: { tools: ["bash"] } }, call).action).toBe("ask");
});
