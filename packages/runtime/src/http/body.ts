import { fail, invalid } from "@thinkery/sdk";
import type { z } from "zod";

const usualLimit = 1024 * 1024;

// Whoever is refused while still sending sees a broken connection, not why. So a little more is read and dropped.
const mostDropped = 16 * 1024 * 1024;

/** Reads a JSON body that fits its schema, and not a byte more than it may have. */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  longest = usualLimit,
): Promise<z.output<Schema>> {
  if (isEmpty(request)) {
    const nothing = schema.safeParse(undefined);
    if (nothing.success) return nothing.data;
  }
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw fail("unsupported_media", "Send JSON, with content-type: application/json.");
  return validate("body", schema, parse(await readText(request, longest)));
}

export function validate<Schema extends z.ZodType>(where: string, schema: Schema, value: unknown): z.output<Schema> {
  try {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw invalid(where, result.error);
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

/** Keeps no more than it may. */
export async function readBytes(request: Request, longest = usualLimit): Promise<Uint8Array> {
  const tooLarge = () => fail("too_large", `The body is too large: it may have ${longest} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > longest + mostDropped) throw tooLarge();
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size <= longest) chunks.push(chunk);
      if (size > longest + mostDropped) break;
    }
  } catch {
    // Nothing here is busy or restarting: what was sent is not what its own headers say.
    throw fail("bad_request", "The body ends before it should, or is not chunked as it says.");
  }
  if (size > longest) throw tooLarge();
  return Buffer.concat(chunks);
}

function isEmpty(request: Request): boolean {
  return request.body === null || request.headers.get("content-length") === "0";
}

function parse(text: string): unknown {
  // An own key of this name would become a prototype further down; nobody sends it in good faith.
  if (/"__proto__"\s*:/.test(text)) throw fail("bad_request", "The body has a key that is not allowed: __proto__.");
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : "nested too deeply";
    throw fail("bad_request", `The body is not valid JSON: ${why}`);
  }
}
