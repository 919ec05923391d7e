import type { ForkMerge } from "../protocol/version.ts";

/** What a sub-agent does whose branch is being merged. */
export const mergingActivity = "Merging its branch";

const maxPaths = 10;
const maxOutputChars = 2000;

/** Describes what became of a sub-agent's branch, for its parent's model and for people. */
export function describeForkMerge(merge: ForkMerge): string {
  const { branch, isMerged, changes, overlaps, moreOverlaps = 0, reason, check } = merge;
  if (!isMerged) {
    const output = check?.output.trim().slice(-maxOutputChars);
    const head = `The work is on branch “${branch}”. It was not merged: ${reason ?? "unknown"}`;
    return [head, output].filter(Boolean).join("\n");
  }
  if (changes.length === 0 && overlaps.length === 0) return "It changed no files.";
  const lines = [changes.length === 0 ? "Its branch was merged. No file changed." : describeChanges(merge)];
  if (overlaps.length > 0) {
    lines.push("Both sides had changed the same places. Both changes are kept, so look at them:");
    lines.push(...overlaps.map(formatOverlap));
    if (moreOverlaps > 0) lines.push(`- and ${moreOverlaps} more`);
  }
  return lines.join("\n");
}

function describeChanges({ version, changes, more = 0 }: ForkMerge): string {
  const count = changes.length + more;
  const paths = changes.slice(0, maxPaths).map(({ path }) => path);
  const rest = count - paths.length;
  const list = [...paths, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  const as = version === undefined ? "" : ` as version ${version}`;
  return `Its branch was merged${as}. ${count} ${count === 1 ? "file" : "files"} changed: ${list}.`;
}

function formatOverlap({ path, line, reason }: ForkMerge["overlaps"][number]): string {
  return `- ${path}${line === undefined ? "" : `, line ${line}`}: ${reason}`;
}
