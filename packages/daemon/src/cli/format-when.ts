/** Formats a time as short as it is clear: without the date if it is today. */
export function formatWhen(time: string | number, now: number, timeZone?: string): string {
  const format = (at: number | string) =>
    new Date(at).toLocaleString("sv-SE", {
      ...(timeZone === undefined ? {} : { timeZone }),
      dateStyle: "short",
      timeStyle: "short",
    });
  const [date = "", clock = ""] = format(time).split(" ");
  return format(now).startsWith(date) ? clock : `${date} ${clock}`;
}
