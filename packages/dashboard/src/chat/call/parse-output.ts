import type { Result } from "@thinkery/sdk/react";

/** The output of a call as JSON, if it succeeded and is any. */
export function parseOutput(result: Result | undefined): unknown {
  if (!result || result.failed) return undefined;
  try {
    return JSON.parse(result.output) as unknown;
  } catch {
    return undefined;
  }
}

/** The objects in a list of it, such as `tasks`. Undefined if there is no such list. */
export function readItems(output: unknown, name: string): readonly object[] | undefined {
  const list: unknown =
    output !== null && typeof output === "object" ? (output as Record<string, unknown>)[name] : undefined;
  return Array.isArray(list)
    ? list.filter((item): item is object => item !== null && typeof item === "object")
    : undefined;
}
