import { defineTool, type ToolOptions, type Tool, type ToolContext, ToolError } from "@thinkery/sdk";
import { z } from "zod";
import { matchPaths } from "../../policy/match-paths.ts";

interface NewFileTool<Input> extends Omit<ToolOptions<Input>, "inputSchema"> {
  inputSchema: z.ZodType<Input>;
}

/**
 * A tool for files. Models that learned the words of other systems may use them: what they write as `file_path` or
 * `old_string` is understood, though they are not told so.
 */
export function defineFileTool<Input>(
  definition: NewFileTool<Input>,
  run: (input: Input, context: ToolContext) => unknown,
): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(definition.inputSchema, { io: "input" });
  const tool = defineTool<Input>(
    {
      matchesRule: matchPaths,
      redactInput: redactFileInput,
      ...definition,
      inputSchema: z.preprocess(normalizeArgs, definition.inputSchema) as z.ZodType<Input>,
    },
    run,
  );
  return { ...tool, parameters };
}

/** What a model is to read and to do otherwise; nothing was done. */
export function createInputError(message: string): ToolError {
  return new ToolError("invalid_input", message);
}

/** Somebody else committed between reading a file and writing it. */
export function createConflictError(path: string): ToolError {
  return createInputError(`“${path}” was changed by somebody else just now. Try again.`);
}

function normalizeArgs(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(normalizeArgs);
  if (typeof given !== "object" || given === null) return given;
  const known = new Map<string, unknown>();
  for (const [key, value] of Object.entries(given)) {
    const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const name = camel === "filePath" ? "path" : camel;
    if (name === key || !known.has(name)) known.set(name, coerceValue(name, value));
  }
  return Object.fromEntries(known);
}

const numberFields = ["offset", "limit", "context"];
const booleanFields = ["replaceAll", "ignoreCase"];

/** Some write everything as text. */
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

/** Where, and how much; never what is in a file. */
export function redactFileInput(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return {};
  const known = normalizeArgs(input) as Record<string, unknown>;
  const out: Record<string, unknown> = {};
  for (const key of shortFields)
    if (known[key] !== undefined) out[key] = typeof known[key] === "string" ? known[key].slice(0, 1100) : known[key];
  for (const key of ["content", "oldString", "newString"])
    if (typeof known[key] === "string") out[key] = `${known[key].length} characters`;
  if (Array.isArray(known.edits)) out.edits = known.edits.length;
  return out;
}
