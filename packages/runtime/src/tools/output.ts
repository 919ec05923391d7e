import { type MessageToolResult, type Tool, ToolImage } from "@thinkery/sdk";
import type { Blobs } from "../store/blobs/blobs.ts";

/** Up to here a result stands in the conversation as it is. */
const maxInlineChars = 50 * 1024;
/** A result beyond this is no result: it would not fit in anybody's memory twice. */
const maxOutputBytes = 10 * 1024 * 1024;
const maxPreviewChars = 500;
const headChars = 30_000;
const tailChars = 5_000;

export interface ToolOutput {
  /** What the model is told. */
  text: string;
  result: MessageToolResult;
}

/** Turned down because of what it returned, which is the tool's fault and not the host's. */
export class UnusableOutputError extends Error {
  override readonly name = "UnusableOutputError";
}

/** Whatever a tool returned, as text for the model and as something that can be stored. */
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
      `${tool.name} returned ${toMegabytes(text.length)} MB; a result may have ${toMegabytes(maxOutputBytes)} MB. Ask for less at a time.`,
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
  if (text.length <= maxInlineChars) return { text, result };
  const hash = await blobs.put(new TextEncoder().encode(text));
  const mediaType = typeof value === "string" ? "text/plain" : "application/json";
  return {
    text: `${text.slice(0, headChars)}\n[… ${text.length - headChars - tailChars} characters left out; to see them, ask for less at a time, or write to a file and read that …]\n${text.slice(-tailChars)}`,
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
    throw new UnusableOutputError(`${tool.name} returned a picture of ${toMegabytes(size)} MB.`);
  const hash = await blobs.put(image.data);
  const text = `[picture: ${image.description}, ${image.mediaType}, ${size} bytes]`;
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
    const reason =
      error instanceof RangeError ? "too large or nested too deeply" : "circular or otherwise not plain data";
    throw new UnusableOutputError(`The tool returned a value that cannot be written as JSON (${reason}).`);
  }
}

/** A text by its beginning, with how long it is. */
export function truncate(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text;
}

function toMegabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1).replace(/\.0$/, "");
}
