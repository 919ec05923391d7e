/** Which bytes of a file are asked for: those from one to another, those from one on, or so many at its end. */
export interface ByteRange {
  from?: number;
  to?: number;
  /** Only if the file has this hash; the asker has the rest of that one. */
  of?: string;
}

/** From here up to there, which is not in it. */
export interface ByteSpan {
  from: number;
  to: number;
}

/** Nothing where no byte of the file is in it. */
export function resolveRange({ from, to }: ByteRange, size: number): ByteSpan | undefined {
  const part =
    from === undefined
      ? { from: Math.max(size - (to ?? 0), 0), to: size }
      : { from, to: Math.min((to ?? size) + 1, size) };
  return part.from < part.to ? part : undefined;
}
