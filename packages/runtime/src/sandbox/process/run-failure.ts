import type { Outcome } from "../run.ts";
import { toSourceColumn } from "./column-map.ts";
import { createSyntaxErrorAt, SourceError } from "./source-error.ts";
import type { PreparedCode } from "./source.ts";

/** Why an isolate gave no answer, in words for whoever wrote the code. */

export interface RunFailure {
  kind: Extract<Outcome, { ok: false }>["kind"];
  message: string;
}

/** What the engine itself cannot read, though our parser could. */
const syntaxErrorPattern = /Uncaught (SyntaxError: [^\n]*)(?:\n\s+at ([^\n]+):(\d+):(\d+))?/;

export function toRunFailure(
  error: unknown,
  { drifts, given }: Pick<PreparedCode, "drifts" | "given"> = { drifts: {}, given: {} },
): RunFailure {
  if (error instanceof SourceError) return { kind: error.kind, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  const [, complaint, file = "", row, column] = syntaxErrorPattern.exec(message) ?? [];
  if (complaint !== undefined) {
    if (!Object.hasOwn(given, file)) return { kind: "syntax", message: complaint };
    const line = Number(row) - 1;
    const at = toSourceColumn(drifts[file] ?? {}, line, Number(column) - 1);
    return {
      kind: "syntax",
      message: createSyntaxErrorAt(file, given[file] ?? "", line, at, complaint.replace("SyntaxError: ", "")).message,
    };
  }
  if (message.includes("would never generate a response")) {
    return {
      kind: "threw",
      message: "The code waits for something that can never happen: a promise that nothing is left to resolve.",
    };
  }
  const limit = /exceeded (?:its |the )?(CPU|memory)[^.]*/i.exec(message);
  if (limit) return { kind: "limit", message: `The code ${limit[0].trim()}.` };
  return { kind: "threw", message: `The code was ended: ${message.slice(0, 1000)}` };
}
