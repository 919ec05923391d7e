/** Waits for a condition and says what it waited for when it does not come. */
export async function until<T>(
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  { within = 20_000, every = 10 } = {},
): Promise<T> {
  const end = Date.now() + within;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`, { cause: lastError });
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
