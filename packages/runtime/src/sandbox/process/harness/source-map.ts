/** Where a position of generated code comes from. Lines and columns count from 1. */
export interface SourcePosition {
  source: string;
  line: number;
  column: number;
}

type Segment = [column: number, source: number, line: number, sourceColumn: number];

/** Reads a source map (version 3). Returns undefined for a position that it does not explain. */
export function createSourceMap(text: string): (line: number, column: number) => SourcePosition | undefined {
  let lines: Segment[][] | undefined;
  let sources: readonly string[] = [];
  return (line, column) => {
    if (!lines) {
      const parsed = parseMap(text);
      lines = parsed ? decodeMappings(parsed.mappings) : [];
      sources = parsed?.sources ?? [];
    }
    const segment = lines[line - 1]?.findLast(([start]) => start <= column - 1);
    const source = segment && sources[segment[1]];
    return segment && source !== undefined ? { source, line: segment[2] + 1, column: segment[3] + 1 } : undefined;
  };
}

function parseMap(text: string): { mappings: string; sources: string[] } | undefined {
  try {
    const { mappings, sources } = JSON.parse(text) as { mappings?: unknown; sources?: unknown };
    return typeof mappings === "string" && Array.isArray(sources)
      ? { mappings, sources: sources.map(String) }
      : undefined;
  } catch {
    return undefined;
  }
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function decodeMappings(mappings: string): Segment[][] {
  let source = 0;
  let line = 0;
  let sourceColumn = 0;
  return mappings.split(";").map((row) => {
    let column = 0;
    const segments: Segment[] = [];
    for (const text of row.split(",")) {
      const [columnDelta, sourceDelta, lineDelta, sourceColumnDelta] = decodeNumbers(text);
      if (columnDelta === undefined) continue;
      column += columnDelta;
      if (sourceDelta === undefined) continue;
      source += sourceDelta;
      line += lineDelta ?? 0;
      sourceColumn += sourceColumnDelta ?? 0;
      segments.push([column, source, line, sourceColumn]);
    }
    return segments;
  });
}

/** Decodes numbers in base 64 of variable length. */
function decodeNumbers(text: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const char of text) {
    const digit = digits.indexOf(char);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >>> 1) : value >>> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}
