/** The code in a login link or in its fragment, or the text itself when it is a bare code. */
export function parseLoginCode(text: string): string | undefined {
  const trimmed = text.trim();
  const hash = trimmed.indexOf("#");
  if (hash >= 0) return new URLSearchParams(trimmed.slice(hash + 1)).get("code")?.trim() || undefined;
  return /^[\w.~-]+$/.test(trimmed) ? trimmed : undefined;
}

/** Takes the code out of the address bar before anything else can read it or a person can share it. */
export function takeCode(): string | undefined {
  const { hash, pathname, search } = window.location;
  if (!hash.startsWith("#code=")) return undefined;
  window.history.replaceState(window.history.state, "", pathname + search);
  return parseLoginCode(hash);
}
