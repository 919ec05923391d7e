import { fail } from "@thinkery/sdk";

interface FieldDefinition {
  name: string;
  min: number;
  max: number;
  /** Names that may be used in place of numbers, from `min` on. */
  names?: readonly string[];
}

const months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const fields: readonly FieldDefinition[] = [
  { name: "second", min: 0, max: 59 },
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of the month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: months },
  { name: "day of the week", min: 0, max: 7, names: weekdays },
];

const aliases: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** A cron expression: the values that each field allows, in ascending order. */
export interface Cron {
  seconds: readonly number[];
  minutes: readonly number[];
  hours: readonly number[];
  days: readonly number[];
  months: ReadonlySet<number>;
  weekdays: ReadonlySet<number>;
  /** If both day fields are restricted, a day that either of them allows matches. */
  matchesEitherDay: boolean;
}

const example =
  "Use five fields, such as “0 9 * * 1-5” (minute, hour, day, month, weekday), or six with seconds first.";

/** Throws an error that names the field and its position. */
export function parseCron(text: string): Cron {
  const trimmed = text.trim();
  const expression = trimmed.startsWith("@") ? aliases[trimmed.toLowerCase()] : trimmed;
  if (expression === undefined) {
    throw fail("bad_request", `“${trimmed}” is not known. Use one of ${Object.keys(aliases).join(", ")}.`);
  }
  const parts = expression.split(/\s+/).filter((part) => part !== "");
  if (parts.length !== 5 && parts.length !== 6) {
    const count = parts.length === 1 ? "1 field" : `${parts.length} fields`;
    throw fail("bad_request", `“${text}” is neither an ISO date nor a cron expression: it has ${count}. ${example}`);
  }
  const offset = 6 - parts.length;
  const parse = (index: number): Set<number> => {
    if (index < offset) return new Set([0]);
    const part = parts[index - offset] ?? "";
    try {
      return parseField(part, fields[index]!);
    } catch (error) {
      const { name } = fields[index]!;
      const reason = error instanceof Error ? error.message : String(error);
      throw fail(
        "bad_request",
        `Field ${index - offset + 1} (${name}) of the cron expression is “${part}”: ${reason}.`,
      );
    }
  };
  const [seconds, minutes, hours, days, allowedMonths, allowedWeekdays] = fields.map((_, index) => parse(index));
  if (allowedWeekdays!.delete(7)) allowedWeekdays!.add(0);
  const isStar = (index: number) => /^[*?]/.test(parts[index - offset] ?? "");
  return {
    seconds: toSorted(seconds!),
    minutes: toSorted(minutes!),
    hours: toSorted(hours!),
    days: toSorted(days!),
    months: allowedMonths!,
    weekdays: allowedWeekdays!,
    matchesEitherDay: !isStar(3) && !isStar(5),
  };
}

const toSorted = (values: Set<number>) => [...values].sort((one, other) => one - other);

function parseField(text: string, field: FieldDefinition): Set<number> {
  const values = new Set<number>();
  for (const item of text.split(",")) {
    const [range = "", stepText, ...rest] = item.split("/");
    const step = stepText === undefined ? 1 : Number(stepText);
    if (rest.length > 0 || !/^\d+$/.test(stepText ?? "1") || step < 1) throw new Error("the step must be at least 1");
    const [from, to] = parseRange(range, field, stepText !== undefined);
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

function parseRange(text: string, field: FieldDefinition, hasStep: boolean): [from: number, to: number] {
  const max = field.names === weekdays ? 6 : field.max;
  if (text === "*" || text === "?") return [field.min, max];
  const ends = text.split("-");
  if (ends.length > 2) throw new Error("a range has two ends");
  const [from, to = hasStep ? max : from] = ends.map((end) => parseValue(end, field)) as [number, number?];
  if (to < from) throw new Error("the range ends before it starts");
  return [from, to];
}

function parseValue(text: string, { min, max, names }: FieldDefinition): number {
  const index = names?.indexOf(text.toUpperCase()) ?? -1;
  if (index >= 0) return min + index;
  const value = Number(text);
  if (/^\d{1,2}$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`expected ${min} to ${max}${names ? `, or ${names[0]} to ${names.at(-1)}` : ""}`);
}
