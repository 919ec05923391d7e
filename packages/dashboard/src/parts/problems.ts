import { isThinkeryError } from "@thinkery/sdk";

export interface SortedProblems {
  /** What is wrong with each field that the form shows. */
  byField: Partial<Record<string, string>>;
  /** What belongs to no field of the form. */
  rest?: string;
}

/** Sorts what the host said about an input to the fields it said it about. */
export function sortProblems(error: unknown, fields: readonly string[]): SortedProblems {
  if (error === undefined) return { byField: {} };
  if (!(error instanceof Error)) return { byField: {}, rest: "Something went wrong in the page." };
  const problems = isThinkeryError(error) ? (error.details?.problems ?? []) : [];
  const byField: Partial<Record<string, string>> = {};
  let unplaced = problems.length === 0;
  for (const { path, message } of problems) {
    const field = String(path[0] ?? "");
    if (!fields.includes(field)) unplaced = true;
    else byField[field] ??= toSentence(message);
  }
  return unplaced ? { byField, rest: error.message } : { byField };
}

function toSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
