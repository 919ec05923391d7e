/**
 * A schema that came with a request, without its patterns. They are for whoever answers the call to check: here, a
 * single one could be made to match for ever.
 */
export function withoutPatterns(schema: Record<string, unknown>): Record<string, unknown> {
  const dropped = (key: string, value: unknown) => key === "patternProperties" || (key === "pattern" && typeof value === "string");
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => (dropped(key, value) ? undefined : value)) as Record<string, unknown>;
}
