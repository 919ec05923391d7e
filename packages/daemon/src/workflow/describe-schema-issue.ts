import { type ValidationIssue, toValidationIssues, workflowSchema } from "@thinkery/sdk";
import { findNearest, listFields } from "@thinkery/sdk/internal";
import type { z } from "zod";

/** Describes an issue of a schema in the words of somebody who writes a file. */
export function describeSchemaIssue(issue: z.core.$ZodIssue, schema: z.ZodType = workflowSchema): ValidationIssue[] {
  const issues = toValidationIssues(issue);
  if (issue.code === "unrecognized_keys") {
    const known = listFields(schema, issue.path);
    return issues.map(({ path }) => ({ path, message: describeUnknownKey(String(path.at(-1)), known) }));
  }
  if (issue.code === "invalid_type") {
    const [, received = ""] = /received (\w+)$/.exec(issue.message) ?? [];
    const expected = typeNames[issue.expected] ?? issue.expected;
    const message =
      received === "undefined" ? "is missing" : `expected ${expected}, got ${typeNames[received] ?? received}`;
    return issues.map(({ path }) => ({ path, message }));
  }
  return issues.map(({ path, message }) => ({
    path,
    message: lowercaseFirst(message.replace(/^Invalid input: /, "")),
  }));
}

function describeUnknownKey(key: string, known: readonly string[]): string {
  const nearest = findNearest(key, known);
  return nearest === undefined
    ? `unknown key; expected one of ${known.join(", ")}`
    : `unknown key. Did you mean “${nearest}”?`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
  null: "nothing",
};

const lowercaseFirst = (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1);
