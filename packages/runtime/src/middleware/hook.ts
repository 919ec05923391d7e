/** How long a hook may take is limited, and so is what it can break: whatever it throws is an answer, not an accident. */

/** What became of a hook that did not come back at once. */
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

  /** Waits for so long, and then leaves it alone. Before anybody really waits, `settle` is called. */
  async wait(seconds: number, settle: () => void): Promise<void> {
    // Most are over within a few microtasks, and a timer costs more than such a hook.
    for (let turn = 0; turn < 4 && !this.#isDone; turn++) await undefined;
    if (!this.#isDone) {
      settle();
      await this.#waitAtMost(seconds);
    }
    if (this.#hasFailed) throw this.#error;
  }

  async #waitAtMost(seconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`It did not come back within ${seconds} s.`)), seconds * 1000);
    });
    try {
      await Promise.race([this.#result, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What a hook threw, in words. It may have thrown anything. */
export function describeError(error: unknown): string {
  try {
    const words =
      error instanceof Error
        ? error.message
        : typeof error === "string"
          ? error
          : (JSON.stringify(error) ?? String(error));
    return String(words).slice(0, 1000) || "It threw an error without a message.";
  } catch {
    return "It threw something that cannot be written down.";
  }
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    value instanceof Promise ||
    (typeof value === "object" && value !== null && "then" in value && typeof value.then === "function")
  );
}
