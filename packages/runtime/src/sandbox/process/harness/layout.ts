const maxLineWidth = 72;

/** Formats entries in brackets: on one line if they fit, otherwise one below the other. */
export function formatEntries(
  head: string,
  [open, close]: string,
  entries: readonly string[],
  isList: boolean,
): string {
  if (entries.length === 0) return `${head}${open}${close}`;
  const length = entries.reduce((sum, entry) => sum + entry.length + 2, head.length);
  const isSimple = !entries.some((entry) => entry.includes("\n"));
  if (isSimple && length <= maxLineWidth) return `${head}${open} ${entries.join(", ")} ${close}`;
  const lines = isSimple && isList && entries.length > 6 ? fillLines(entries) : entries;
  return `${head}${open}\n${lines.map((line) => `  ${line.replaceAll("\n", "\n  ")}`).join(",\n")}\n${close}`;
}

/** Puts several short entries on a line. */
function fillLines(entries: readonly string[]): string[] {
  const lines: string[] = [];
  for (const entry of entries) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + entry.length + 2 <= maxLineWidth)
      lines[lines.length - 1] = `${last}, ${entry}`;
    else lines.push(entry);
  }
  return lines;
}
