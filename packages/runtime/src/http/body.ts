import { fail, createValidationError } from "@thinkery/sdk";
import type { z } from "zod";

const defaultMaxBytes = 1024 * 1024;

// Whoever is refused while still sending sees a broken connection, not why. So a little more is read and dropped.
const maxDroppedBytes = 16 * 1024 * 1024;

/** Reads a JSON body that fits its schema, and not a byte more than it may have. */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  longest = defaultMaxBytes,
): Promise<z.output<Schema>> {
  if (isEmpty(request)) {
    const nothing = schema.safeParse(undefined);
    if (nothing.success) return nothing.data;
  }
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw fail("unsupported_media", "Send JSON, with content-type: application/json.");
  return validate("body", schema, parseJson(await readText(request, longest)));
}

export function validate<Schema extends z.ZodType>(where: string, schema: Schema, value: unknown): z.output<Schema> {
  try {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw createValidationError(where, result.error);
  } catch (error) {
    if (error instanceof RangeError) throw fail("bad_request", `The ${where} is nested too deeply.`);
    throw error;
  }
}

async function readText(request: Request, longest: number): Promise<string> {
  const bytes = await readBytes(request, longest);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw fail("bad_request", "The body is not valid UTF-8.");
  }
}

/** Keeps no more than it may, in one piece from the beginning: of pieces that are joined at the end there would be two copies. */
export async function readBytes(
  request: Request,
  longest = defaultMaxBytes,
  refusal = `The body is too large: it may have ${longest} bytes.`,
): Promise<Uint8Array> {
  const createTooLargeError = () => fail("too_large", refusal);
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > longest + maxDroppedBytes) throw createTooLargeError();
  if (!request.body) return new Uint8Array();
  let bytes = new Uint8Array(Math.min(announced, longest));
  let size = 0;
  try {
    for await (const chunk of request.body) {
      const at = size;
      size += chunk.byteLength;
      if (size > longest + maxDroppedBytes) break;
      if (size > longest) continue;
      if (size > bytes.length) bytes = grow(bytes, Math.min(Math.max(size, 2 * bytes.length), longest));
      bytes.set(chunk, at);
    }
  } catch {
    // Nothing here is busy or restarting: what was sent is not what its own headers say.
    throw fail("bad_request", "The body ends before it should, or is not chunked as it says.");
  }
  if (size > longest) throw createTooLargeError();
  return size === bytes.length ? bytes : bytes.subarray(0, size);
}

function grow(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(bytes);
  return larger;
}

function isEmpty(request: Request): boolean {
  return request.body === null || request.headers.get("content-length") === "0";
}

function parseJson(text: string): unknown {
  // An own key of this name would become a prototype further down; nobody sends it in good faith.
  if (/"__proto__"\s*:/.test(text)) throw fail("bad_request", "The body has a key that is not allowed: __proto__.");
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : "nested too deeply";
    throw fail("bad_request", `The body is not valid JSON: ${why}`);
  }
}
