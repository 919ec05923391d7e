import { compilePattern } from "@thinkery/sdk";
import { ModelError } from "../error.ts";

/** What `{{ }}` in a script can speak of. */
export interface TemplateVariables {
  message: string;
  turn: number;
  /** Of the tools called since that message, oldest first. */
  results: readonly { tool: string; content: string }[];
}

export function fillText(text: string, known: TemplateVariables): string {
  return text.replaceAll(compilePattern, (_, name: string) => toText(resolveValue(name, known)));
}

/** The same through a whole input; an expression that stands alone keeps the type of its value. */
export function fillInput(input: unknown, known: TemplateVariables): unknown {
  if (typeof input === "string") {
    const alone = /^\{\{\s*([^{}]*?)\s*\}\}$/.exec(input)?.[1];
    return alone === undefined ? fillText(input, known) : resolveValue(alone, known);
  }
  if (Array.isArray(input)) return input.map((item) => fillInput(item, known));
  if (typeof input !== "object" || input === null) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, fillInput(value, known)]));
}

function resolveValue(name: string, known: TemplateVariables): unknown {
  const [root, of = "", ...path] = name.split(".");
  if (root === "message") return known.message;
  if (root === "turn") return known.turn;
  const result = /^\d+$/.test(of) ? known.results[Number(of)] : known.results.findLast(({ tool }) => tool === of);
  if (!result) throw createMissingResultError(name);
  if (path.length === 0) return result.content;
  let value = tryParseJson(result.content);
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) throw createMissingResultError(name);
    value = (value as Record<string, unknown>)[key];
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
  const advice = "Correct the script: results count from 0 and begin anew with every message.";
  return new ModelError("refused", `The script asks for {{ ${name} }}, and there is no such result.`, {
    passing: false,
    advice,
  });
}
