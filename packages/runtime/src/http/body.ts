import { fail, createValidationError } from "@thinkery/sdk";
import type { z } from "zod";

const defaultMaxBytes = 1024 * 1024;

// A client that is rejected while still sending sees a broken connection instead of the error, so some excess is read
// and dropped.
const maxDroppedBytes = 16 * 1024 * 1024;

/** Reads a JSON body of at most `maxBytes` and validates it. */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  maxBytes = defaultMaxBytes,
): Promise<z.output<Schema>> {
  if (isEmpty(request)) {
    const parsed = schema.safeParse(undefined);
    if (parsed.success) return parsed.data;
  }
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json")
    throw fail("unsupported_media", "Expected a JSON body with “content-type: application/json”.");
  return validate("body", schema, parseJson(await readText(request, maxBytes)));
}

/** Validates a value; `subject` names it in errors, for example “query”. */
export function validate<Schema extends z.ZodType>(subject: string, schema: Schema, value: unknown): z.output<Schema> {
  try {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw createValidationError(subject, result.error, schema);
  } catch (error) {
    if (error instanceof RangeError) throw fail("bad_request", `The ${subject} is nested too deeply.`);
    throw error;
  }
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const bytes = await readBytes(request, maxBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw fail("bad_request", "The body is not valid UTF-8.");
  }
}

/** Reads at most `maxBytes` into one buffer; joining pieces at the end would need a second copy. */
export async function readBytes(
  request: Request,
  maxBytes = defaultMaxBytes,
  tooLargeMessage = `The body exceeds the limit of ${maxBytes} bytes.`,
): Promise<Uint8Array> {
  const createTooLargeError = () => fail("too_large", tooLargeMessage);
  const declaredBytes = Number(request.headers.get("content-length") ?? 0);
  if (declaredBytes > maxBytes + maxDroppedBytes) throw createTooLargeError();
  if (!request.body) return new Uint8Array();
  let bytes = new Uint8Array(Math.min(declaredBytes, maxBytes));
  let size = 0;
  try {
    for await (const chunk of request.body) {
      const at = size;
      size += chunk.byteLength;
      if (size > maxBytes + maxDroppedBytes) break;
      if (size > maxBytes) continue;
      if (size > bytes.length) bytes = grow(bytes, Math.min(Math.max(size, 2 * bytes.length), maxBytes));
      bytes.set(chunk, at);
    }
  } catch {
    // Not a transient failure of the host: the body does not match its headers.
    throw fail("bad_request", "The body is incomplete, or its chunked encoding is invalid.");
  }
  if (size > maxBytes) throw createTooLargeError();
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

/** Matches the key `__proto__`, each of whose characters may be escaped. */
const protoKeyPattern = new RegExp(
  `"${Array.from(
    "__proto__",
    (char) =>
      `(?:${char}|\\\\u00${char
        .charCodeAt(0)
        .toString(16)
        .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)})`,
  ).join("")}"\\s*:`,
);

function parseJson(text: string): unknown {
  // An own key of this name would become a prototype further down; no legitimate client sends it.
  if (protoKeyPattern.test(text)) throw fail("bad_request", "The key `__proto__` is not allowed in the body.");
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : "nested too deeply";
    throw fail("bad_request", `The body is not valid JSON: ${reason}`);
  }
}
