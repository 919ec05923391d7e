import { countSchemaNodes } from "@thinkery/sdk/internal";
import { z } from "zod";

type JsonSchema = Record<string, unknown>;

/** Values of an input times nodes of its schema: each value may be checked against each node of a union. */
const maxValidationSteps = 2_000_000;

/**
 * Creates the validation of a schema that came with a request. Inputs that would take long to validate are refused.
 * Patterns are ignored, because a crafted one could backtrack forever: whoever executes the call checks them.
 */
export function parseUntrustedSchema(schema: JsonSchema): z.ZodType {
  const stripped = stripPatterns(schema);
  const nodes = countSchemaNodes(stripped) ?? Number.POSITIVE_INFINITY;
  const maxValues = Math.floor(maxValidationSteps / Math.max(1, nodes));
  return z
    .unknown()
    .refine((input) => countValues(input, maxValues) <= maxValues, { error: "too large for its schema", abort: true })
    .pipe(z.fromJSONSchema(stripped));
}

function stripPatterns(schema: JsonSchema): JsonSchema {
  const isDropped = (key: string, value: unknown) =>
    key === "patternProperties" || (key === "pattern" && typeof value === "string");
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    isDropped(key, value) ? undefined : value,
  ) as JsonSchema;
}

/** Counts the values in a JSON value, up to about a limit. */
function countValues(value: unknown, limit: number): number {
  const pending = [value];
  let count = 0;
  while (pending.length > 0 && count <= limit) {
    const next = pending.pop();
    count++;
    if (typeof next === "object" && next !== null) for (const part of Object.values(next)) pending.push(part);
  }
  return count;
}
