// Storage may be forbidden or full; the page then simply forgets.

export function recall(key: string): string | undefined {
  try {
    return window.localStorage.getItem(`thinkery.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(key: string, value: string | undefined): void {
  try {
    if (value === undefined) window.localStorage.removeItem(`thinkery.${key}`);
    else window.localStorage.setItem(`thinkery.${key}`, value);
  } catch {
    // Forgotten.
  }
}
