import { formatDuration } from "../../parts/duration.ts";
import { readField } from "../call/input.ts";

/** Describes when something is due, as a model gave it: seconds, a date, a cron expression or an interval. */
export function describeWhen(when: unknown): string | undefined {
  if (typeof when === "number" || (typeof when === "string" && /^\d+(\.\d+)?$/.test(when))) {
    return Number.isFinite(Number(when)) ? `in ${formatDuration(Number(when))}` : undefined;
  }
  if (typeof when === "string") return when;
  const every = readField(when, "every");
  return typeof every === "number" && Number.isFinite(every) ? `every ${formatDuration(every)}` : undefined;
}
