import { defineTool, type ToolOptions, type Tool, type ToolContext, ToolError } from "@thinkery/sdk";
import { z } from "zod";
import { matchPaths } from "../../policy/match-paths.ts";

interface FileToolOptions<Input> extends Omit<ToolOptions<Input>, "inputSchema"> {
  inputSchema: z.ZodType<Input>;
}

/**
 * Defines a file tool. Also accepts the parameter names of other systems that models were trained on, such as
 * `file_path` or `old_string`, without documenting them.
 */
export function defineFileTool<Input>(
  definition: FileToolOptions<Input>,
  execute: (input: Input, context: ToolContext) => unknown,
): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(definition.inputSchema, { io: "input" });
  const tool = defineTool<Input>(
    {
      matchesRule: matchPaths,
      redactInput: redactFileInput,
      ...definition,
      inputSchema: z.preprocess(normalizeArgs, definition.inputSchema) as z.ZodType<Input>,
    },
    execute,
  );
  return { ...tool, parameters };
}

/** Creates an error for the model to correct its input; nothing was done. */
export function createInputError(message: string): ToolError {
  return new ToolError("invalid_input", message);
}

/** Someone else committed between reading a file and writing it. */
export function createConflictError(path: string): ToolError {
  return createInputError(`“${path}” was just changed by someone else. Try again.`);
}

function normalizeArgs(args: unknown): unknown {
  if (Array.isArray(args)) return args.map(normalizeArgs);
  if (typeof args !== "object" || args === null) return args;
  const normalized = new Map<string, unknown>();
  for (const [key, value] of Object.entries(args)) {
    const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const name = camel === "filePath" ? "path" : camel;
    if (name === key || !normalized.has(name)) normalized.set(name, coerceValue(name, value));
  }
  return Object.fromEntries(normalized);
}

const numberFields = ["offset", "limit", "context"];
const booleanFields = ["replaceAll", "ignoreCase"];

/** Some models send every value as a string. */
function coerceValue(name: string, value: unknown): unknown {
  if (name === "edits") return normalizeArgs(typeof value === "string" ? (parseList(value) ?? value) : value);
  if (typeof value !== "string") return value;
  if (numberFields.includes(name) && /^-?\d+$/.test(value)) return Number(value);
  return booleanFields.includes(name) && (value === "true" || value === "false") ? value === "true" : value;
}

function parseList(text: string): unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

const shortFields = ["path", "from", "to", "offset", "limit", "pattern", "glob", "ignoreCase", "context", "replaceAll"];

/** Keeps paths and sizes, never the content of a file. */
export function redactFileInput(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return {};
  const args = normalizeArgs(input) as Record<string, unknown>;
  const out: Record<string, unknown> = {};
  for (const key of shortFields)
    if (args[key] !== undefined) out[key] = typeof args[key] === "string" ? args[key].slice(0, 1100) : args[key];
  for (const key of ["content", "oldString", "newString"])
    if (typeof args[key] === "string") out[key] = `${args[key].length} characters`;
  if (Array.isArray(args.edits)) out.edits = args.edits.length;
  return out;
}
