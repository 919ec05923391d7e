interface LineRateLimit {
  lines: number;
  perMs: number;
  longest: number;
}

/** Lets so many lines through in a while, and cuts long ones: whoever says them must not fill the log, or push others out of it. */
export function limitLineRate(
  onLine: (line: string) => void,
  { lines, perMs, longest }: LineRateLimit,
  now = () => performance.now(),
): (line: string) => void {
  let since = now();
  let said = 0;
  return (line) => {
    if (now() - since >= perMs) {
      if (said > lines) onLine(`(${said - lines} more lines are not kept)`);
      since = now();
      said = 0;
    }
    said++;
    if (said <= lines) onLine(line.length > longest ? `${line.slice(0, longest)} …(cut)` : line);
  };
}
