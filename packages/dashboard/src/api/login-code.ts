/** Returns the code in a login link or in its fragment, or the text itself if it is a bare code. */
export function parseLoginCode(text: string): string | undefined {
  const trimmed = text.trim();
  const hash = trimmed.indexOf("#");
  if (hash >= 0) return new URLSearchParams(trimmed.slice(hash + 1)).get("code")?.trim() || undefined;
  return /^[\w.~-]+$/.test(trimmed) ? trimmed : undefined;
}

/**
 * Returns the code and removes it from the address bar, so that it is neither read by others nor shared by accident.
 */
export function takeCode(): string | undefined {
  const { hash, pathname, search } = window.location;
  if (!hash.startsWith("#code=")) return undefined;
  window.history.replaceState(window.history.state, "", pathname + search);
  return parseLoginCode(hash);
}
