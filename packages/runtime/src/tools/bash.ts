import { defineTool, type ShellResult } from "@thinkery/sdk";
import { maxCommandBytes, toReadableOutput } from "@thinkery/sdk/internal";
import { z } from "zod";

/** A shell on the agent's own files, in a sandbox that is there at once. */
export const bash = defineTool(
  {
    name: "bash",
    description:
      "Run a bash command on your workspace (/work), with the usual text tools (grep, sed, awk, jq, find, …); for other programs (git, node, …) use sandbox. Folder, exported variables and /tmp stay until the end of the turn. Changes to files are kept.",
    inputSchema: z.strictObject({
      command: z.string().min(1).max(maxCommandBytes),
      timeoutMs: z.int().min(1).optional(),
    }),
    action: "run",
    // Its own limits come first: waiting for a sandbox, and running.
    timeoutSeconds: 7300,
    // Rules are about the commands in it, and hold where each of them is run.
    matchesRule: () => false,
    summarize: (output) => summarizeOutput(String(output)),
  },
  async ({ command, timeoutMs }, { shell }) =>
    formatShellResult(await shell.run(command, timeoutMs === undefined ? {} : { timeoutMs })),
);

/** What a model is told: what was written, and how it ended where that was not well. */
export function formatShellResult({ exitCode, stdout, stderr, notes }: ShellResult): string {
  const output = [stdout, stderr]
    .map((text) => toReadableOutput(text).trimEnd())
    .filter(Boolean)
    .join("\n");
  const parts = [
    output,
    exitCode === 0 ? "" : `exit code ${exitCode}`,
    notes.map((note) => `Note: ${note}`).join("\n"),
  ].filter(Boolean);
  return parts.length === 0 ? "It ran, and wrote nothing." : parts.join("\n\n");
}

/** How much it wrote, and how it ended; never what it wrote. */
function summarizeOutput(text: string): string {
  if (text === "It ran, and wrote nothing.") return text;
  const parts = text.split("\n\n");
  while (parts.at(-1)?.startsWith("Note: ")) parts.pop();
  const code = /^exit code \d+$/.test(parts.at(-1) ?? "") ? parts.pop() : undefined;
  const output = parts.join("\n\n");
  const lines = output === "" ? 0 : output.split("\n").length;
  return [`${lines} ${lines === 1 ? "line" : "lines"}`, code].filter(Boolean).join(", ");
}
