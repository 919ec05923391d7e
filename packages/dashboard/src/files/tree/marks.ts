import type { FileInfo, Version } from "@thinkery/sdk";
import { getAuthorName } from "../history/version-text.ts";

/** Who changed a file lately. */
export interface Mark {
  by: "agent" | "user";
  who: string;
  at: string;
}

/** So long a change is news. */
const recentMs = 60 * 60_000;

export function findRecentMarks(
  files: readonly FileInfo[],
  versions: readonly Version[],
  reader: string,
  agent: string,
  now: number,
): Map<string, Mark> {
  const known = new Map(
    versions.filter(({ at }) => now - Date.parse(at) < recentMs).map((version) => [version.id, version]),
  );
  const marks = new Map<string, Mark>();
  for (const { path, version: id } of files) {
    const version = known.get(id);
    if (version)
      marks.set(path, { by: version.origin.kind, who: getAuthorName(version.origin, reader, agent), at: version.at });
  }
  return marks;
}
