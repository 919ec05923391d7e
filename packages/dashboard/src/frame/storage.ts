// Storage may be blocked or full; values are then not persisted.

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
    // Not persisted.
  }
}
