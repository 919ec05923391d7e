import type { Failure, FailureCode } from "@thinkery/sdk";
import { isThinkeryError } from "@thinkery/sdk";
import { ModelError } from "../model/error.ts";

/** Ends a turn with a reason. */
export class TurnFailed extends Error {
  override readonly name = "TurnFailed";
  readonly code: FailureCode;
  readonly advice: string | undefined;

  constructor(code: FailureCode, message: string, advice?: string) {
    super(message);
    this.code = code;
    this.advice = advice;
  }
}

/** The reason a person is given for whatever ended a turn. */
export function failureOf(error: unknown): Failure {
  if (error instanceof TurnFailed) return withAdvice(error.code, error.message, error.advice);
  if (error instanceof ModelError) return withAdvice(`model_${error.kind}`, error.message, error.advice);
  // No model could be found or opened: the catalogue says what to do.
  if (isThinkeryError(error)) return withAdvice("no_model", error.message, error.details?.suggestion);
  console.error("turn failed unforeseen", error);
  return { code: "internal", message: "Something went wrong inside the host. Its log says more." };
}

function withAdvice(code: FailureCode, message: string, advice: string | undefined): Failure {
  return { code, message, ...(advice ? { advice } : {}) };
}
