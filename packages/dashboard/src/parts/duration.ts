const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** `3 d 4 h`, `12 min`, `8 s`: the two largest units, but seconds only below a minute. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  const parts: string[] = [];
  let remaining = whole;
  for (const [unit, size] of units.slice(0, 3)) {
    const count = Math.floor(remaining / size);
    remaining -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

/** `3 min`, `2 h`, `5 d`: only the largest unit. */
export function formatAge(milliseconds: number): string {
  if (milliseconds < 60_000) return "now";
  return formatDuration(milliseconds / 1000)
    .split(" ", 2)
    .join(" ");
}

const relativeFormat = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function formatAgo(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 60) return "just now";
  if (seconds < 3_600) return relativeFormat.format(-Math.floor(seconds / 60), "minute");
  if (seconds < 86_400) return relativeFormat.format(-Math.floor(seconds / 3_600), "hour");
  return relativeFormat.format(-Math.floor(seconds / 86_400), "day");
}

/** `in 5 min`, `in 6 d 23 h`: the time left until then. */
export function formatUntil(milliseconds: number): string {
  return milliseconds < 1000 ? "now" : `in ${formatDuration(milliseconds / 1000)}`;
}
