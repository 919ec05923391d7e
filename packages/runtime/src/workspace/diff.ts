import type { FileContent, Version, VersionDiff } from "@thinkery/sdk";
import type { ChangeRow } from "./change-log.ts";
import type { ContentInfo } from "./content.ts";
import { createUnifiedDiff } from "./text/unified-diff.ts";

/** Maximum files and characters shown per version. */
const diffLimits = { maxFiles: 200, maxChars: 500_000 };

interface DiffedChange {
  row: ChangeRow;
  before(): FileContent | undefined;
  after(): FileContent | undefined;
}

/** Creates the human-readable diff of a version. */
export function createVersionDiff(version: Version, changes: readonly DiffedChange[]): VersionDiff {
  const diffs: VersionDiff["diffs"] = [];
  let remainingChars = diffLimits.maxChars;
  for (const { row, before, after } of changes.slice(0, diffLimits.maxFiles)) {
    if (remainingChars <= 0) break;
    const { path, kind, other } = row;
    const textDiff = createTextDiff(path, row, before, after);
    remainingChars -= textDiff.diff?.length ?? 0;
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
): { diff?: string; added?: number; removed?: number } {
  if (row.before?.blob !== undefined || row.after?.blob !== undefined || row.kind === "move") return {};
  const [from, to] = [before(), after()];
  return createUnifiedDiff(path, typeof from === "string" ? from : undefined, typeof to === "string" ? to : undefined);
}

const toFileSummary = ({ size, hash }: ContentInfo) => ({ size, hash });
