import type { Result } from "@thinkery/sdk/react";

/** The return value of code, or its error, and its console output. */
export interface CodeOutput {
  value: string;
  console: string;
}

const consoleMarker = "console:\n";

/** The output of a run is its value or error, a blank line, and its console output. */
export function parseCodeOutput(output: string): CodeOutput {
  if (output.startsWith(consoleMarker)) return { value: "", console: output.slice(consoleMarker.length) };
  const end = output.indexOf(`\n\n${consoleMarker}`);
  if (end < 0) return { value: output, console: "" };
  return { value: output.slice(0, end), console: output.slice(end + 2 + consoleMarker.length) };
}

/** Separates the output of a command from the line that says how it ended, if there is one. */
export function parseCommandOutput(text: string): { output: string; ending?: string } {
  const [all, before = "", ending] = /^(?:([\s\S]*)\n\n)?(exit code -?\d+|ended by a signal)$/.exec(text) ?? [];
  return all === undefined || ending === undefined ? { output: text } : { output: before, ending };
}

const waitingPattern = /^(?:Waiting for a sandbox[^\n]*\n)+/;
const startedLine = "Got a sandbox, running.\n";

/** Parses the progress of a running call: whether it waits for a sandbox, and its output since. */
export function parseProgress(progress: string): { waiting?: string; output: string } {
  const [queued = ""] = waitingPattern.exec(progress) ?? [];
  const rest = progress.slice(queued.length);
  if (queued !== "" && rest === "") return { waiting: queued.trimEnd().split("\n").at(-1) ?? "", output: "" };
  return { output: rest.startsWith(startedLine) ? rest.slice(startedLine.length) : rest };
}

const errorLabels: Record<NonNullable<Result["errorCode"]>, string> = {
  syntax: "syntax error",
  threw: "failed",
  timeout: "timed out",
  limit: "limit exceeded",
  sandbox_lost: "sandbox lost",
  no_sandbox: "no sandbox available",
  denied: "not allowed",
  unknown_tool: "unknown tool",
  invalid_input: "invalid input",
  canceled: "canceled",
  too_large: "too large",
  repeated: "repeated",
  outcome_unknown: "outcome unknown",
};

/** Describes an error in a few words. */
export function describeError({ errorCode, output }: Pick<Result, "errorCode" | "output">): string {
  const [, limit] =
    errorCode === "timeout" ? (/(?:timed out after|within|more than) (\d[\d.]* m?s)\b/.exec(output) ?? []) : [];
  if (limit !== undefined) return `timed out after ${limit}`;
  if (errorCode === "limit" && /memory/.test(output)) return "out of memory";
  return errorCode === undefined ? "failed" : (errorLabels[errorCode] ?? "failed");
}

/** Heading above the error message of a tool. */
export function getErrorTitle(result: Pick<Result, "errorCode" | "output">): string {
  const description = describeError(result);
  return description === errorLabels.threw ? "Error" : `Error: ${description}`;
}

/** `3 ms`, `1.2 s`, `2 min 5 s`. */
export function formatElapsed(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1).replace(/\.0$/, "")} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
