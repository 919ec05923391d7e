/** How long a hook may take is limited, and so is what it can break: whatever it throws is an answer, not an accident. */

/**
 * Runs one hook. Answers at once where the hook does; a promise is awaited for so long, and then left alone. Before
 * anybody really waits, `settle` is called.
 */
export function bounded(run: () => void | Promise<void>, seconds: number, settle: () => void): void | Promise<void> {
  const result: unknown = run();
  return isPromise(result) ? settled(Promise.resolve(result), seconds, settle) : undefined;
}

async function settled(result: Promise<unknown>, seconds: number, settle: () => void): Promise<void> {
  let done = false;
  const watched = result.finally(() => {
    done = true;
  });
  watched.catch(() => {});
  // Most are over within a few microtasks, and a timer costs more than such a hook.
  for (let turn = 0; turn < 4; turn++) {
    await undefined;
    if (done) return void (await watched);
  }
  settle();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not come back within ${seconds} s.`)), seconds * 1000);
  });
  try {
    await Promise.race([watched, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What a hook threw, in words. It may have thrown anything. */
export function wordsOf(error: unknown): string {
  try {
    const words = error instanceof Error ? error.message : typeof error === "string" ? error : (JSON.stringify(error) ?? String(error));
    return String(words).slice(0, 1000) || "It threw an error without a message.";
  } catch {
    return "It threw something that cannot be written down.";
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
