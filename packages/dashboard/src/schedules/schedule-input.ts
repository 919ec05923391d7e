import type { Schedule } from "@thinkery/sdk";

export const whenKinds = { every: "Every", cron: "By cron expression", at: "Once, at", in: "Once, in" } as const;

export type WhenKind = keyof typeof whenKinds;

export const units = { minutes: 60, hours: 3600, days: 86_400, seconds: 1 } as const;

export type Unit = keyof typeof units;

/** When a new schedule is due, as entered. */
export interface WhenDraft {
  kind: WhenKind;
  amount: string;
  unit: Unit;
  cron: string;
  /** As in a field for a local date and time. */
  at: string;
  timeZone: string;
}

export interface When {
  when: Schedule["when"];
  timeZone?: string;
}

/** Returns undefined while something is missing. The host checks the rest. */
export function readWhen({ kind, amount, unit, cron, at, timeZone }: WhenDraft): When | { issue: string } | undefined {
  if (kind === "cron" || kind === "at") {
    const text = (kind === "cron" ? cron : at).trim();
    const zone = timeZone.trim();
    return text === "" ? undefined : { when: text, ...(zone === "" ? {} : { timeZone: zone }) };
  }
  if (amount.trim() === "") return undefined;
  const seconds = Number(amount) * units[unit];
  if (!Number.isFinite(seconds) || seconds <= 0) return { issue: "Enter a number above 0." };
  return { when: kind === "every" ? { every: seconds } : seconds };
}
