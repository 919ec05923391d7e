const maxRows = 100;
const maxColumns = 20;
const maxCellChars = 60;

/** Formats data as a text table; returns undefined if it is not tabular. */
export function formatTable(
  data: unknown,
  chosen: readonly string[] | undefined,
  show: (value: unknown) => string,
): string | undefined {
  if (data === null || typeof data !== "object") return undefined;
  const rows =
    data instanceof Map || data instanceof Set
      ? [...data].map((row, index) => [String(index), row] as const)
      : Object.entries(data);
  const columns = (
    chosen ?? [...new Set(rows.slice(0, maxRows).flatMap(([, row]) => (isRecord(row) ? Object.keys(row) : [])))]
  ).slice(0, maxColumns);
  const hasValues = rows.some(([, row]) => !isRecord(row));
  const cells = rows
    .slice(0, maxRows)
    .map(([index, row]) => [
      index,
      ...columns.map((column) =>
        isRecord(row) && Object.hasOwn(row, column) ? show(Reflect.getOwnPropertyDescriptor(row, column)?.value) : "",
      ),
      ...(hasValues ? [isRecord(row) ? "" : show(row)] : []),
    ]);
  const head = ["", ...columns, ...(hasValues ? ["value"] : [])];
  const table = [head, ...cells].map((row) => row.map((cell) => cell.replaceAll("\n", " ").slice(0, maxCellChars)));
  const widths = head.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  const lines = table.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join(" | ")
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => "-".repeat(width)).join("-|-"));
  if (rows.length > maxRows) lines.push(`... ${rows.length - maxRows} more rows`);
  return lines.join("\n");
}

function isRecord(value: unknown): value is object {
  return value !== null && typeof value === "object";
}
