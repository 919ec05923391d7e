import type { Change, Origin, Overlap } from "@thinkery/sdk";

/** A size as people say it. */
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

/** Who did something, in a word or two. */
export function formatOrigin({ kind, user, agent, tool }: Origin): string {
  if (kind === "user") return user ?? "somebody";
  return tool ? `${agent ?? "agent"}, ${tool}` : (agent ?? "agent");
}

const changeMarks = { add: "+", edit: "~", delete: "-", move: ">" };

export function formatChange({ kind, path, from }: Change): string {
  return kind === "move" && from !== undefined ? `${from} > ${path}` : `${changeMarks[kind]}${path}`;
}

export function formatChanges(changes: readonly Change[], more = 0): string {
  const formatted = changes.slice(0, 3).map(formatChange);
  const left = changes.length - formatted.length + more;
  return formatted.join(" ") + (left > 0 ? ` and ${left} more` : "");
}

/** Where two have changed the same, and what became of it. */
export function formatOverlaps(overlaps: readonly Overlap[]): string[] {
  if (overlaps.length === 0) return [];
  const lines = overlaps.map(
    ({ path, line, kept, reason }) =>
      `  ${path}${line === undefined ? "" : `:${line}`}  ${reason}${kept === undefined ? "" : ` (the other one is ${kept})`}`,
  );
  return [
    overlaps.length === 1
      ? "In one place both changed the same:"
      : `In ${overlaps.length} places both changed the same:`,
    ...lines,
  ];
}
