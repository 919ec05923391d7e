import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import type { Cli } from "./cli.ts";
import { createCompletionScript, shells } from "./completion.ts";
import { buildProgram } from "./program.ts";

const program = buildProgram({} as Cli, { last: undefined });
const names = program
  .createHelp()
  .visibleCommands(program)
  .map((command) => command.name());

test("every visible command is completed in every shell, and the hidden one in none", () => {
  expect(names).toContain("doctor");
  for (const shell of shells) {
    const script = createCompletionScript(program, shell);
    for (const name of names) expect(script, `${name} in ${shell}`).toMatch(new RegExp(`\\b${name}\\b`));
    expect(script).toContain("foreground");
    expect(script).not.toContain("host-process");
  }
});

function complete(...words: string[]): string[] {
  const invocation = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _thinkery; echo "\${COMPREPLY[@]}"`;
  const stdout = execFileSync("bash", ["-c", `${createCompletionScript(program, "bash")}\n${invocation}`], {
    encoding: "utf8",
    timeout: 10_000,
  });
  return stdout.trim().split(" ").filter(Boolean);
}

test("bash completes commands, subcommands, options and choices", () => {
  expect(complete("thinkery", "")).toEqual(names);
  expect(complete("thinkery", "re")).toEqual(["restart", "revert", "resource"]);
  expect(complete("thinkery", "token", "")).toEqual(expect.arrayContaining(["ls", "new", "rm"]));
  expect(complete("thinkery", "start", "--fo")).toEqual(["--foreground"]);
  expect(complete("thinkery", "agency", "vars", "")).toEqual(["set", "unset"]);
  expect(complete("thinkery", "--json", "agency", "n")).toEqual(["new"]);
  expect(complete("thinkery", "completion", "")).toEqual(["bash", "zsh", "fish"]);
});
