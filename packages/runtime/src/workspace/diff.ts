import type { FileContent, Version, VersionDiff } from "@thinkery/sdk";
import type { ContentInfo } from "./content.ts";
import type { ChangeRow } from "./history.ts";
import { createUnifiedDiff } from "./text/unified-diff.ts";

/** What is shown of one version: so many files, so many characters. */
const diffLimits = { files: 200, characters: 500_000 };

interface DiffedChange {
  row: ChangeRow;
  before(): FileContent | undefined;
  after(): FileContent | undefined;
}

/** A version as people read it. */
export function createVersionDiff(version: Version, changed: readonly DiffedChange[]): VersionDiff {
  const diffs: VersionDiff["diffs"] = [];
  let left = diffLimits.characters;
  for (const { row, before, after } of changed.slice(0, diffLimits.files)) {
    if (left <= 0) break;
    const { path, kind, other } = row;
    const shown = createTextDiff(path, row, before, after);
    left -= shown.diff?.length ?? 0;
    diffs.push({
      path,
      kind: kind === "moved" ? "delete" : kind,
      ...(kind === "move" && other !== null ? { from: other } : {}),
      ...shown,
      ...(row.before ? { before: toFileSummary(row.before) } : {}),
      ...(row.after ? { after: toFileSummary(row.after) } : {}),
    });
  }
  return { ...version, diffs, ...(diffs.length < changed.length ? { truncated: true } : {}) };
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
