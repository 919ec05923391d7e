const shortPathPattern = /^\/agents(\/.*)?$/;

/** Whether a path is short for one in the caller's default agency: `/agents…`. */
export function isShortPath(path: string): boolean {
  return shortPathPattern.test(path);
}

/** Expands a short path. Other paths are returned unchanged. */
export function expandShortPath(path: string, agency: string): string {
  const match = shortPathPattern.exec(path);
  if (!match) return path;
  const rest = match[1];
  return rest ? `/agency/${agency}/agent${rest}` : `/agency/${agency}/agents`;
}
