import type { Capability } from "../client/capability.ts";
import type { ToolErrorCode } from "../protocol/event.ts";
import type { MessageToolCall, MessageToolResult } from "../protocol/message.ts";
import type { Capabilities, CapabilitiesByCall } from "./capabilities.ts";
import type { FileChanges, ChangesByCall } from "./changes.ts";

export interface Result {
  failed: boolean;
  output: string;
  size: number;
  /** Where the whole of a big result lies. */
  blob?: string | undefined;
  mediaType?: string | undefined;
  /** What kind of failure it is. */
  errorCode?: ToolErrorCode | undefined;
  /** How long the call took. */
  ms?: number | undefined;
}

export type Results = Readonly<Record<string, Result>>;

export interface Call {
  id: string;
  name: string;
  input: unknown;
  result?: Result;
  /** Its turn ended before it did. */
  abandoned?: boolean;
  /** What it has shown while it goes on; of very much, the end. It is told to those who look on, and kept nowhere. */
  progress?: string;
  /** What the code that it runs has called; of very many, the latest. */
  capabilities?: Capabilities;
  /** The versions of the workspace that it has made. */
  changed?: readonly FileChanges[];
}

/** What is known of calls, whether or not their messages are loaded. */
export interface CallDetails {
  results: Results;
  capabilities: CapabilitiesByCall;
  changes: ChangesByCall;
}

const maxProgressChars = 20_000;

/** A call with all that is known of it; `before` is how it was shown until now. */
export function createCall({ id, name, input }: MessageToolCall, known: CallDetails, before?: Call): Call {
  const result = known.results[id] ?? before?.result;
  const capabilities = known.capabilities[id];
  const changed = known.changes[id];
  const call: Call = {
    id,
    name,
    input,
    ...(result ? { result } : {}),
    ...(capabilities ? { capabilities } : {}),
    ...(changed ? { changed } : {}),
  };
  if (result) return closeCapabilities(call);
  if (before?.abandoned) return abandonCall(call);
  return before?.progress === undefined ? call : { ...call, progress: before.progress };
}

/** A call that will never be answered. */
export function abandonCall(call: Call): Call {
  return closeCapabilities({ ...call, abandoned: true });
}

export function isOpen({ result, abandoned }: Call): boolean {
  return !result && !abandoned;
}

/** A call that shows more of what it does. */
export function appendProgress(call: Call, text: string): Call {
  if (!isOpen(call)) return call;
  const shown = (call.progress ?? "") + text;
  return { ...call, progress: shown.length > maxProgressChars ? truncateProgress(shown) : shown };
}

// Whole lines where there are any, and never half a character.
function truncateProgress(text: string): string {
  const end = text.slice(-maxProgressChars);
  const line = end.indexOf("\n") + 1;
  return line > 0 && line < end.length ? end.slice(line) : end.replace(/^[\udc00-\udfff]/, "");
}

// What went on inside a call that is over goes on no more, whatever we did not hear of.
function closeCapabilities(last: Call): Call {
  const { progress: _, ...call } = last;
  const { capabilities } = call;
  if (!capabilities?.some(({ state }) => state === "running")) return call;
  return {
    ...call,
    capabilities: capabilities.map((one): Capability =>
      one.state === "running" ? { ...one, state: "abandoned" } : one,
    ),
  };
}

/** A result as it is stored; `whole` is all of it that was sent along. */
export function toResult(result: MessageToolResult, whole = ""): Result {
  return {
    failed: result.failed ?? false,
    output: pickLonger(whole, result.preview || result.summary),
    size: result.size,
    blob: result.blob,
    mediaType: result.mediaType,
  };
}

/** Two tellings of one result: the live one has the text, the stored one knows its size and where all of it is. */
export function mergeResults(one: Result | undefined, other: Result): Result {
  if (!one) return other;
  return {
    failed: other.failed,
    output: pickLonger(one.output, other.output),
    size: Math.max(one.size, other.size),
    blob: one.blob ?? other.blob,
    mediaType: one.mediaType ?? other.mediaType,
    errorCode: one.errorCode ?? other.errorCode,
    ms: one.ms ?? other.ms,
  };
}

function pickLonger(one: string, other: string): string {
  return one.length > other.length ? one : other;
}
