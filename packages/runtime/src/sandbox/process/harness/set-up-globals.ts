import { resolveModule, describeMissingModule } from "../names.ts";
import { markUnavailable, defineGlobal } from "./absent.ts";
import { createTextConsole } from "./console.ts";
import { inspect } from "./inspect.ts";
import type { HarnessSettings } from "./settings.ts";
import {
  describe,
  type FindPosition,
  isError,
  installStackMapping,
  createColumnFinder,
  describeNonError,
} from "./trace.ts";
import { type UncaughtErrors, watchUncaught } from "./uncaught.ts";

/** Names of existing modules. Has no prototype, so that code cannot add names by changing Object.prototype. */
const knownModules = Object.create(null) as Record<string, true>;

/** Prepares an isolate before it loads code whose modules we have rewritten. */
export function setUpGlobals({ columnMaps, names }: HarnessSettings, write: (text: string) => void): UncaughtErrors {
  for (const name of names) knownModules[name] = true;
  return setUpIsolate(createColumnFinder(columnMaps), write);
}

/** Prepares an isolate before it loads the user's code. */
export function setUpIsolate(findPosition: FindPosition, write: (text: string) => void): UncaughtErrors {
  installStackMapping(findPosition);
  markUnavailable();
  defineGlobal("console", createTextConsole(write, { describe }));
  return watchUncaught((error) => write(`Uncaught: ${describeThrown(error)}\n`));
}

/** Describes a thrown value for the author of the code. */
export function describeThrown(thrown: unknown): string {
  return isError(thrown) ? describe(thrown) : describeNonError(inspect(thrown, { describe, depth: 2, maxChars: 2000 }));
}

const maxOutcomeChars = 19_000;

/** Shortens a description to what an outcome may have. */
export function truncateOutcome(message: string): string {
  return message.slice(0, maxOutcomeChars).toWellFormed();
}

/**
 * Replaces `import()` in the user's code: finds only modules that were passed along, whatever specifier is computed.
 */
export function importFrom(importer: string): (specifier: unknown) => Promise<unknown> {
  return async (specifier) => {
    const text = `${specifier}`;
    const name = resolveModule(text, importer, (name) => knownModules[name] === true);
    // Checked again, because code may have replaced the functions that resolveModule uses.
    if (typeof name !== "string" || knownModules[name] !== true)
      throw new Error(describeMissingModule(text, Object.keys(knownModules)));
    return import(`/${name}`);
  };
}
