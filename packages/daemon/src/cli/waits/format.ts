import type { Approval, AskedCall, CallPreview, Question } from "@thinkery/sdk";
import { formatOpenCall, toOneLine } from "../conversation/lines.ts";
import { formatDuration } from "../duration.ts";
import { sanitize } from "../output.ts";

type Paint = (line: string) => string;

const keep: Paint = (line) => line;
const questionWidth = 500;

/** Formats a call in one line, as `bash $ ls` or `writeFile notes.md`. */
export function summarizeCall({ name, args, preview }: Pick<AskedCall, "name" | "args" | "preview">): string {
  const subject = preview && summarizePreview(preview);
  return subject === undefined ? formatOpenCall({ name, input: args }).slice(2) : toOneLine(`${name} ${subject}`, 100);
}

/** Formats the calls of an approval in one line. */
export function summarizeCalls(calls: readonly AskedCall[]): string {
  const [first] = calls;
  if (!first) return "-";
  return calls.length === 1 ? summarizeCall(first) : `${summarizeCall(first)} and ${calls.length - 1} more`;
}

function summarizePreview(preview: CallPreview): string | undefined {
  switch (preview.kind) {
    case "diff":
      return preview.path;
    case "command":
      return `$ ${preview.command}`;
    case "request":
      return `${preview.method} ${preview.url}`;
    default:
      return undefined;
  }
}

/** Formats what a call would do: a diff, a command, a request or code; its input if there is no preview. */
export function formatPreview({ args, preview }: Pick<AskedCall, "args" | "preview">, paint: Paint = keep): string[] {
  switch (preview?.kind) {
    case "diff":
      return toLines(preview.diff).map(paint);
    case "command":
      return toLines(preview.command).map((line, index) => (index === 0 ? `$ ${line}` : `  ${line}`));
    case "request":
      return [...toLines(`${preview.method} ${preview.url}`), ...(preview.body ? ["", ...toLines(preview.body)] : [])];
    case "code":
      return toLines(preview.code);
    case "text":
      return toLines(preview.text);
    default:
      return toLines(JSON.stringify(args, null, 2) ?? "");
  }
}

/** Formats the calls of an approval that are still to be decided, with why they are asked about. */
export function formatCalls(calls: readonly AskedCall[], paint: Paint = keep): string[] {
  return calls.flatMap((call, index) => [
    ...(index === 0 ? [] : [""]),
    `${calls.length > 1 ? `${index + 1}. ` : ""}${toOneLine(call.name, 100)}: ${toOneLine(call.why, 500)}`,
    ...formatPreview(call, paint).map((line) => `  ${line}`),
  ]);
}

interface DetailsOptions {
  target: string;
  paint?: Paint;
  formatFields(entries: [string, string | undefined][]): string;
  now?: number;
}

/** Formats everything about an approval. */
export function formatApproval(approval: Approval, { target, paint, formatFields, now }: DetailsOptions): string {
  const { id, status, turn, createdAt, expiresAt, answeredAt, answeredBy, reason, digest, calls } = approval;
  const fields = formatFields([
    ["approval", id],
    ["agent", target],
    ["turn", turn],
    ["status", status],
    ["asked", createdAt],
    ["expires", status === "pending" ? `${expiresAt} (${formatExpiry(expiresAt, now)})` : undefined],
    ["answered", answeredAt && (answeredBy ? `${answeredAt} by ${answeredBy}` : answeredAt)],
    ["reason", reason],
    ["digest", digest],
  ]);
  const blocks = calls.map((call) => [
    `${toOneLine(call.name, 100)} (call ${toOneLine(call.id, 100)})${formatDecision(call)}`,
    `  ${toOneLine(call.why, 500)}`,
    ...(call.remember === undefined ? [] : [`  With --remember: ${toOneLine(`${call.name} ${call.remember}`, 200)}`]),
    ...formatPreview(call, paint).map((line) => `    ${line}`),
  ]);
  return [fields, ...blocks.map((lines) => lines.join("\n"))].join("\n\n");
}

export function formatExpiry(expiresAt: string, now = Date.now()): string {
  const seconds = (Date.parse(expiresAt) - now) / 1000;
  return seconds <= 0 ? "expired" : `in ${formatDuration(Math.max(1, seconds))}`;
}

function formatDecision({ decision }: AskedCall): string {
  if (!decision) return "";
  const { approved, input, result, reason } = decision;
  if (!approved) return reason ? `, denied: ${toOneLine(reason, 200)}` : ", denied";
  return input !== undefined
    ? ", approved with another input"
    : result !== undefined
      ? ", answered by hand"
      : ", approved";
}

/** Formats a question with what its answer has to look like. */
export function formatQuestion({ prompt = "", schema }: Pick<Question, "prompt" | "schema">): string[] {
  return [...toLines(prompt), ...(schema ? formatSchema(schema) : [])];
}

function formatSchema(schema: Record<string, unknown>): string[] {
  if (Array.isArray(schema.enum)) return [`One of: ${toOneLine(schema.enum.map(String).join(", "), questionWidth)}`];
  if (schema.type === "boolean") return ["Answer true or false."];
  if (isPlain(schema)) return schema.type === "string" ? [] : [`Answer with a value of type ${String(schema.type)}.`];
  return ["The answer is JSON of this schema:", ...toLines(JSON.stringify(schema, null, 2))];
}

const isPlain = ({ type, properties, items }: Record<string, unknown>) =>
  (type === "string" || type === "number" || type === "integer") && properties === undefined && items === undefined;

const toLines = (text: string) => sanitize(text).replace(/\n$/, "").split("\n");
