import { type ColumnMap, toSourceColumn } from "../column-map.ts";
import { codeName } from "../names.ts";

/** By file name. */
export type ColumnMaps = Record<string, ColumnMap>;

const framePattern = /^ +at (async )?(?:(.+?) \()?(.+?):(\d+):(\d+)\)?$/;
const maxMessageChars = 8000;
const maxCauseDepth = 3;

/** Returns where a position of executed text is in the source; undefined if it is not the user's. */
export type FindPosition = (file: string, row: number, column: number) => string | undefined;

/** Makes every stack in this isolate refer to the source instead of the executed text, without our own frames. */
export function installStackMapping(findPosition: FindPosition): void {
  const value = (error: Error, sites: unknown[]) =>
    [formatHeadline(error), ...sites.flatMap((site) => toSourceFrames(`    at ${String(site)}`, findPosition))].join(
      "\n",
    );
  Object.defineProperty(Error, "prepareStackTrace", { value, writable: true, configurable: true });
}

/** Finds positions in code that was changed on its way here, by its columns. */
export const createColumnFinder =
  (columnMaps: ColumnMaps): FindPosition =>
  (file, row, column) => {
    if (!Object.hasOwn(columnMaps, file)) return undefined;
    // Every file starts with one extra line of ours.
    const source = row - 1;
    return `${file}:${source}:${toSourceColumn(columnMaps[file] as ColumnMap, source, column - 1) + 1}`;
  };

function toSourceFrames(line: string, findPosition: FindPosition): string[] {
  const [, isAsync = "", caller = "", file = "", row, column] = framePattern.exec(line) ?? [];
  const at = findPosition(file, Number(row), Number(column));
  if (at === undefined) return [];
  // The function around the code is ours, so its name is omitted.
  const name = file === codeName ? caller.replace(/^(Module\.)?default$/, "") : caller.replace(/^Module\./, "");
  return [name ? `    at ${isAsync}${name} (${at})` : `    at ${at}`];
}

/** Describes an error: name, message, frames in the user's code, and causes. */
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

/** Describes a thrown value that is not an error. */
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

/** Reads a property whose getter may throw. */
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
    return "a value that cannot be shown";
  }
}

/** Rewords messages of the engine that users cannot know. */
function simplifyMessage(message: string): string {
  if (message.startsWith("Disallowed operation called within global scope")) {
    return "A module cannot use timers, tools, the network or random values while it is loaded. Use them in a function and call it from your code.";
  }
  if (message.startsWith("Code generation from strings disallowed"))
    return "Code cannot be generated from strings here (eval, new Function).";
  return message;
}

function truncateMessage(message: string): string {
  return message.length > maxMessageChars
    ? `${message.slice(0, maxMessageChars)}… (${message.length} characters)`
    : message;
}
