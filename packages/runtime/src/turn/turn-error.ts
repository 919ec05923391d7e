import type { Failure, FailureCode, BudgetStatus } from "@thinkery/sdk";
import { isThinkeryError } from "@thinkery/sdk";
import { CodeError } from "../drivers/isolate/code-error.ts";
import { ModelError } from "../model/error.ts";

/** Ends a turn with a reason. */
export class TurnError extends Error {
  override readonly name = "TurnError";
  readonly code: FailureCode;
  readonly advice: string | undefined;
  readonly budget: BudgetStatus | undefined;

  constructor(code: FailureCode, message: string, advice?: string, budget?: BudgetStatus) {
    super(message);
    this.code = code;
    this.advice = advice;
    this.budget = budget;
  }
}

/** Converts whatever ended a turn into the failure that users see. */
export function toFailure(error: unknown): Failure {
  if (error instanceof TurnError)
    return {
      ...createFailure(error.code, error.message, error.advice),
      ...(error.budget ? { budget: error.budget } : {}),
    };
  if (error instanceof CodeError) return createFailure("code_failed", error.message, error.advice);
  if (error instanceof ModelError) return createFailure(`model_${error.kind}`, error.message, error.advice);
  if (isThinkeryError(error)) {
    // If no model could be found or opened, the catalogue says what to do. Other errors say why the agent could not be
    // built.
    const isModelFailure = !error.details?.issues && (error.code === "bad_request" || error.code === "unavailable");
    return createFailure(isModelFailure ? "no_model" : "internal", error.message, error.details?.suggestion);
  }
  console.error("unexpected turn failure", error);
  return { code: "internal", message: "Internal error in the host. See its log for details." };
}

function createFailure(code: FailureCode, message: string, advice: string | undefined): Failure {
  return { code, message, ...(advice ? { advice } : {}) };
}
