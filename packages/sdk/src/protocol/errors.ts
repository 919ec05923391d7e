import { z } from "zod";

/** Every way a request can fail, with the HTTP status it maps to. The set is closed: clients may switch on it. */
const errorStatus = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media: 415,
  misdirected: 421,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

const errorCodes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]];

const problemSchema = z.object({
  path: z.array(z.union([z.string(), z.number()])),
  message: z.string(),
});

/** One thing wrong with an input, and where. */
export type Problem = z.infer<typeof problemSchema>;

const errorDetailsSchema = z
  .object({ problems: z.array(problemSchema).optional(), suggestion: z.string().optional() })
  .optional();

/** The body of every answer that is not a success. */
export const errorBodySchema = z
  .object({
    error: z.object({ code: z.enum(errorCodes), message: z.string(), details: errorDetailsSchema }),
  })
  .meta({ id: "Error", description: "What went wrong, and what to do about it." });

export type ErrorBody = z.infer<typeof errorBodySchema>;
export type ErrorDetails = NonNullable<ErrorBody["error"]["details"]>;

/** A failure we foresaw. Its name, code and details survive JS RPC between objects; its class does not. */
export interface ThinkeryError extends Error {
  name: "ThinkeryError";
  code: ErrorCode;
  details?: ErrorDetails;
}

/** The one factory: `throw fail("not_found", "There is no agent “bob” in global.")`. */
export function fail(code: ErrorCode, message: string, details?: ErrorDetails): ThinkeryError {
  const error = new Error(message) as ThinkeryError;
  error.name = "ThinkeryError";
  error.code = code;
  if (details) error.details = details;
  return error;
}

export function isThinkeryError(error: unknown): error is ThinkeryError {
  return (
    error instanceof Error && error.name === "ThinkeryError" && (error as ThinkeryError).code in errorStatus
  );
}

export function statusOf(code: ErrorCode): number {
  return errorStatus[code];
}

export function errorBody(error: ThinkeryError): ErrorBody {
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(error.details ? { details: error.details } : {}),
    },
  };
}

/** Turns a failed parse into a `bad_request` that names the path of each problem. */
export function invalid(where: string, error: z.ZodError): ThinkeryError {
  const problems = error.issues.flatMap((issue) => problemsOf(issue)).slice(0, 20);
  const first = problems[0];
  const at = first?.path.length ? ` at ${first.path.join(".")}` : "";
  return fail("bad_request", `The ${where} is not valid${at}: ${first?.message ?? "unknown problem"}`, {
    problems,
  });
}

// An unknown key is reported under its own name, so that a person sees which word is wrong.
function problemsOf(issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.map((part) => (typeof part === "symbol" ? part.toString() : part));
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...path, key], message: "unknown field" }));
  }
  return [{ path, message: issue.message }];
}
