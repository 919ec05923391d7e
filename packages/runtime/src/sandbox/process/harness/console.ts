import { inspect, type InspectOptions } from "./inspect.ts";
import { formatTable } from "./table.ts";

const maxLineChars = 200_000;

/** Creates a console that writes text. */
export function createTextConsole(write: (text: string) => void, options: InspectOptions): Console {
  let indent = "";
  const counts = new Map<string, number>();
  const times = new Map<string, number>();
  const show = (value: unknown) => (typeof value === "string" ? value.slice(0, maxLineChars) : inspect(value, options));
  const writeLine = (text: string) => write(`${indent}${indent ? text.replaceAll("\n", `\n${indent}`) : text}\n`);
  const log = (...values: unknown[]) => writeLine(formatValues(values, show));
  const writeElapsed = (label: string, values: unknown[]) => {
    const since = times.get(label);
    writeLine(
      [
        since === undefined ? `There is no timer “${label}”.` : `${label}: ${Math.round(Date.now() - since)}ms`,
        ...values.map(show),
      ].join(" "),
    );
  };
  return {
    log,
    info: log,
    debug: log,
    warn: log,
    error: log,
    dirxml: log,
    dir: (value: unknown) => writeLine(inspect(value, options)),
    trace: (...values: unknown[]) => {
      const [, ...frames] = options.describe(new Error("trace")).split("\n");
      writeLine(
        [["Trace", ...(values.length > 0 ? [formatValues(values, show)] : [])].join(": "), ...frames].join("\n"),
      );
    },
    assert: (condition?: unknown, ...values: unknown[]) => {
      if (!condition)
        writeLine(["Assertion failed", ...(values.length > 0 ? [formatValues(values, show)] : [])].join(": "));
    },
    table: (data: unknown, columns?: string[]) =>
      writeLine(formatTable(data, columns, (value) => inspect(value, { ...options, depth: 0 })) ?? show(data)),
    count: (label = "default") => {
      counts.set(`${label}`, (counts.get(`${label}`) ?? 0) + 1);
      writeLine(`${label}: ${counts.get(`${label}`)}`);
    },
    countReset: (label = "default") => void counts.delete(`${label}`),
    time: (label = "default") => void times.set(`${label}`, Date.now()),
    timeLog: (label = "default", ...values: unknown[]) => writeElapsed(`${label}`, values),
    timeEnd: (label = "default") => {
      writeElapsed(`${label}`, []);
      times.delete(`${label}`);
    },
    group: (...values: unknown[]) => {
      if (values.length > 0) log(...values);
      if (indent.length < 40) indent += "  ";
    },
    groupCollapsed: (...values: unknown[]) => {
      if (values.length > 0) log(...values);
      if (indent.length < 40) indent += "  ";
    },
    groupEnd: () => {
      indent = indent.slice(2);
    },
    clear() {},
    timeStamp() {},
    profile() {},
    profileEnd() {},
  } as unknown as Console;
}

/** Formats values, replacing `%s` and other directives in the first one. */
function formatValues(values: unknown[], show: (value: unknown) => string): string {
  const [first, ...others] = values;
  if (typeof first !== "string" || others.length === 0 || !first.includes("%")) return values.map(show).join(" ");
  const text = first.slice(0, maxLineChars).replace(/%([sdifjoOc%])/g, (directive: string, letter: string) => {
    if (letter === "%") return "%";
    if (others.length === 0) return directive;
    return formatDirective(letter, others.shift(), show);
  });
  return [text, ...others.map(show)].join(" ");
}

function formatDirective(letter: string, value: unknown, show: (value: unknown) => string): string {
  switch (letter) {
    case "c":
      return "";
    case "d":
    case "f":
      return typeof value === "bigint"
        ? `${value}n`
        : String(typeof value === "object" || typeof value === "symbol" ? NaN : Number(value));
    case "i":
      return typeof value === "bigint"
        ? `${value}n`
        : String(typeof value === "object" || typeof value === "symbol" ? NaN : Number.parseInt(String(value), 10));
    case "j":
      try {
        return JSON.stringify(value) ?? "undefined";
      } catch {
        return show(value);
      }
    default:
      return show(value);
  }
}
