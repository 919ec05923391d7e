import { createHash } from "node:crypto";

interface DigestedCall {
  name: string;
  input: unknown;
}

/** Returns a hash of calls and their exact inputs. The order of an object's keys does not matter. */
export function digestCalls(calls: readonly DigestedCall[]): string {
  const text = JSON.stringify(calls.map(({ name, input }) => [name, sortKeys(input)]));
  return createHash("sha256").update(text).digest("hex");
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}
