import { z } from "zod";
import { findNearest } from "../internal/nearest.ts";
import { approvalSchema } from "./approval.ts";
import { questionSchema } from "./continuation.ts";
import { type ErrorBody, errorCodes, fail, type ValidationIssue, type ThinkeryError } from "./errors.ts";
import { listFields } from "./schema-fields.ts";

const validationIssueSchema = z.object({
  path: z.array(z.union([z.string(), z.number()])),
  message: z.string(),
});

const errorDetailsSchema = z
  .object({
    issues: z.array(validationIssueSchema).optional(),
    suggestion: z.string().optional(),
    hash: z.string().optional().meta({ description: "The file's current hash, if a precondition expected another." }),
    approvals: z
      .array(approvalSchema)
      .optional()
      .meta({ description: "Of `/serve`: what the turns wait for. They go on when it is answered." }),
    questions: z.array(questionSchema).optional(),
  })
  .optional();

/** Separate from its types, which pages and the CLI use without loading Zod. */
export const errorBodySchema = z
  .object({
    error: z.object({ code: z.enum(errorCodes), message: z.string(), details: errorDetailsSchema }),
  })
  .meta({ id: "Error", description: "What went wrong and what to do about it." }) satisfies z.ZodType<ErrorBody>;

/**
 * Turns a failed parse into a `bad_request` that names the path of each problem. `subject` says what was parsed, for
 * example “query”. With the schema, the message suggests a name for an unknown field.
 */
export function createValidationError(subject: string, error: z.ZodError, schema?: z.ZodType): ThinkeryError {
  const found = error.issues.flatMap(expandUnion);
  const issues = found.flatMap((issue) => toValidationIssues(issue)).slice(0, 20);
  const [issue] = found;
  const [problem] = issues;
  const field = problem?.path.length ? `\`${problem.path.join(".")}\`` : "";
  const where = subject === "body" || subject === "request" ? "" : ` in the ${subject}`;
  if (issue?.code === "unrecognized_keys") {
    const nearest = schema && findNearest(issue.keys[0] ?? "", listFields(schema, issue.path));
    const advice = nearest ? ` Did you mean \`${nearest}\`?` : "";
    return fail("bad_request", `Unknown field ${field}${where}.${advice}`, { issues });
  }
  const reason = (problem?.message ?? "unknown error").replace(
    /^Invalid (?:(?:input|option): |discriminator value\. )/,
    "",
  );
  const period = /[.!?]$/.test(reason) ? "" : ".";
  return fail("bad_request", `Invalid ${field ? field + where : subject}: ${reason}${period}`, { issues });
}

/** Returns what is wrong with the one form of a union that a value has, if it is only one, and the schema does not say. */
function expandUnion(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union" || issue.message !== "Invalid input") return [issue];
  const isOfType = (one: z.core.$ZodIssue) => one.path.length > 0 || one.code !== "invalid_type";
  const [form, ...others] = issue.errors.filter((issues) => issues.every(isOfType));
  if (!form || others.length > 0) return [issue];
  return form.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

// An unknown key is part of the path, so that the message names it.
export function toValidationIssues(issue: z.core.$ZodIssue): ValidationIssue[] {
  const path = issue.path.map((part) => (typeof part === "symbol" ? part.toString() : part));
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...path, key], message: "unknown field" }));
  }
  // Issues of an invalid key are nested.
  const { message } = (issue.code === "invalid_key" ? issue.issues[0] : issue) ?? issue;
  // In JSON, a record is an object like any other.
  return [{ path, message: message.replace("expected record, ", "expected object, ") }];
}
