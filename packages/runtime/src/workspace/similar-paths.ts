import { findNearest } from "@thinkery/sdk/internal";

const maxCompared = 2_000;
const maxSuggestions = 3;

/** Returns the paths that a misspelled one may stand for: the same name elsewhere, or else the nearest name. */
export function findSimilarPaths(paths: readonly string[], path: string): string[] {
  for (const getName of [getBaseName, getStem]) {
    const name = getName(path).toLowerCase();
    const sameName = paths.filter((other) => getName(other).toLowerCase() === name);
    if (sameName.length > 0) return sameName.slice(0, maxSuggestions);
  }
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const siblings = paths.filter((other) => other.startsWith(folder));
  for (const candidates of [siblings, paths]) {
    const names = new Map(candidates.slice(0, maxCompared).map((other) => [getBaseName(other), other]));
    const found = findNearest(getBaseName(path), names.keys());
    if (found !== undefined) return [names.get(found) as string];
  }
  return [];
}

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns the name of a file without its extension. */
function getStem(path: string): string {
  const name = getBaseName(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
}
