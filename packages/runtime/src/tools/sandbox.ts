import { type FileSyncResult, type CommandResult, defineTool, type ProcessInfo, ToolError } from "@thinkery/sdk";
import { maxCommandBytes } from "@thinkery/sdk/internal";
import { z } from "zod";
import { truncate } from "./output.ts";

/** Of a process that has written more, a model is told the end. */
const maxTailChars = 30_000;

/** Programs of the machine, walled in. */
export const sandbox = defineTool(
  {
    name: "sandbox",
    description:
      "Run a bash command in a Linux sandbox: /work is a copy of the workspace and what changes there comes back, no network, the programs that this machine has. `background` starts it and answers a process id; `process` reads that one's output, with `stop` ends it; no input at all lists them.",
    inputSchema: z
      .strictObject({
        command: z.string().min(1).max(maxCommandBytes).optional(),
        timeoutMs: z.int().min(1).optional(),
        background: z.boolean().optional(),
        process: z.string().min(1).max(100).optional(),
        stop: z.boolean().optional(),
      })
      .superRefine(({ command, timeoutMs, background, process, stop }, context) => {
        const refuse = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
        if (command !== undefined && process !== undefined) refuse("process", "give a command or a process, not both");
        if (command === undefined && background) refuse("background", "there is no command to start");
        if (command === undefined && timeoutMs !== undefined) refuse("timeoutMs", "there is no command to wait for");
        if (background && timeoutMs !== undefined)
          refuse("timeoutMs", "a process in the background goes on until it ends or is stopped");
        if (process === undefined && stop) refuse("stop", "say which process");
      }),
    action: "run",
    // The host's own limits come first, and none is longer than a day.
    timeoutSeconds: 86_400 + 60,
    summarize: (output) => summarizeOutput(String(output)),
  },
  async ({ command, timeoutMs, background, process, stop }, { linux, signal, reportProgress: progress }) => {
    if (command !== undefined && background) {
      const { id, notes } = await linux.start(command);
      return addNotes(`It runs as process ${id}.`, { notes });
    }
    if (command !== undefined) {
      return formatCommandResult(
        await linux.run(command, { signal, onOutput: progress, ...(timeoutMs === undefined ? {} : { timeoutMs }) }),
      );
    }
    if (process !== undefined && stop) {
      const stopped = await linux.stop(process);
      return addNotes(formatProcess(stopped), stopped);
    }
    if (process !== undefined) {
      const { output, ...found } = await linux.read(process);
      return addNotes(`${formatProcess(found)}\n\n${getTail(output) || "It has written nothing."}`, found);
    }
    const all = await linux.list();
    return all.length > 0 ? all.map(formatProcess).join("\n") : "You have no processes.";
  },
);

/** What a model is told of a command it waited for: what it wrote, and how it ended where that was not well. */
function formatCommandResult({ exitCode, endedBy, output, ms, notes }: CommandResult): string {
  const appendLine = (line: string) => [addNotes(output.trimEnd(), { notes }), line].filter(Boolean).join("\n\n");
  if (endedBy === "timeout")
    throw new ToolError("timeout", appendLine(`The command did not end within ${formatSeconds(ms)} and was ended.`));
  if (endedBy === "memory")
    throw new ToolError("limit", appendLine("The machine ran out of memory, and the command was ended."));
  if (endedBy === "disk")
    throw new ToolError(
      "limit",
      appendLine("The disk is almost full, and the command was ended. Remove what is not needed."),
    );
  if (endedBy === "stop") throw new ToolError("canceled", appendLine("The command was stopped."));
  if (exitCode === null) return appendLine("ended by a signal");
  if (exitCode !== 0) return appendLine(`exit code ${exitCode}`);
  return addNotes(output.trim() === "" ? "It ran, and wrote nothing." : output, { notes });
}

/** What became of its files is told apart from what it wrote. */
function addNotes(text: string, { notes = [] }: { notes?: FileSyncResult["notes"] }): string {
  return notes.length === 0
    ? text
    : [text.trimEnd(), notes.map((note) => `[${note}]`).join("\n")].filter(Boolean).join("\n\n");
}

const endDescriptions = {
  timeout: "ended: out of time",
  stop: "stopped",
  memory: "ended: out of memory",
  disk: "ended: the disk is almost full",
  signal: "ended by a signal",
};

function formatProcess({ id, command, state, exitCode, endedBy }: ProcessInfo): string {
  const how =
    state === "running" ? "running" : endedBy ? endDescriptions[endedBy] : `exit code ${exitCode ?? "unknown"}`;
  return `process ${id}, ${how}: ${truncate(command.replace(/\s+/g, " "), 200)}`;
}

/** How much it wrote, and how it ended; never what it wrote. What is said of processes is a line already. */
function summarizeOutput(text: string): string {
  const [first = ""] = text.split("\n", 1);
  if (/^(It r|You have no p|process )/.test(first)) return first;
  const whole = text.trimEnd();
  const last = whole.slice(whole.lastIndexOf("\n") + 1);
  const code = /^exit code \d+$/.test(last) ? last : "";
  const output = whole.slice(0, whole.length - code.length).trimEnd();
  const lines = output === "" ? 0 : output.split("\n").length;
  return [`${lines} ${lines === 1 ? "line" : "lines"}`, code].filter(Boolean).join(", ");
}

function getTail(output: string): string {
  return output.length > maxTailChars
    ? `[… ${output.length - maxTailChars} characters left out …]\n${output.slice(-maxTailChars)}`
    : output;
}

function formatSeconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}
