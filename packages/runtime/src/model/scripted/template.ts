import { expressionPattern } from "@thinkery/sdk";
import { ModelError } from "../error.ts";

/** The variables available in `{{ }}` expressions of a script. */
export interface TemplateVariables {
  message: string;
  turn: number;
  /** Results of the tools called since that message, oldest first. */
  results: readonly { tool: string; content: string }[];
}

export function fillText(text: string, variables: TemplateVariables): string {
  return text.replaceAll(expressionPattern, (_, name: string) => toText(resolveValue(name, variables)));
}

/** Fills the strings of an input recursively; a string that is one expression keeps the type of its value. */
export function fillInput(input: unknown, variables: TemplateVariables): unknown {
  if (typeof input === "string") {
    const expression = /^\{\{\s*([^{}]*?)\s*\}\}$/.exec(input)?.[1];
    return expression === undefined ? fillText(input, variables) : resolveValue(expression, variables);
  }
  if (Array.isArray(input)) return input.map((item) => fillInput(item, variables));
  if (typeof input !== "object" || input === null) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, fillInput(value, variables)]));
}

function resolveValue(name: string, variables: TemplateVariables): unknown {
  const [root, key = "", ...path] = name.split(".");
  if (root === "message") return variables.message;
  if (root === "turn") return variables.turn;
  const result = /^\d+$/.test(key)
    ? variables.results[Number(key)]
    : variables.results.findLast(({ tool }) => tool === key);
  if (!result) throw createMissingResultError(name);
  if (path.length === 0) return result.content;
  let value = tryParseJson(result.content);
  for (const field of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, field))
      throw createMissingResultError(name);
    value = (value as Record<string, unknown>)[field];
  }
  return value;
}

function tryParseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function createMissingResultError(name: string): ModelError {
  const advice = "Fix the script: results are numbered from 0 and start over with every message.";
  return new ModelError("refused", `The script refers to {{ ${name} }}, but there is no such result.`, {
    retryable: false,
    advice,
  });
}
