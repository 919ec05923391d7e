/**
 * A requested byte range, as in the `Range` header: `from` to `to` inclusive, or the last `to` bytes without `from`.
 */
export interface ByteRange {
  from?: number;
  to?: number;
  /** Applies only if the file has this hash, as in `If-Range`. */
  of?: string;
}

/** A byte range with an exclusive end. */
export interface ByteSpan {
  from: number;
  to: number;
}

/** Returns undefined if the range contains no byte of the file. */
export function resolveRange({ from, to }: ByteRange, size: number): ByteSpan | undefined {
  const span =
    from === undefined
      ? { from: Math.max(size - (to ?? 0), 0), to: size }
      : { from, to: Math.min((to ?? size) + 1, size) };
  return span.from < span.to ? span : undefined;
}
