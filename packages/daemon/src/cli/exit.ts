import { type ErrorCode, isThinkeryError } from "@thinkery/sdk";

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** No host responds, or it denies access. */
  noHost: 3,
  /** The turn waits for a person's approval or answer. */
  waiting: 4,
  /** The turn exceeded a budget. */
  budget: 5,
  interrupted: 130,
} as const;

const exitCodeByError: Partial<Record<ErrorCode, number>> = {
  bad_request: exitCodes.usage,
  unauthorized: exitCodes.noHost,
  forbidden: exitCodes.noHost,
  unavailable: exitCodes.noHost,
};

export function toExitCode(error: unknown): number {
  return (isThinkeryError(error) ? exitCodeByError[error.code] : undefined) ?? exitCodes.failed;
}
