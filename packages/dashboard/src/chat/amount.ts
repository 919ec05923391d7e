/** `840`, `12.4k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1000) return String(count);
  return count < 999_950 ? `${trimmed(count / 1000)}k` : `${trimmed(count / 1_000_000)}M`;
}

/** Dollars with as many digits as it takes to see that it is not nothing. */
export function cost(usd: number | null): string {
  if (usd === null) return "cost unknown";
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "under $0.0001";
  return `$${usd < 0.01 ? usd.toFixed(4) : usd < 1 ? usd.toFixed(3) : usd.toFixed(2)}`;
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} bytes`;
  return size < 1024 * 1024 ? `${trimmed(size / 1024)} KB` : `${trimmed(size / 1024 / 1024)} MB`;
}

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}
