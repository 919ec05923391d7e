import type { Tool } from "@thinkery/sdk";

const maxIssues = 5;

/** Parses a tool's input with its schema. A schema may contain code and refer to itself, so it may throw. */
export function parseInput({ inputSchema: schema }: Tool, given: unknown): { input: unknown } | { issues: string } {
  try {
    const { success, data, error } = schema.safeParse(given);
    if (success) return { input: data };
    // Some models write null for what they leave out.
    const retried = hasNull(given) ? schema.safeParse(omitNulls(given)) : undefined;
    if (retried?.success) return { input: retried.data };
    const issues = error.issues.slice(0, maxIssues);
    return { issues: issues.map(({ path, message }) => `${path.join(".") || "input"}: ${message}`).join("; ") };
  } catch (error) {
    return { issues: `It could not be checked: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function hasNull(given: unknown): given is object {
  return typeof given === "object" && given !== null && Object.values(given).includes(null);
}

function omitNulls(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
