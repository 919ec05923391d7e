import type { FileContent, Version, VersionDiff } from "@thinkery/sdk";
import type { Work } from "../host/fair-work.ts";
import type { ChangeLog, ChangeRow } from "./change-log.ts";
import type { ContentInfo } from "./content.ts";
import { createUnifiedDiff } from "./text/unified-diff.ts";

/** Maximum files and characters shown per version, and characters compared for it. */
const diffLimits = { maxFiles: 200, maxChars: 500_000, maxComparedChars: 4_000_000 };

interface ContentReader {
  changes: Pick<ChangeLog, "getContentBefore" | "getContentAfter">;
  getCurrent(row: ChangeRow): FileContent | undefined;
}

/** Creates the human-readable diff of a version. */
export function* createVersionDiff(
  version: Version,
  rows: Iterable<ChangeRow>,
  reader: ContentReader,
): Work<VersionDiff> {
  const diffs: VersionDiff["diffs"] = [];
  let remainingChars = diffLimits.maxChars;
  let remainingCompared = diffLimits.maxComparedChars;
  let truncated = false;
  for (const row of rows) {
    const { path, kind, other } = row;
    if (kind === "moved") continue;
    truncated = diffs.length >= diffLimits.maxFiles || remainingChars <= 0 || remainingCompared <= 0;
    if (truncated) break;
    const { comparedChars, ...textDiff } = createTextDiff(row, reader);
    remainingChars -= textDiff.diff?.length ?? 0;
    remainingCompared -= comparedChars;
    yield 100 + comparedChars / 20;
    diffs.push({
      path,
      kind,
      ...(kind === "move" && other !== null ? { from: other } : {}),
      ...textDiff,
      ...(row.before ? { before: toFileSummary(row.before) } : {}),
      ...(row.after ? { after: toFileSummary(row.after) } : {}),
    });
  }
  return { ...version, diffs, ...(truncated ? { truncated } : {}) };
}

function createTextDiff(
  row: ChangeRow,
  { changes, getCurrent }: ContentReader,
): { diff?: string; added?: number; removed?: number; comparedChars: number } {
  const { path, kind, before, after } = row;
  if (before?.blob !== undefined || after?.blob !== undefined || kind === "move") return { comparedChars: 0 };
  const getOwnCurrent = () => getCurrent(row);
  const [from, to] = [changes.getContentBefore(row, getOwnCurrent), changes.getContentAfter(row, getOwnCurrent)].map(
    (content) => (typeof content === "string" ? content : undefined),
  );
  return { ...createUnifiedDiff(path, from, to), comparedChars: (from?.length ?? 0) + (to?.length ?? 0) };
}

const toFileSummary = ({ size, hash }: ContentInfo) => ({ size, hash });
