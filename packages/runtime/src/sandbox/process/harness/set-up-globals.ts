import { resolveModule, describeMissingModule } from "../names.ts";
import { markUnavailable, defineGlobal } from "./absent.ts";
import { createTextConsole } from "./console.ts";
import { inspect } from "./inspect.ts";
import type { HarnessSettings } from "./settings.ts";
import { describe, isError, installStackMapping, describeNonError } from "./trace.ts";
import { type UncaughtErrors, watchUncaught } from "./uncaught.ts";

/** What an isolate has before any code of the user is in it. */

/** By their names, without a prototype: nothing that the code changes makes a name of another one. */
const knownModules = Object.create(null) as Record<string, true>;

export function setUpGlobals({ drifts, names }: HarnessSettings, write: (text: string) => void): UncaughtErrors {
  for (const name of names) knownModules[name] = true;
  installStackMapping(drifts);
  markUnavailable();
  defineGlobal("console", createTextConsole(write, { describe }));
  return watchUncaught((error) => write(`Uncaught: ${describeThrown(error)}\n`));
}

/** Something that was thrown, in words for whoever wrote the code. */
export function describeThrown(thrown: unknown): string {
  return isError(thrown) ? describe(thrown) : describeNonError(inspect(thrown, { describe, depth: 2, room: 2000 }));
}

/** What `import()` is in the user's code: only modules that were given are found, whatever name was computed. */
export function importFrom(importer: string): (specifier: unknown) => Promise<unknown> {
  return async (specifier) => {
    const asked = `${specifier}`;
    const name = resolveModule(asked, importer, (name) => knownModules[name] === true);
    // Asked again, because what the search is made of may be the code's own by now.
    if (typeof name !== "string" || knownModules[name] !== true)
      throw new Error(describeMissingModule(asked, Object.keys(knownModules)));
    return import(`/${name}`);
  };
}
