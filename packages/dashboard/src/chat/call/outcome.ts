import type { Result } from "@thinkery/sdk/react";

/** What a run of code gave back, and apart from it what it wrote. */
export interface Written {
  value: string;
  console: string;
}

const mark = "console:\n";

/** A run is told as its value or what went wrong, an empty line, and what it wrote to its console. */
export function writtenIn(output: string): Written {
  if (output.startsWith(mark)) return { value: "", console: output.slice(mark.length) };
  const end = output.indexOf(`\n\n${mark}`);
  if (end < 0) return { value: output, console: "" };
  return { value: output.slice(0, end), console: output.slice(end + 2 + mark.length) };
}

/** What a command wrote, and how it ended where the last line says so. */
export function endedIn(output: string): { written: string; ending?: string } {
  const [all, before = "", ending] = /^(?:([\s\S]*)\n\n)?(exit code -?\d+|ended by a signal)$/.exec(output) ?? [];
  return all === undefined || ending === undefined ? { written: output } : { written: before, ending };
}

const waiting = /^(?:Waiting for a sandbox[^\n]*\n)+/;
const begun = "It has a sandbox and runs.\n";

/** What a call that goes on shows: that it waits for a sandbox, or what it has written since. */
export function liveIn(progress: string): { waits?: string; written: string } {
  const [waited = ""] = waiting.exec(progress) ?? [];
  const rest = progress.slice(waited.length);
  if (waited !== "" && rest === "") return { waits: waited.trimEnd().split("\n").at(-1) ?? "", written: "" };
  return { written: rest.startsWith(begun) ? rest.slice(begun.length) : rest };
}

const troubles: Record<NonNullable<Result["trouble"]>, string> = {
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
export function troubleWords({ trouble, output }: Pick<Result, "trouble" | "output">): string {
  const [, limit] = trouble === "timeout" ? (/(?:more than|within) (\d[\d.]* m?s)\b/.exec(output) ?? []) : [];
  if (limit !== undefined) return `ended: took more than ${limit}`;
  if (trouble === "limit" && /memory/.test(output)) return "ended: out of memory";
  return trouble === undefined ? "failed" : (troubles[trouble] ?? "failed");
}

/** What stands above what a tool said of its failure. */
export function troubleTitle(result: Pick<Result, "trouble" | "output">): string {
  const words = troubleWords(result);
  return words === troubles.threw ? "What went wrong" : `What went wrong: ${words}`;
}

/** `3 ms`, `1.2 s`, `2 min 5 s`. */
export function took(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1).replace(/\.0$/, "")} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
