/**
 * The ways a model call fails, classified by error codes and HTTP statuses, not by the wording of messages.
 * `refused` is the rest: the provider rejects the request (unknown model, malformed request).
 */
export const modelErrorKinds = ["auth", "quota", "overflow", "overloaded", "content", "network", "refused"] as const;

export type ModelErrorKind = (typeof modelErrorKinds)[number];

interface ModelErrorOptions {
  /** Whether the same call may succeed a little later. */
  retryable: boolean;
  /** The delay the provider asks for. */
  retryAfterMs?: number;
  status?: number;
  /** What the user should do. */
  advice: string;
}

export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  readonly advice: string;

  constructor(kind: ModelErrorKind, message: string, options: ModelErrorOptions) {
    super(message);
    this.kind = kind;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
    this.advice = options.advice;
  }
}

export function createBrokenOffError(): ModelError {
  return new ModelError("network", "The model's response ended unexpectedly.", {
    retryable: true,
    advice: "The call is retried automatically.",
  });
}
