import type { Tool } from "@thinkery/sdk";

const maxIssues = 5;

/** Parses a tool's input with its schema. Schemas may contain code or be recursive, so parsing may throw. */
export function parseInput({ inputSchema }: Tool, given: unknown): { input: unknown } | { issues: string } {
  try {
    const { success, data, error } = inputSchema.safeParse(given);
    if (success) return { input: data };
    // Some models send null for omitted fields.
    const retried = hasNull(given) ? inputSchema.safeParse(omitNulls(given)) : undefined;
    if (retried?.success) return { input: retried.data };
    const issues = error.issues.slice(0, maxIssues);
    return { issues: issues.map(({ path, message }) => `${path.join(".") || "input"}: ${message}`).join("; ") };
  } catch (error) {
    return { issues: `It could not be validated: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function hasNull(given: unknown): given is object {
  return typeof given === "object" && given !== null && Object.values(given).includes(null);
}

function omitNulls(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
