import type { FileInfo, Version } from "@thinkery/sdk";
import { getAuthorName } from "../history/version-text.ts";

/** The author of a recent change to a file. */
export interface Mark {
  by: "agent" | "user";
  who: string;
  at: string;
}

/** How long a change counts as recent. */
const recentMs = 60 * 60_000;

export function findRecentMarks(
  files: readonly FileInfo[],
  versions: readonly Version[],
  reader: string,
  agent: string | undefined,
  now: number,
): Map<string, Mark> {
  const recent = new Map(
    versions.filter(({ at }) => now - Date.parse(at) < recentMs).map((version) => [version.id, version]),
  );
  const marks = new Map<string, Mark>();
  for (const { path, version: id } of files) {
    const version = recent.get(id);
    if (version)
      marks.set(path, { by: version.origin.kind, who: getAuthorName(version.origin, reader, agent), at: version.at });
  }
  return marks;
}
