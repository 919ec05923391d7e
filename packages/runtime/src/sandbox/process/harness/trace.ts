import { type Drift, sourceColumn } from "../drift.ts";
import { codeName } from "../names.ts";

/** Errors in words, with the places in the user's own code and none of ours. */

/** By the name of a file. */
export type Drifts = Record<string, Drift>;

const frame = /^ +at (async )?(?:(.+?) \()?(.+?):(\d+):(\d+)\)?$/;
const maxMessageChars = 8000;
const deepestCause = 3;

/** From here on, every stack in this isolate has places in what was written, not in what is run. */
export function keepPlaces(drifts: Drifts): void {
  const value = (error: Error, sites: unknown[]) => [headline(error), ...sites.flatMap((site) => written(`    at ${String(site)}`, drifts))].join("\n");
  Object.defineProperty(Error, "prepareStackTrace", { value, writable: true, configurable: true });
}

function written(line: string, drifts: Drifts): string[] {
  const [, isAsync = "", caller = "", file = "", row, column] = frame.exec(line) ?? [];
  if (!Object.hasOwn(drifts, file)) return [];
  // One line of ours comes first in every file.
  const source = Number(row) - 1;
  const at = `${file}:${source}:${sourceColumn(drifts[file] as Drift, source, Number(column) - 1) + 1}`;
  // What the code itself is inside of has no name that its author knows.
  const name = file === codeName ? caller.replace(/^(Module\.)?default$/, "") : caller.replace(/^Module\./, "");
  return [name ? `    at ${isAsync}${name} (${at})` : `    at ${at}`];
}

/** Name, message, places, and what caused it. */
export function describe(error: Error, depth = 0): string {
  const own = [headline(error), ...places(error)].join("\n");
  if (depth >= deepestCause) return own;
  const errors = read(error, "errors");
  const reasons = Array.isArray(errors) ? errors.slice(0, 5) : [];
  const cause = read(error, "cause");
  if (cause !== undefined) reasons.push(cause);
  return [own, ...reasons.map((reason) => `Caused by: ${isError(reason) ? describe(reason, depth + 1) : text(reason)}`)].join("\n");
}

function headline(error: Error): string {
  const name = text(read(error, "name") ?? "Error") || "Error";
  const message = plainer(text(read(error, "message") ?? ""));
  return shortened(message ? `${name}: ${message}` : name);
}

function places(error: Error): string[] {
  const stack = read(error, "stack");
  return typeof stack === "string" ? stack.split("\n").filter((line) => frame.test(line)).slice(0, 20) : [];
}

/** What was thrown, if it is no error, in a sentence. */
export function notAnError(shown: string): string {
  return shortened(`The code threw something that is not an Error: ${shown}`);
}

export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

/** A property that may do anything when it is read. */
function read(owner: object, name: string): unknown {
  try {
    return (owner as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

function text(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "something that cannot be shown";
  }
}

/** What the engine says in words of its own world. */
function plainer(message: string): string {
  if (message.startsWith("Disallowed operation called within global scope")) {
    return "A module cannot wait for timers, tools or the network while it is loaded, nor use random values: do that in a function and call it from your code.";
  }
  if (message.startsWith("Code generation from strings disallowed")) return "Code cannot be made from strings here (eval, new Function).";
  return message;
}

function shortened(message: string): string {
  return message.length > maxMessageChars ? `${message.slice(0, maxMessageChars)}… (${message.length} characters)` : message;
}
