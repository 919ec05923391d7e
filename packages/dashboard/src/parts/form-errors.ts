import { isThinkeryError } from "@thinkery/sdk";

export interface FormErrors {
  /** First error of each field of the form. */
  byField: Partial<Record<string, string>>;
  /** Error that belongs to no field of the form. */
  general?: string;
}

/** Assigns the validation issues of an error to the fields of a form. */
export function toFormErrors(error: unknown, fields: readonly string[]): FormErrors {
  if (error === undefined) return { byField: {} };
  if (!(error instanceof Error)) return { byField: {}, general: "Something went wrong." };
  const issues = isThinkeryError(error) ? (error.details?.issues ?? []) : [];
  const byField: Partial<Record<string, string>> = {};
  let isGeneral = issues.length === 0;
  for (const { path, message } of issues) {
    const field = String(path[0] ?? "");
    if (!fields.includes(field)) isGeneral = true;
    else byField[field] ??= toSentence(message);
  }
  return isGeneral ? { byField, general: error.message } : { byField };
}

export function toSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
