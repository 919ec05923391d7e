import { type ColumnMap, toSourceColumn } from "../column-map.ts";
import { codeName } from "../names.ts";

/** Errors in words, with the places in the user's own code and none of ours. */

/** By the name of a file. */
export type ColumnMaps = Record<string, ColumnMap>;

const framePattern = /^ +at (async )?(?:(.+?) \()?(.+?):(\d+):(\d+)\)?$/;
const maxMessageChars = 8000;
const maxCauseDepth = 3;

/** From here on, every stack in this isolate has places in what was written, not in what is run. */
export function installStackMapping(drifts: ColumnMaps): void {
  const value = (error: Error, sites: unknown[]) =>
    [formatHeadline(error), ...sites.flatMap((site) => toSourceFrames(`    at ${String(site)}`, drifts))].join("\n");
  Object.defineProperty(Error, "prepareStackTrace", { value, writable: true, configurable: true });
}

function toSourceFrames(line: string, drifts: ColumnMaps): string[] {
  const [, isAsync = "", caller = "", file = "", row, column] = framePattern.exec(line) ?? [];
  if (!Object.hasOwn(drifts, file)) return [];
  // One line of ours comes first in every file.
  const source = Number(row) - 1;
  const at = `${file}:${source}:${toSourceColumn(drifts[file] as ColumnMap, source, Number(column) - 1) + 1}`;
  // What the code itself is inside of has no name that its author knows.
  const name = file === codeName ? caller.replace(/^(Module\.)?default$/, "") : caller.replace(/^Module\./, "");
  return [name ? `    at ${isAsync}${name} (${at})` : `    at ${at}`];
}

/** Name, message, places, and what caused it. */
export function describe(error: Error, depth = 0): string {
  const own = [formatHeadline(error), ...listFrames(error)].join("\n");
  if (depth >= maxCauseDepth) return own;
  const errors = readProperty(error, "errors");
  const reasons = Array.isArray(errors) ? errors.slice(0, 5) : [];
  const cause = readProperty(error, "cause");
  if (cause !== undefined) reasons.push(cause);
  return [
    own,
    ...reasons.map((reason) => `Caused by: ${isError(reason) ? describe(reason, depth + 1) : toText(reason)}`),
  ].join("\n");
}

function formatHeadline(error: Error): string {
  const name = toText(readProperty(error, "name") ?? "Error") || "Error";
  const message = simplifyMessage(toText(readProperty(error, "message") ?? ""));
  return truncateMessage(message ? `${name}: ${message}` : name);
}

function listFrames(error: Error): string[] {
  const stack = readProperty(error, "stack");
  return typeof stack === "string"
    ? stack
        .split("\n")
        .filter((line) => framePattern.test(line))
        .slice(0, 20)
    : [];
}

/** What was thrown, if it is no error, in a sentence. */
export function describeNonError(shown: string): string {
  return truncateMessage(`The code threw something that is not an Error: ${shown}`);
}

export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

/** A property that may do anything when it is read. */
function readProperty(owner: object, name: string): unknown {
  try {
    return (owner as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

function toText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "something that cannot be shown";
  }
}

/** What the engine says in words of its own world. */
function simplifyMessage(message: string): string {
  if (message.startsWith("Disallowed operation called within global scope")) {
    return "A module cannot wait for timers, tools or the network while it is loaded, nor use random values: do that in a function and call it from your code.";
  }
  if (message.startsWith("Code generation from strings disallowed"))
    return "Code cannot be made from strings here (eval, new Function).";
  return message;
}

function truncateMessage(message: string): string {
  return message.length > maxMessageChars
    ? `${message.slice(0, maxMessageChars)}… (${message.length} characters)`
    : message;
}
