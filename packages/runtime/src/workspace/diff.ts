import type { FileContent, Version, VersionDiff } from "@thinkery/sdk";
import type { Facts } from "./content.ts";
import type { ChangeRow } from "./history.ts";
import { unifiedDiff } from "./text/unified.ts";

/** What is shown of one version: so many files, so many characters. */
const limits = { files: 200, characters: 500_000 };

interface Changed {
  row: ChangeRow;
  before(): FileContent | undefined;
  after(): FileContent | undefined;
}

/** A version as people read it. */
export function diffOf(version: Version, changed: readonly Changed[]): VersionDiff {
  const diffs: VersionDiff["diffs"] = [];
  let left = limits.characters;
  for (const { row, before, after } of changed.slice(0, limits.files)) {
    if (left <= 0) break;
    const { path, kind, other } = row;
    const shown = textDiff(path, row, before, after);
    left -= shown.diff?.length ?? 0;
    diffs.push({
      path,
      kind: kind === "moved" ? "delete" : kind,
      ...(kind === "move" && other !== null ? { from: other } : {}),
      ...shown,
      ...(row.before ? { before: glanceOf(row.before) } : {}),
      ...(row.after ? { after: glanceOf(row.after) } : {}),
    });
  }
  return { ...version, diffs, ...(diffs.length < changed.length ? { truncated: true } : {}) };
}

function textDiff(path: string, row: ChangeRow, before: Changed["before"], after: Changed["after"]): { diff?: string; added?: number; removed?: number } {
  if (row.before?.blob !== undefined || row.after?.blob !== undefined || row.kind === "move") return {};
  const [from, to] = [before(), after()];
  return unifiedDiff(path, typeof from === "string" ? from : undefined, typeof to === "string" ? to : undefined);
}

const glanceOf = ({ size, hash }: Facts) => ({ size, hash });
