import { fail, invalid } from "@thinkery/sdk";
import type { z } from "zod";

const longestBody = 1024 * 1024;

/** Reads a JSON body that fits its schema, and not a byte more than it may have. */
export async function readBody<Schema extends z.ZodType>(request: Request, schema: Schema): Promise<z.output<Schema>> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw fail("unsupported_media", "Send JSON, with content-type: application/json.");
  return validate("body", schema, parse(await readText(request)));
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

/** Refused by its announced size where there is one, else at the first byte too many. */
async function readText(request: Request): Promise<string> {
  const tooLarge = () => fail("too_large", `A body may have ${longestBody} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > longestBody) throw tooLarge();
  if (!request.body) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > longestBody) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(Buffer.concat(chunks));
  } catch {
    throw fail("bad_request", "The body is not valid UTF-8.");
  }
}

function parse(text: string): unknown {
  // An own key of this name would become a prototype further down; nobody sends it in good faith.
  if (text.includes('"__proto__"')) throw fail("bad_request", "The body has a key that is not allowed: __proto__.");
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : "nested too deeply";
    throw fail("bad_request", `The body is not valid JSON: ${why}`);
  }
}
