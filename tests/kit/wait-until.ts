type Falsy = undefined | null | false | 0 | "";

/** Waits for something that is not nothing (an empty count and a match that failed are), and says what it waited for when it does not come. */
export async function waitUntil<T>(
  what: string,
  condition: () => Promise<T | Falsy> | T | Falsy,
  { within = 20_000, every = 10 } = {},
): Promise<T> {
  const end = Date.now() + within;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`, { cause: lastError });
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
