import type { Result } from "@thinkery/sdk/react";

/** What a run of code gave back, and apart from it what it wrote. */
export interface CodeOutput {
  value: string;
  console: string;
}

const consoleMarker = "console:\n";

/** A run is told as its value or what went wrong, an empty line, and what it wrote to its console. */
export function parseCodeOutput(output: string): CodeOutput {
  if (output.startsWith(consoleMarker)) return { value: "", console: output.slice(consoleMarker.length) };
  const end = output.indexOf(`\n\n${consoleMarker}`);
  if (end < 0) return { value: output, console: "" };
  return { value: output.slice(0, end), console: output.slice(end + 2 + consoleMarker.length) };
}

/** What a command wrote, and how it ended where the last line says so. */
export function parseCommandOutput(output: string): { written: string; ending?: string } {
  const [all, before = "", ending] = /^(?:([\s\S]*)\n\n)?(exit code -?\d+|ended by a signal)$/.exec(output) ?? [];
  return all === undefined || ending === undefined ? { written: output } : { written: before, ending };
}

const waitingPattern = /^(?:Waiting for a sandbox[^\n]*\n)+/;
const startedLine = "It has a sandbox and runs.\n";

/** What a call that goes on shows: that it waits for a sandbox, or what it has written since. */
export function parseProgress(progress: string): { waits?: string; written: string } {
  const [waited = ""] = waitingPattern.exec(progress) ?? [];
  const rest = progress.slice(waited.length);
  if (waited !== "" && rest === "") return { waits: waited.trimEnd().split("\n").at(-1) ?? "", written: "" };
  return { written: rest.startsWith(startedLine) ? rest.slice(startedLine.length) : rest };
}

const errorLabels: Record<NonNullable<Result["errorCode"]>, string> = {
  syntax: "cannot be read",
  threw: "failed",
  timeout: "ended: took too long",
  limit: "ended: used too much",
  sandbox_lost: "its sandbox was lost",
  no_sandbox: "no sandbox for it",
  denied: "not allowed",
  unknown_tool: "no such tool",
  invalid_input: "input not valid",
  canceled: "canceled",
  too_large: "too large",
  repeated: "repeated",
  outcome_unknown: "outcome unknown",
};

/** The kind of a failure in a few words. */
export function describeError({ errorCode, output }: Pick<Result, "errorCode" | "output">): string {
  const [, limit] = errorCode === "timeout" ? (/(?:more than|within) (\d[\d.]* m?s)\b/.exec(output) ?? []) : [];
  if (limit !== undefined) return `ended: took more than ${limit}`;
  if (errorCode === "limit" && /memory/.test(output)) return "ended: out of memory";
  return errorCode === undefined ? "failed" : (errorLabels[errorCode] ?? "failed");
}

/** What stands above what a tool said of its failure. */
export function getErrorTitle(result: Pick<Result, "errorCode" | "output">): string {
  const words = describeError(result);
  return words === errorLabels.threw ? "What went wrong" : `What went wrong: ${words}`;
}

/** `3 ms`, `1.2 s`, `2 min 5 s`. */
export function formatElapsed(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1).replace(/\.0$/, "")} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
