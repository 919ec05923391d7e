import type { Approval } from "./approval.ts";
import type { Question } from "./continuation.ts";

/** All error codes with their HTTP status. The set is closed, so clients may switch on it. */
const errorStatus = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media: 415,
  misdirected: 421,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

export const errorCodes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]];

/** A validation issue and its path in the input. */
export interface ValidationIssue {
  path: (string | number)[];
  message: string;
}

export interface ErrorDetails {
  issues?: ValidationIssue[] | undefined;
  suggestion?: string | undefined;
  /** The file's current hash, if a precondition expected another. */
  hash?: string | undefined;
  /** Seconds until a request that came too soon may be repeated. */
  retryAfter?: number | undefined;
  /** What the turns of a job wait for a person to answer. */
  approvals?: Approval[] | undefined;
  questions?: Question[] | undefined;
}

/** The body of every error response. */
export interface ErrorBody {
  error: { code: ErrorCode; message: string; details?: ErrorDetails | undefined };
}

/**
 * An expected error with a code. Check for it with `isThinkeryError`: its name, code and details survive RPC between
 * objects, but its class does not.
 */
export interface ThinkeryError extends Error {
  name: "ThinkeryError";
  code: ErrorCode;
  details?: ErrorDetails;
}

/** Creates a `ThinkeryError`: `throw fail("not_found", "There is no agent “bob” in global.")`. */
export function fail(code: ErrorCode, message: string, details?: ErrorDetails): ThinkeryError {
  const error = new Error(message) as ThinkeryError;
  error.name = "ThinkeryError";
  error.code = code;
  if (details) error.details = details;
  return error;
}

export function isThinkeryError(error: unknown): error is ThinkeryError {
  return error instanceof Error && error.name === "ThinkeryError" && (error as ThinkeryError).code in errorStatus;
}

export function toHttpStatus(code: ErrorCode): number {
  return errorStatus[code];
}

/** Parses the error in the body of a response, if there is one. By hand, because pages and the CLI do not load Zod. */
export function errorFromBody(body: unknown): ThinkeryError | undefined {
  const { code, message, details } = (body as Partial<ErrorBody> | null | undefined)?.error ?? {};
  if (!code || !errorCodes.includes(code) || typeof message !== "string") return undefined;
  return fail(code, message, details);
}

export function toErrorBody(error: ThinkeryError): ErrorBody {
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(error.details ? { details: error.details } : {}),
    },
  };
}
