import type { Standing } from "../protocol/budget.ts";
import type { Message, MessageToolCall, MessageToolResult } from "../protocol/message.ts";

/**
 * `unsent`: only this page has it. `waiting`: the agent has it, its turn has not come. `streaming`: being said.
 * `refused`: the agent did not take it.
 */
export type Stage = "unsent" | "refused" | "waiting" | "streaming" | "done" | "failed" | "canceled";

export interface Result {
  failed: boolean;
  output: string;
  size: number;
  /** Where the whole of a big result lies. */
  blob?: string | undefined;
  mediaType?: string | undefined;
}

export interface Call {
  id: string;
  name: string;
  input: unknown;
  result?: Result;
  /** Its turn ended before it did. */
  abandoned?: boolean;
}

export interface Trouble {
  message: string;
  advice?: string | undefined;
  code?: string | undefined;
  /** The limit that was reached, where the code is `budget`. */
  budget?: Standing | undefined;
}

/** What one message of the conversation looks like to a reader; a tool's answer is shown with the call it answers. */
export interface Entry {
  id: string;
  role: "user" | "assistant";
  stage: Stage;
  text: string;
  reasoning: string;
  reasoningSize: number;
  calls: readonly Call[];
  at: number;
  runId?: string | undefined;
  seq?: number | undefined;
  model?: string | undefined;
  /** Why its turn failed, told with the turn's last entry. */
  trouble?: Trouble | undefined;
}

export type Results = Readonly<Record<string, Result>>;

const stages: Record<Message["status"], Stage> = {
  pending: "waiting",
  streaming: "streaming",
  complete: "done",
  error: "failed",
  cancelled: "canceled",
};

export function blankEntry(id: string, role: Entry["role"], stage: Stage, at: number): Entry {
  return { id, role, stage, text: "", reasoning: "", reasoningSize: 0, calls: [], at };
}

/** A message as an entry, keeping what only the entry before it knows. */
export function entryOf(message: Message, results: Results, before?: Entry): Entry {
  const calls = (message.toolCalls ?? []).map((call) => callOf(call, results, before));
  const known = new Set(calls.map(({ id }) => id));
  const error = message.error;
  return {
    id: message.id,
    role: message.role === "user" ? "user" : "assistant",
    stage: stages[message.status],
    text: message.content,
    reasoning: message.reasoning ?? "",
    reasoningSize: message.reasoningFullSize ?? message.reasoning?.length ?? 0,
    calls: [...calls, ...(before?.calls.filter(({ id }) => !known.has(id)) ?? [])],
    at: message.timestamp,
    runId: message.runId,
    seq: message.seq ?? before?.seq,
    model: message.model,
    trouble: before?.trouble ?? (error === undefined ? undefined : { message: error }),
  };
}

function callOf({ id, name, input }: MessageToolCall, results: Results, before?: Entry): Call {
  const known = before?.calls.find((call) => call.id === id);
  const result = results[id] ?? known?.result;
  return { id, name, input, ...(result ? { result } : known?.abandoned ? { abandoned: true } : {}) };
}

/** A result as it is stored; `whole` is all of it that was sent along. */
export function resultOf(result: MessageToolResult, whole = ""): Result {
  return {
    failed: result.failed ?? false,
    output: longer(whole, result.preview || result.summary),
    size: result.size,
    blob: result.blob,
    mediaType: result.mediaType,
  };
}

/** Two tellings of one result: the live one has the text, the stored one knows its size and where all of it is. */
export function mergedResult(one: Result | undefined, other: Result): Result {
  if (!one) return other;
  return {
    failed: other.failed,
    output: longer(one.output, other.output),
    size: Math.max(one.size, other.size),
    blob: one.blob ?? other.blob,
    mediaType: one.mediaType ?? other.mediaType,
  };
}

function longer(one: string, other: string): string {
  return one.length > other.length ? one : other;
}
