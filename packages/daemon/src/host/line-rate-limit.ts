interface LineRateLimit {
  maxLines: number;
  perMs: number;
  maxChars: number;
}

/** Passes on at most `maxLines` per interval and truncates long ones, so that one source cannot flood the log. */
export function limitLineRate(
  onLine: (line: string) => void,
  { maxLines, perMs, maxChars }: LineRateLimit,
  now = () => performance.now(),
): (line: string) => void {
  let intervalStart = now();
  let count = 0;
  return (line) => {
    if (now() - intervalStart >= perMs) {
      if (count > maxLines) onLine(`(${count - maxLines} more lines dropped)`);
      intervalStart = now();
      count = 0;
    }
    count++;
    if (count <= maxLines) onLine(line.length > maxChars ? `${line.slice(0, maxChars)} …(cut)` : line);
  };
}
