import { globalAgency } from "@thinkery/sdk";

/** Expands `/agents…`, short for the agents of the global agency. Other paths are returned unchanged. */
export function expandShortPath(path: string): string {
  const match = /^\/agents(\/.*)?$/.exec(path);
  if (!match) return path;
  const rest = match[1];
  return rest ? `/agency/${globalAgency}/agent${rest}` : `/agency/${globalAgency}/agents`;
}
