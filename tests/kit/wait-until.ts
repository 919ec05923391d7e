type Falsy = undefined | null | false | 0 | "";

/**
 * Polls until the condition returns something truthy, and returns that. Throws with `what` it waited for on timeout.
 */
export async function waitUntil<T>(
  what: string,
  condition: () => Promise<T | Falsy> | T | Falsy,
  { timeoutMs = 20_000, intervalMs = 10 } = {},
): Promise<T> {
  const end = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > end) throw new Error(`timed out waiting for ${what}`, { cause: lastError });
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
