import type { Failure, Message, Todo } from "@thinkery/sdk";
import type { Capability } from "@thinkery/sdk/client";
import { sanitize } from "../output.ts";

export interface ShownCall {
  id?: string;
  name: string;
  input: unknown;
}

export interface ShownResult {
  output: string;
  failed?: boolean | undefined;
}

const inputWidth = 60;
const outputWidth = 80;

/** A tool call and what came of it in one line. */
export function formatCall(call: ShownCall, result: ShownResult): string {
  return `${formatOpenCall(call)} ${formatResult(result)}`;
}

/** A tool call that nothing has come of yet. */
export function formatOpenCall({ name, input }: ShownCall): string {
  return ["·", toOneLine(name, inputWidth), formatInput(name, input)].filter(Boolean).join(" ");
}

export function formatResult({ output, failed }: ShownResult): string {
  return `→ ${failed ? "failed: " : ""}${toOneLine(output, outputWidth) || "done"}`;
}

/** Something that the code of a call has called, and what came of it. */
export function formatCapability({ name, input, ms = 0, summary, error }: Capability): string {
  const outcome = formatResult(error === undefined ? { output: summary ?? "" } : { output: error, failed: true });
  return `  · ${toOneLine(name, inputWidth)}${input === "" || input === "{}" ? "" : ` ${toOneLine(input, inputWidth)}`} ${outcome} (${Math.round(ms)} ms)`;
}

/** What a call was given: of code its first line, of a command the command, of all else its JSON. */
function formatInput(name: string, input: unknown): string {
  if (input === undefined || isEmpty(input)) return "";
  const { code, command } = (input ?? {}) as { code?: unknown; command?: unknown };
  if (name === "executeCode" && typeof code === "string") return formatCode(code);
  if (name === "sandbox" && typeof command === "string") return `$ ${toOneLine(command, inputWidth)}`;
  return toOneLine(JSON.stringify(input), inputWidth);
}

function formatCode(code: string): string {
  const lines = code.split("\n").filter((line) => line.trim() !== "");
  return `${toOneLine(lines[0] ?? "", inputWidth)}${lines.length > 1 ? ` (${lines.length} lines)` : ""}`;
}

const marks = { pending: "[ ]", in_progress: "[~]", completed: "[x]" } as const;

export function formatTodos(todos: Todo[]): string[] {
  return todos.map(({ content, status }) => `  ${marks[status]} ${toOneLine(content, outputWidth)}`);
}

export function formatRetry(error: string, retryInMs: number): string {
  const soon = retryInMs < 1000 ? "now" : `in ${Math.round(retryInMs / 1000)} s`;
  return `The model did not answer (${toOneLine(error, outputWidth).replace(/\.$/, "")}); trying again ${soon}.`;
}

export function formatFailure({ message, advice }: Pick<Failure, "message" | "advice">): string {
  return toOneLine([message, advice].filter(Boolean).join(" "), 1000);
}

/** A message of the past, as short as its reader has room for. */
export function formatMessage(message: Message, width: number): string {
  if (message.role === "user") return `> ${toOneLine(message.content, width)}`;
  if (message.role === "tool" && message.toolResult) {
    const { name, summary, preview, failed } = message.toolResult;
    return formatCall({ name, input: undefined }, { output: summary || preview, failed });
  }
  const calls = message.toolCalls?.map(({ name }) => name).join(", ");
  return toOneLine(message.content || message.error || (calls ? `(calls ${calls})` : `(${message.status})`), width);
}

/** A price as people read it; a price nobody knows is not nothing. */
export function formatCost(costUsd: number | null): string {
  if (costUsd === null) return "unknown";
  if (costUsd === 0) return "$0";
  return costUsd < 0.01 ? `$${costUsd.toPrecision(2)}` : `$${costUsd.toFixed(2)}`;
}

/** Text of others in one line of at most so many characters. */
export function toOneLine(text: string, width: number): string {
  // Only so much of a huge text is looked at as could be shown.
  return clipLine(
    sanitize(text.slice(0, width * 20))
      .replace(/\s+/g, " ")
      .trim(),
    width,
  );
}

/** A line of at most so many characters, none of them cut in two. */
export function clipLine(line: string, width: number): string {
  const letters = Array.from(line);
  return letters.length > width ? `${letters.slice(0, width - 1).join("")}…` : line;
}

function isEmpty(input: unknown): boolean {
  return typeof input === "object" && input !== null && Object.keys(input).length === 0;
}
