import { defineTool, isThinkeryError, type Tool, type ToolContext, ToolError, type ToolOptions } from "@thinkery/sdk";
import { z } from "zod";
import { matchPaths } from "../../policy/match-paths.ts";

interface DocumentToolOptions<Input> extends Omit<ToolOptions<Input>, "inputSchema"> {
  inputSchema: z.ZodType<Input>;
}

/** Errors that the model can avoid by another input. */
const inputErrors = new Set(["bad_request", "not_found", "conflict", "too_large"]);

/**
 * Defines a tool for what the members of an agency share. Also accepts `path` and `file` for the name of a document, as
 * other systems call it, and numbers as strings.
 */
export function defineDocumentTool<Input>(
  definition: DocumentToolOptions<Input>,
  execute: (input: Input, context: ToolContext) => Promise<unknown>,
): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(definition.inputSchema, { io: "input" });
  const tool = defineTool<Input>(
    {
      onDemand: "team",
      idempotent: true,
      matchesRule: (match, input, action) => matchPaths(match, { path: readName(input) }, action),
      redactInput: redactDocumentInput,
      ...definition,
      inputSchema: z.preprocess(normalizeInput, definition.inputSchema) as z.ZodType<Input>,
    },
    async (input, context) => {
      try {
        return await execute(input, context);
      } catch (error) {
        if (isThinkeryError(error) && inputErrors.has(error.code)) throw new ToolError("invalid_input", error.message);
        throw error;
      }
    },
  );
  return { ...tool, parameters };
}

function normalizeInput(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return input;
  const { path, file, ...fields } = input as Record<string, unknown>;
  const { name = path ?? file, offset, limit } = fields;
  return {
    ...fields,
    ...(name === undefined ? {} : { name }),
    ...(offset === undefined ? {} : { offset: toNumber(offset) }),
    ...(limit === undefined ? {} : { limit: toNumber(limit) }),
  };
}

const toNumber = (value: unknown) => (typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value);

function readName(input: unknown): unknown {
  const { name, id } = (normalizeInput(input) ?? {}) as Record<string, unknown>;
  return name ?? id;
}

/** Keeps names and sizes, never the content. */
function redactDocumentInput(input: unknown): unknown {
  const { content, ...fields } = (normalizeInput(input) ?? {}) as Record<string, unknown>;
  const out: Record<string, unknown> = {};
  for (const key of ["name", "id", "type", "offset", "limit"])
    if (fields[key] !== undefined)
      out[key] = typeof fields[key] === "string" ? fields[key].slice(0, 1100) : fields[key];
  if (typeof content === "string") out.content = `${content.length} characters`;
  return out;
}
