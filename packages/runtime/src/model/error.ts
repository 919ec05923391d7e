/**
 * Every way a call to a model fails, sorted by codes and statuses, never by words in a message.
 * `refused` is what is left: the provider understood us and says no (no such model, a malformed request).
 */
export const modelErrorKinds = ["auth", "quota", "overflow", "overloaded", "content", "network", "refused"] as const;

export type ModelErrorKind = (typeof modelErrorKinds)[number];

interface ModelErrorOptions {
  /** May the same call succeed a little later? */
  passing: boolean;
  /** The provider's own wish. */
  retryAfterMs?: number;
  status?: number;
  /** What a person should do. */
  advice: string;
}

export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: ModelErrorKind;
  readonly passing: boolean;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  readonly advice: string;

  constructor(kind: ModelErrorKind, message: string, facts: ModelErrorOptions) {
    super(message);
    this.kind = kind;
    this.passing = facts.passing;
    this.retryAfterMs = facts.retryAfterMs;
    this.status = facts.status;
    this.advice = facts.advice;
  }
}
