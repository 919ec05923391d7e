import { type FileSyncResult, type CommandResult, defineTool, type ProcessInfo, ToolError } from "@thinkery/sdk";
import { matchesWildcard, maxCommandBytes } from "@thinkery/sdk/internal";
import { z } from "zod";
import { matchCommandLine, suggestCommandMatch } from "../policy/match-command-line.ts";
import { noOutputText } from "./bash.ts";
import { truncate } from "./output.ts";

/** Of longer process output, the model gets only the end. */
const maxTailChars = 30_000;

/** Runs programs of the machine in an isolated Linux sandbox. */
export const sandbox = defineTool(
  {
    name: "sandbox",
    description:
      "Run a bash command in a Linux sandbox with this machine's programs and no network; /work is a copy of the workspace, and changes there are synced back. `background` starts a process and returns its id; `process` reads its output, or with `stop` stops it; empty input lists processes.",
    inputSchema: z
      .strictObject({
        command: z.string().min(1).max(maxCommandBytes).optional(),
        timeoutMs: z.int().min(1).optional(),
        background: z.boolean().optional(),
        process: z.string().min(1).max(100).optional(),
        stop: z.boolean().optional(),
      })
      .superRefine(({ command, timeoutMs, background, process, stop }, context) => {
        const addIssue = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
        if (command !== undefined && process !== undefined)
          addIssue("process", "give a command or a process, not both");
        if (command === undefined && background) addIssue("background", "requires a command");
        if (command === undefined && timeoutMs !== undefined) addIssue("timeoutMs", "requires a command");
        if (background && timeoutMs !== undefined)
          addIssue("timeoutMs", "a background process runs until it exits or is stopped");
        if (process === undefined && stop) addIssue("stop", "requires a process");
      }),
    action: "run",
    // The host's own limits apply first, and none is longer than a day.
    timeoutSeconds: 86_400 + 60,
    matchesRule: matchSandboxRule,
    ruleFor: (input) => suggestCommandMatch((input as SandboxInput).command ?? ""),
    preview: ({ command, ...input }) =>
      command === undefined ? { kind: "text", text: JSON.stringify(input) } : { kind: "command", command },
    summarize: (output) => summarizeOutput(String(output)),
  },
  async ({ command, timeoutMs, background, process, stop }, { linux, signal, reportProgress }) => {
    if (command !== undefined && background) {
      const { id, notes } = await linux.start(command);
      return addNotes(`Started process ${id}.`, { notes });
    }
    if (command !== undefined) {
      return formatCommandResult(
        await linux.run(command, {
          signal,
          onOutput: reportProgress,
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
        }),
      );
    }
    if (process !== undefined && stop) {
      const stopped = await linux.stop(process);
      return addNotes(formatProcess(stopped), stopped);
    }
    if (process !== undefined) {
      const { output, ...info } = await linux.read(process);
      return addNotes(`${formatProcess(info)}\n\n${getTail(output) || "It has produced no output."}`, info);
    }
    const processes = await linux.list();
    return processes.length > 0 ? processes.map(formatProcess).join("\n") : "You have no processes.";
  },
);

interface SandboxInput {
  command?: string;
}

/** A rule that forbids matches anywhere in the input; one that allows, the commands that would run. */
function matchSandboxRule(match: string, input: unknown, action: "deny" | "ask" | "allow"): boolean {
  if (action !== "allow") return matchesWildcard(JSON.stringify(input), `*${match}*`);
  const { command } = input as SandboxInput;
  return command === undefined ? match === "" : matchCommandLine(match, command, "allow");
}

/** Returns the output, and how the command ended if it failed. Throws if it was ended from outside. */
function formatCommandResult({ exitCode, endedBy, output, ms, notes }: CommandResult): string {
  const appendLine = (line: string) => [addNotes(output.trimEnd(), { notes }), line].filter(Boolean).join("\n\n");
  if (endedBy === "timeout")
    throw new ToolError(
      "timeout",
      appendLine(`The command did not finish within ${formatSeconds(ms)} and was stopped.`),
    );
  if (endedBy === "memory_limit")
    throw new ToolError(
      "limit",
      appendLine(
        "The command was killed because it exceeded its memory limit, which all of its processes share. Process less data at once, or run fewer processes in parallel.",
      ),
    );
  if (endedBy === "process_limit")
    throw new ToolError(
      "limit",
      appendLine("The command was killed because it had too many processes or threads. Run fewer in parallel."),
    );
  if (endedBy === "memory")
    throw new ToolError("limit", appendLine("The command was killed because the machine ran out of memory."));
  if (endedBy === "disk")
    throw new ToolError(
      "limit",
      appendLine("The command was killed because the disk is almost full. Delete files you no longer need."),
    );
  if (endedBy === "stop") throw new ToolError("canceled", appendLine("The command was stopped."));
  if (exitCode === null) return appendLine("ended by a signal");
  if (exitCode !== 0) return appendLine(`exit code ${exitCode}`);
  return addNotes(output.trim() === "" ? noOutputText : output, { notes });
}

/** Appends notes about synced files, separate from the output. */
function addNotes(text: string, { notes = [] }: { notes?: FileSyncResult["notes"] }): string {
  return notes.length === 0
    ? text
    : [text.trimEnd(), notes.map((note) => `[${note}]`).join("\n")].filter(Boolean).join("\n\n");
}

const endDescriptions = {
  timeout: "timed out",
  stop: "stopped",
  memory_limit: "killed: memory limit",
  process_limit: "killed: process limit",
  memory: "killed: out of memory",
  disk: "killed: disk almost full",
  signal: "ended by a signal",
};

function formatProcess({ id, command, state, exitCode, endedBy }: ProcessInfo): string {
  const status =
    state === "running" ? "running" : endedBy ? endDescriptions[endedBy] : `exit code ${exitCode ?? "unknown"}`;
  return `process ${id}, ${status}: ${truncate(command.replace(/\s+/g, " "), 200)}`;
}

/** Summarizes how much a command wrote and how it ended, never what it wrote. Process states are one line already. */
function summarizeOutput(text: string): string {
  const [first = ""] = text.split("\n", 1);
  if (first === noOutputText || /^(?:Started process |You have no processes\.|process )/.test(first)) return first;
  const whole = text.trimEnd();
  const last = whole.slice(whole.lastIndexOf("\n") + 1);
  const code = /^exit code \d+$/.test(last) ? last : "";
  const output = whole.slice(0, whole.length - code.length).trimEnd();
  const lines = output === "" ? 0 : output.split("\n").length;
  return [`${lines} ${lines === 1 ? "line" : "lines"}`, code].filter(Boolean).join(", ");
}

function getTail(output: string): string {
  return output.length > maxTailChars
    ? `[… ${output.length - maxTailChars} characters omitted …]\n${output.slice(-maxTailChars)}`
    : output;
}

function formatSeconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}
