import { defer, defineTool, ToolError } from "@thinkery/sdk";
import { countSchemaNodes } from "@thinkery/sdk/internal";
import { z } from "zod";
import { parseUntrustedSchema } from "../untrusted-schema.ts";

const maxPromptChars = 10_000;

/** Asks the user a question. The turn waits for the answer, over restarts. */
export const askUser = defineTool(
  {
    name: "askUser",
    description:
      "Ask the user a question and wait for the answer: text, or JSON of `schema`. Only for what you cannot find out or decide yourself.",
    inputSchema: z.strictObject({
      prompt: z.string().min(1).max(maxPromptChars),
      schema: z.record(z.string(), z.unknown()).optional(),
    }),
    action: "ask",
    idempotent: true,
    modelOnly: true,
  },
  ({ prompt, schema }) => {
    if (schema) checkSchema(schema);
    return defer({ kind: "input", prompt, ...(schema ? { schema } : {}) });
  },
);

function checkSchema(schema: Record<string, unknown>): void {
  if (countSchemaNodes(schema) === undefined) {
    throw new ToolError("invalid_input", "The schema cannot be used: it refers to itself, or is too large.");
  }
  try {
    parseUntrustedSchema(schema);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolError("invalid_input", `The schema cannot be used: ${reason}`);
  }
}
