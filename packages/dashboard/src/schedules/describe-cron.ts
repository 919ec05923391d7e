const macros: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const dayNames = days.map((day) => day.slice(0, 3).toLowerCase());

/** Describes common cron expressions in words. Returns undefined for others. */
export function describeCron(expression: string): string | undefined {
  const text = expression.trim().toLowerCase();
  const fields = (Object.hasOwn(macros, text) ? (macros[text] ?? "") : text).split(/\s+/);
  // A first field of seconds is only understood if it is 0.
  const [minute = "", hour = "", day = "", month = "", weekday = ""] =
    fields.length === 6 && fields[0] === "0" ? fields.slice(1) : fields;
  if (fields.length < 5 || fields.length > 6 || (fields.length === 6 && fields[0] !== "0")) return undefined;
  const time = describeTime(minute, hour);
  const date = describeDate(day, month, weekday);
  if (time === undefined || date === undefined) return undefined;
  if (date === "") return time.isRepeated ? time.text : `every day ${time.text}`;
  return `${time.text}, ${date}`;
}

function describeTime(minute: string, hour: string): { text: string; isRepeated: boolean } | undefined {
  const [everyMinutes, everyHours] = [readStep(minute), readStep(hour)];
  if (hour === "*" && everyMinutes !== undefined) return { text: every(everyMinutes, "minute"), isRepeated: true };
  const at = readNumber(minute, 59);
  if (at === undefined) return undefined;
  if (everyHours !== undefined) {
    const suffix = at === 0 ? "" : ` at :${pad(at)}`;
    return { text: `${every(everyHours, "hour")}${suffix}`, isRepeated: true };
  }
  const hours = hour.split(",").map((part) => readNumber(part, 23));
  if (!hours.every((one) => one !== undefined) || hours.length > 4) return undefined;
  return { text: `at ${joinWords(hours.map((one) => `${pad(one)}:${pad(at)}`))}`, isRepeated: false };
}

/** Returns "" for every day. */
function describeDate(day: string, month: string, weekday: string): string | undefined {
  if (month !== "*") return undefined;
  if (day !== "*") {
    const number = readNumber(day, 31);
    return weekday === "*" && number ? `on day ${number} of the month` : undefined;
  }
  if (weekday === "*") return "";
  const [from, to, ...more] = weekday.split("-").map(readWeekday);
  if (from !== undefined && to !== undefined && more.length === 0) return `${days[from % 7]} to ${days[to % 7]}`;
  const list = weekday.split(",").map(readWeekday);
  if (!list.every((one) => one !== undefined)) return undefined;
  return `on ${joinWords(list.map((one) => days[one % 7] ?? ""))}`;
}

function readWeekday(text: string): number | undefined {
  const index = dayNames.indexOf(text);
  return index >= 0 ? index : readNumber(text, 7);
}

const readNumber = (text: string, max: number) =>
  /^\d{1,2}$/.test(text) && Number(text) <= max ? Number(text) : undefined;

// "*" is every one, and "*/15" every fifteenth.
function readStep(text: string): number | undefined {
  const [, step] = /^\*(?:\/([1-9]\d?))?$/.exec(text) ?? [undefined, undefined];
  return text === "*" ? 1 : step === undefined ? undefined : Number(step);
}

const every = (count: number, unit: string) => (count === 1 ? `every ${unit}` : `every ${count} ${unit}s`);
const pad = (number: number) => String(number).padStart(2, "0");
const joinWords = (words: readonly string[]) =>
  words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
