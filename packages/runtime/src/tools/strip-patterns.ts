/**
 * Removes the patterns from a schema that came with a request. Whoever executes the call checks them: here, a crafted
 * pattern could backtrack forever.
 */
export function stripPatterns(schema: Record<string, unknown>): Record<string, unknown> {
  const isDropped = (key: string, value: unknown) =>
    key === "patternProperties" || (key === "pattern" && typeof value === "string");
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    isDropped(key, value) ? undefined : value,
  ) as Record<string, unknown>;
}
