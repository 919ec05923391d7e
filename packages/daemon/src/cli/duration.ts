import { fail } from "@thinkery/sdk";

const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** Parses `90m`, `12h` or `30d` to seconds. */
export function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  if (!amount || !unit) throw fail("bad_request", `“${text}” is not a duration. Examples: 90m, 12h, 30d, 8w.`);
  return Number(amount) * unitSeconds[unit as keyof typeof unitSeconds];
}

/** Formats seconds with the two largest units. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts: [number, string][] = [
    [Math.floor(whole / 86_400), "d"],
    [Math.floor(whole / 3600) % 24, "h"],
    [Math.floor(whole / 60) % 60, "m"],
    [whole % 60, "s"],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first === -1) return "0s";
  const formatted = parts.slice(first, first + 2).filter(([amount]) => amount > 0);
  return formatted.map(([amount, unit]) => `${amount}${unit}`).join(" ");
}
