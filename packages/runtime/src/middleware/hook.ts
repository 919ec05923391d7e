/** An asynchronous hook, which is awaited with a timeout. */
export class PendingHook {
  #isDone = false;
  #hasFailed = false;
  #error: unknown;
  readonly #result: PromiseLike<unknown>;

  constructor(result: PromiseLike<unknown>) {
    this.#result = result;
    result.then(
      () => {
        this.#isDone = true;
      },
      (error: unknown) => {
        this.#isDone = this.#hasFailed = true;
        this.#error = error;
      },
    );
  }

  /**
   * Waits for the hook. Throws what it threw, or an error after the timeout; the hook then runs on unobserved. Calls
   * `beforeWait` unless the hook completes almost immediately.
   */
  async wait(timeoutSeconds: number, beforeWait: () => void): Promise<void> {
    // Most hooks complete within a few microtasks, and a timer costs more than such a hook.
    for (let tick = 0; tick < 4 && !this.#isDone; tick++) await undefined;
    if (!this.#isDone) {
      beforeWait();
      await this.#waitAtMost(timeoutSeconds);
    }
    if (this.#hasFailed) throw this.#error;
  }

  async #waitAtMost(seconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`It did not finish within ${seconds} s.`)), seconds * 1000);
    });
    try {
      await Promise.race([this.#result, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Describes a thrown value, which may be anything. */
export function describeError(error: unknown): string {
  try {
    const text =
      error instanceof Error
        ? error.message
        : typeof error === "string"
          ? error
          : (JSON.stringify(error) ?? String(error));
    return String(text).slice(0, 1000) || "It threw an error without a message.";
  } catch {
    return "It threw a value that cannot be serialized.";
  }
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    value instanceof Promise ||
    (typeof value === "object" && value !== null && "then" in value && typeof value.then === "function")
  );
}
