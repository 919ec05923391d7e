import { fail, type Question } from "@thinkery/sdk";

/** Converts what a person typed to the value of an answer: text, or JSON where the question's schema asks for it. */
export function parseAnswer(text: string, schema: Question["schema"], isJson = false): unknown {
  if (isJson) return parseJson(text, "the value");
  if (!schema || takesText(schema)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The host says what it expects instead.
    return text;
  }
}

export function parseJson(text: string, subject: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw fail("bad_request", `Expected ${subject} as JSON: ${(error as Error).message}.`);
  }
}

function takesText({ type, enum: values }: Record<string, unknown>): boolean {
  if (Array.isArray(values)) return values.every((value) => typeof value === "string");
  return type === "string";
}
