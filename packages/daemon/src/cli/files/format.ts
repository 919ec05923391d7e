import type { Change, Origin, Overlap } from "@thinkery/sdk";

export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Formats the author of a change. */
export function formatOrigin({ kind, user, agent, tool }: Origin): string {
  if (kind === "user") return user ?? "unknown user";
  return tool ? `${agent ?? "agent"}, ${tool}` : (agent ?? "agent");
}

const changeMarks = { add: "+", edit: "~", delete: "-", move: "->" };

export function formatChange({ kind, path, from }: Change): string {
  return kind === "move" && from !== undefined ? `${from} -> ${path}` : `${changeMarks[kind]}${path}`;
}

export function formatChanges(changes: readonly Change[], more = 0): string {
  const formatted = changes.slice(0, 3).map(formatChange);
  const remaining = changes.length - formatted.length + more;
  return formatted.join(" ") + (remaining > 0 ? ` and ${remaining} more` : "");
}

/** Formats the conflicts of a merge: one line, or a summary and a line for each. */
export function formatConflicts(overlaps: readonly Overlap[]): string[] {
  const [first, ...others] = overlaps.map(formatConflict);
  if (first === undefined) return [];
  if (others.length === 0) return [`1 conflict in ${first}.`];
  return [`${overlaps.length} conflicts:`, ...[first, ...others].map((conflict) => `  ${conflict}`)];
}

function formatConflict({ path, line, reason }: Overlap): string {
  return line === undefined ? `${path} (${formatReason(reason)})` : `${path}:${line} (kept with conflict markers)`;
}

/** Shortens a reason for use in parentheses: “it is a symbolic link” becomes “symbolic link”. */
export function formatReason(reason: string): string {
  return reason.replace(/\.$/, "").replace(/^it (?:is (?:an? )?)?/, "");
}
