import { z } from "zod";
import { type ErrorBody, errorCodes, fail, type Problem, type ThinkeryError } from "./errors.ts";

const problemSchema = z.object({
  path: z.array(z.union([z.string(), z.number()])),
  message: z.string(),
});

const errorDetailsSchema = z
  .object({
    problems: z.array(problemSchema).optional(),
    suggestion: z.string().optional(),
    hash: z.string().optional().meta({ description: "what the file has now, where it should have another" }),
  })
  .optional();

/** Apart from the types, which pages and commands use without loading zod. */
export const errorBodySchema = z
  .object({
    error: z.object({ code: z.enum(errorCodes), message: z.string(), details: errorDetailsSchema }),
  })
  .meta({ id: "Error", description: "What went wrong, and what to do about it." }) satisfies z.ZodType<ErrorBody>;

/** Turns a failed parse into a `bad_request` that names the path of each problem. */
export function createValidationError(where: string, error: z.ZodError): ThinkeryError {
  const problems = error.issues.flatMap((issue) => toValidationIssues(issue)).slice(0, 20);
  const first = problems[0];
  const at = first?.path.length ? ` at ${first.path.join(".")}` : "";
  return fail("bad_request", `The ${where} is not valid${at}: ${first?.message ?? "unknown problem"}`, {
    problems,
  });
}

// An unknown key is reported under its own name, so that a person sees which word is wrong.
export function toValidationIssues(issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.map((part) => (typeof part === "symbol" ? part.toString() : part));
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...path, key], message: "unknown field" }));
  }
  // What is wrong with a key is said inside.
  return [{ path, message: (issue.code === "invalid_key" ? issue.issues[0] : issue)?.message ?? issue.message }];
}
