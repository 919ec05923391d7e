import { type MessageToolResult, type Tool, ToolImage } from "@thinkery/sdk";
import type { Blobs } from "../store/blobs/blobs.ts";

/** Longer results are stored as a blob and truncated in the conversation. */
const maxInlineChars = 50 * 1024;
/** Larger results are rejected: memory must hold several copies. */
const maxOutputBytes = 10 * 1024 * 1024;
const maxPreviewChars = 500;
const headChars = 30_000;
const tailChars = 5_000;

export interface ToolOutput {
  /** What the model gets. */
  text: string;
  result: MessageToolResult;
}

/** The tool returned a value that cannot be used, which is not the host's fault. */
export class UnusableOutputError extends Error {
  override readonly name = "UnusableOutputError";
}

/** Converts a tool's return value to text for the model and to a result that can be stored. */
export async function createOutput(
  tool: Pick<Tool, "name" | "summarize">,
  callId: string,
  value: unknown,
  blobs: Blobs,
): Promise<ToolOutput> {
  if (value instanceof ToolImage) return createImageOutput(tool, callId, value, blobs);
  const text = toText(value);
  if (text.length > maxOutputBytes) {
    throw new UnusableOutputError(
      `${tool.name} returned ${toMegabytes(text.length)} MB; a result can have at most ${toMegabytes(maxOutputBytes)} MB. Request less at a time.`,
    );
  }
  const summary = tool.summarize?.(value) ?? truncate(text, maxPreviewChars);
  const result: MessageToolResult = {
    callId,
    name: tool.name,
    summary,
    preview: text.slice(0, maxPreviewChars),
    size: text.length,
  };
  const isData = typeof value !== "string" && value !== undefined && value !== null;
  // So that code gets the value itself and not its text.
  if (text.length <= maxInlineChars)
    return { text, result: isData ? { ...result, mediaType: "application/json" } : result };
  const hash = await blobs.put(new TextEncoder().encode(text));
  const mediaType = isData ? "application/json" : "text/plain";
  return {
    text: `${text.slice(0, headChars)}\n[… ${text.length - headChars - tailChars} characters omitted; to see them, request less at a time, or write to a file and read it …]\n${text.slice(-tailChars)}`,
    result: { ...result, blob: hash, mediaType },
  };
}

async function createImageOutput(
  tool: Pick<Tool, "name">,
  callId: string,
  image: ToolImage,
  blobs: Blobs,
): Promise<ToolOutput> {
  const size = image.data.length;
  if (size > maxOutputBytes)
    throw new UnusableOutputError(
      `${tool.name} returned an image of ${toMegabytes(size)} MB; a result can have at most ${toMegabytes(maxOutputBytes)} MB.`,
    );
  const hash = await blobs.put(image.data);
  const text = `[image: ${image.description}, ${image.mediaType}, ${size} bytes]`;
  return {
    text,
    result: { callId, name: tool.name, summary: text, preview: text, size, blob: hash, mediaType: image.mediaType },
  };
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return "Done.";
  if (typeof value === "string") return value;
  try {
    return (
      JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner)) ?? String(value)
    );
  } catch (error) {
    const reason = error instanceof RangeError ? "too large or nested too deeply" : "circular or not plain data";
    throw new UnusableOutputError(`The tool returned a value that cannot be serialized as JSON (${reason}).`);
  }
}

/** Truncates a text and appends its full length. */
export function truncate(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars)}… (${text.length} characters)` : text;
}

function toMegabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1).replace(/\.0$/, "");
}
