import type { Capability } from "../client/capability.ts";
import type { ToolErrorCode } from "../protocol/event.ts";
import type { MessageToolCall, MessageToolResult } from "../protocol/message.ts";
import type { Capabilities, CapabilitiesByCall } from "./capabilities.ts";
import type { FileChanges, ChangesByCall } from "./changes.ts";

/** The result of a tool call. */
export interface Result {
  failed: boolean;
  output: string;
  size: number;
  /** The hash of the blob with the full output, if it is large. */
  blob?: string | undefined;
  mediaType?: string | undefined;
  /** The kind of failure. */
  errorCode?: ToolErrorCode | undefined;
  /** Duration of the call. */
  ms?: number | undefined;
}

export type Results = Readonly<Record<string, Result>>;

/** A tool call, as shown with the message that made it. */
export interface Call {
  id: string;
  name: string;
  input: unknown;
  result?: Result;
  /** True if the turn ended before the call did. */
  abandoned?: boolean;
  /** Progress while the call runs. If it is long, only its end. It is sent live only and not stored. */
  progress?: string;
  /** Calls made by the code that it runs. If there are very many, the latest. */
  capabilities?: Capabilities;
  /** The versions of the workspace that it created. */
  changed?: readonly FileChanges[];
}

/** What is known about calls, whether or not their messages are loaded. */
export interface CallDetails {
  results: Results;
  capabilities: CapabilitiesByCall;
  changes: ChangesByCall;
}

const maxProgressChars = 20_000;

/** Creates a call with everything known about it. `before` is its previous state. */
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

/** Marks a call that will never get a result. */
export function abandonCall(call: Call): Call {
  return closeCapabilities({ ...call, abandoned: true });
}

export function isOpen({ result, abandoned }: Call): boolean {
  return !result && !abandoned;
}

/** Appends progress to a call. Has no effect if the call has ended. */
export function appendProgress(call: Call, text: string): Call {
  if (!isOpen(call)) return call;
  const progress = (call.progress ?? "") + text;
  return { ...call, progress: progress.length > maxProgressChars ? truncateProgress(progress) : progress };
}

// Cuts at a line break if there is one, and never inside a surrogate pair.
function truncateProgress(text: string): string {
  const end = text.slice(-maxProgressChars);
  const line = end.indexOf("\n") + 1;
  return line > 0 && line < end.length ? end.slice(line) : end.replace(/^[\udc00-\udfff]/, "");
}

// Once a call has ended, nothing inside it is still running, even if we missed how it ended.
function closeCapabilities(ended: Call): Call {
  const { progress: _, ...call } = ended;
  const { capabilities } = call;
  if (!capabilities?.some(({ state }) => state === "running")) return call;
  return {
    ...call,
    capabilities: capabilities.map((capability): Capability =>
      capability.state === "running" ? { ...capability, state: "abandoned" } : capability,
    ),
  };
}

/** Converts a stored result. `content` is the part of the output that was sent with it. */
export function toResult(result: MessageToolResult, content = ""): Result {
  return {
    failed: result.failed ?? false,
    output: pickLonger(content, result.preview || result.summary),
    size: result.size,
    blob: result.blob,
    mediaType: result.mediaType,
  };
}

/** Merges two versions of a result: the live one has more text, the stored one has its size and its blob. */
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
