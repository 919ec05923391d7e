import { defineTool, type ShellResult } from "@thinkery/sdk";
import { maxCommandBytes, toReadableOutput } from "@thinkery/sdk/internal";
import { z } from "zod";
import { matchCommandLine, suggestCommandMatch } from "../policy/match-command-line.ts";

export const noOutputText = "The command produced no output.";

/** Runs shell commands on the agent's workspace, in a sandbox that starts at once. */
export const bash = defineTool(
  {
    name: "bash",
    description:
      "Run a bash command on your workspace (/work), with the usual text tools (grep, sed, awk, jq, find, …); for other programs (git, node, …) use sandbox. Folder, exported variables and /tmp persist until the turn ends. File changes are saved.",
    inputSchema: z.strictObject({
      command: z.string().min(1).max(maxCommandBytes),
      timeoutMs: z.int().min(1).optional(),
    }),
    action: "run",
    // The sandbox's own limits on waiting and running apply first.
    timeoutSeconds: 7300,
    // Rules that deny are enforced where each single command runs, with its actual arguments.
    matchesRule(match, input, action, ruleTool) {
      if (action === "deny") return false;
      // A rule for several tools is matched anywhere in the command line.
      if (action === "ask" && ruleTool !== "bash") return undefined;
      return matchCommandLine(match, (input as { command: string }).command, action);
    },
    ruleFor: (input) => suggestCommandMatch((input as { command: string }).command),
    preview: ({ command }) => ({ kind: "command", command }),
    summarize: (output) => summarizeOutput(String(output)),
  },
  async ({ command, timeoutMs }, { shell }) =>
    formatShellResult(await shell.run(command, timeoutMs === undefined ? {} : { timeoutMs })),
);

/** Returns the output, and the exit code if the command failed. */
function formatShellResult({ exitCode, stdout, stderr, notes }: ShellResult): string {
  const output = [stdout, stderr]
    .map((text) => toReadableOutput(text).trimEnd())
    .filter(Boolean)
    .join("\n");
  const parts = [
    output,
    exitCode === 0 ? "" : `exit code ${exitCode}`,
    notes.map((note) => `Note: ${note}`).join("\n"),
  ].filter(Boolean);
  return parts.length === 0 ? noOutputText : parts.join("\n\n");
}

/** Summarizes how much a command wrote and how it ended, never what it wrote. */
function summarizeOutput(text: string): string {
  if (text === noOutputText) return text;
  const parts = text.split("\n\n");
  while (parts.at(-1)?.startsWith("Note: ")) parts.pop();
  const code = /^exit code \d+$/.test(parts.at(-1) ?? "") ? parts.pop() : undefined;
  const output = parts.join("\n\n");
  const lines = output === "" ? 0 : output.split("\n").length;
  return [`${lines} ${lines === 1 ? "line" : "lines"}`, code].filter(Boolean).join(", ");
}
