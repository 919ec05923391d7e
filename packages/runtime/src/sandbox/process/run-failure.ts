import type { Outcome } from "../run.ts";
import { toSourceColumn } from "./column-map.ts";
import { createSyntaxErrorAt, SourceError } from "./source-error.ts";
import type { PreparedCode } from "./source.ts";

/** Why an isolate returned nothing, for the author of the code. */
export interface RunFailure {
  kind: Extract<Outcome, { ok: false }>["kind"];
  message: string;
}

/** Errors that the engine finds, but our parser did not. */
const syntaxErrorPattern = /Uncaught (SyntaxError: [^\n]*)(?:\n\s+at ([^\n]+):(\d+):(\d+))?/;

interface LoadedCode extends Pick<PreparedCode, "columnMaps" | "sources"> {
  /** Lines before the source; code that we prepare has one. */
  headerLines?: number;
}

export function toRunFailure(
  error: unknown,
  { columnMaps, sources, headerLines = 1 }: LoadedCode = { columnMaps: {}, sources: {} },
): RunFailure {
  if (error instanceof SourceError) return { kind: error.kind, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  const [, syntaxError, file = "", row, column] = syntaxErrorPattern.exec(message) ?? [];
  if (syntaxError !== undefined) {
    if (!Object.hasOwn(sources, file)) return { kind: "syntax", message: syntaxError };
    const line = Number(row) - headerLines;
    const at = toSourceColumn(columnMaps[file] ?? {}, line, Number(column) - 1);
    return {
      kind: "syntax",
      message: createSyntaxErrorAt(file, sources[file] ?? "", line, at, syntaxError.replace("SyntaxError: ", ""))
        .message,
    };
  }
  if (message.includes("would never generate a response")) {
    return {
      kind: "threw",
      message: "The code awaits a promise that can never resolve.",
    };
  }
  const limit = /exceeded (?:its |the )?(CPU|memory)[^.]*/i.exec(message);
  if (limit) return { kind: "limit", message: `The code ${limit[0].trim()}.` };
  return { kind: "threw", message: `The code was stopped: ${message.slice(0, 1000)}` };
}
