import type { FileContent, Version, VersionDiff } from "@thinkery/sdk";
import type { ChangeRow } from "./change-log.ts";
import type { ContentInfo } from "./content.ts";
import { createUnifiedDiff } from "./text/unified-diff.ts";

/** Maximum files and characters shown per version, and characters compared for it. */
const diffLimits = { maxFiles: 200, maxChars: 500_000, maxComparedChars: 4_000_000 };

interface DiffedChange {
  row: ChangeRow;
  before(): FileContent | undefined;
  after(): FileContent | undefined;
}

/** Creates the human-readable diff of a version. */
export function createVersionDiff(version: Version, changes: readonly DiffedChange[]): VersionDiff {
  const diffs: VersionDiff["diffs"] = [];
  let remainingChars = diffLimits.maxChars;
  let remainingCompared = diffLimits.maxComparedChars;
  for (const { row, before, after } of changes.slice(0, diffLimits.maxFiles)) {
    if (remainingChars <= 0 || remainingCompared <= 0) break;
    const { path, kind, other } = row;
    const { comparedChars, ...textDiff } = createTextDiff(path, row, before, after);
    remainingChars -= textDiff.diff?.length ?? 0;
    remainingCompared -= comparedChars;
    diffs.push({
      path,
      kind: kind === "moved" ? "delete" : kind,
      ...(kind === "move" && other !== null ? { from: other } : {}),
      ...textDiff,
      ...(row.before ? { before: toFileSummary(row.before) } : {}),
      ...(row.after ? { after: toFileSummary(row.after) } : {}),
    });
  }
  return { ...version, diffs, ...(diffs.length < changes.length ? { truncated: true } : {}) };
}

function createTextDiff(
  path: string,
  row: ChangeRow,
  before: DiffedChange["before"],
  after: DiffedChange["after"],
): { diff?: string; added?: number; removed?: number; comparedChars: number } {
  if (row.before?.blob !== undefined || row.after?.blob !== undefined || row.kind === "move")
    return { comparedChars: 0 };
  const [from, to] = [before(), after()].map((content) => (typeof content === "string" ? content : undefined));
  return { ...createUnifiedDiff(path, from, to), comparedChars: (from?.length ?? 0) + (to?.length ?? 0) };
}

const toFileSummary = ({ size, hash }: ContentInfo) => ({ size, hash });
