import {
  type EventData,
  type Failure,
  type Message,
  parseReports,
  type PendingApproval,
  type Todo,
} from "@thinkery/sdk";
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

/** Formats a tool call and its result in one line. */
export function formatCall(call: ShownCall, result: ShownResult): string {
  return `${formatOpenCall(call)} ${formatResult(result)}`;
}

/** Formats a tool call without a result. */
export function formatOpenCall({ name, input }: ShownCall): string {
  return ["·", toOneLine(name, inputWidth), formatInput(name, input)].filter(Boolean).join(" ");
}

export function formatResult({ output, failed }: ShownResult): string {
  return `→ ${failed ? "failed: " : ""}${toOneLine(output, outputWidth) || "done"}`;
}

/** Formats a call made by the code of a tool call, with its result. */
export function formatCapability({ name, input, ms = 0, summary, error }: Capability): string {
  const outcome = formatResult(error === undefined ? { output: summary ?? "" } : { output: error, failed: true });
  return `  · ${toOneLine(name, inputWidth)}${input === "" || input === "{}" ? "" : ` ${toOneLine(input, inputWidth)}`} ${outcome} (${Math.round(ms)} ms)`;
}

/** Formats the input of a call: the first line of code, the shell command, or JSON. */
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

const pauseNotes: Partial<Record<string, string>> = {
  timer: "The agent waits until a certain time.",
  webhook: "The agent waits for a webhook.",
  deferred: "The agent is waiting for a tool result.",
};

/** Returns undefined if what it waits for is shown in other ways. */
export const formatPause = (reason: string): string | undefined => pauseNotes[reason];

export function formatRetry(error: string, retryInMs: number): string {
  const when = retryInMs < 1000 ? "now" : `in ${Math.round(retryInMs / 1000)} s`;
  return `The model did not respond (${toOneLine(error, outputWidth).replace(/\.$/, "")}); retrying ${when}.`;
}

export function formatFailure({ message, advice }: Pick<Failure, "message" | "advice">): string {
  return toOneLine([message, advice].filter(Boolean).join(" "), 1000);
}

/** Formats a stored message in one line. */
export function formatMessage(message: Message, width: number): string {
  if (message.role === "user") {
    const reports = message.notice && formatReports(message.content);
    return reports ? toOneLine(reports.join(" · "), width) : `> ${toOneLine(message.content, width)}`;
  }
  if (message.role === "tool" && message.toolResult) {
    const { name, summary, preview, failed } = message.toolResult;
    return formatCall({ name, input: undefined }, { output: summary || preview, failed });
  }
  const calls = message.toolCalls?.map(({ name }) => name).join(", ");
  return toOneLine(message.content || message.error || (calls ? `(calls ${calls})` : `(${message.status})`), width);
}

/** Formats the reports that an agent got from its sub-agents, one per line. Returns undefined for any other notice. */
export function formatReports(content: string): string[] | undefined {
  return parseReports(content)?.reports.map(
    ({ taskId, agentType, status, text }) => `Report of sub-agent ${taskId} (${agentType}), ${status}: ${text}`,
  );
}

export function formatApprovalAsked({ id, calls }: Pick<PendingApproval, "id" | "calls">): string {
  const names = [...new Set(calls.map(({ name }) => name))].join(", ");
  return `It waits for approval of ${names}. See \`thinkery approval show ${id.slice(0, 8)}\`.`;
}

export function formatApprovalAnswered({ approved, by, expired, reason, decisions }: EventData["hitl.resume"]): string {
  if (expired) return "Nobody answered in time; the approval has expired.";
  const isMixed = approved && decisions.some((decision) => !decision.approved);
  const done = isMixed ? "approved some of the calls" : approved ? "approved it" : "denied it";
  return toOneLine(`${by ?? "Somebody"} ${done}${reason ? `: ${reason}` : "."}`, 500);
}

/** Formats a cost; an unknown cost is not shown as zero. */
export function formatCost(costUsd: number | null): string {
  if (costUsd === null) return "unknown";
  if (costUsd === 0) return "$0";
  return costUsd < 0.01 ? `$${costUsd.toPrecision(2)}` : `$${costUsd.toFixed(2)}`;
}

/** Sanitizes untrusted text to one line of at most `width` characters. */
export function toOneLine(text: string, width: number): string {
  // Only process as much of a huge text as could be shown.
  return clipLine(
    sanitize(text.slice(0, width * 20))
      .replace(/\s+/g, " ")
      .trim(),
    width,
  );
}

/** Truncates a line to `width` characters without splitting one. */
export function clipLine(line: string, width: number): string {
  const letters = Array.from(line);
  return letters.length > width ? `${letters.slice(0, width - 1).join("")}…` : line;
}

function isEmpty(input: unknown): boolean {
  return typeof input === "object" && input !== null && Object.keys(input).length === 0;
}
