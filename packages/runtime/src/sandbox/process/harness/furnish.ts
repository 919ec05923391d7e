import { meant, nothingCalled } from "../names.ts";
import { markAbsent, put } from "./absent.ts";
import { textConsole } from "./console.ts";
import { inspect } from "./inspect.ts";
import type { Setting } from "./setting.ts";
import { describe, isError, keepPlaces, notAnError } from "./trace.ts";
import { type Uncaught, watchUncaught } from "./uncaught.ts";

/** What an isolate has before any code of the user is in it. */

/** By their names, without a prototype: nothing that the code changes makes a name of another one. */
const given = Object.create(null) as Record<string, true>;

export function furnish({ drifts, names }: Setting, write: (text: string) => void): Uncaught {
  for (const name of names) given[name] = true;
  keepPlaces(drifts);
  markAbsent();
  put("console", textConsole(write, { describe }));
  return watchUncaught((error) => write(`Uncaught: ${told(error)}\n`));
}

/** Something that was thrown, in words for whoever wrote the code. */
export function told(thrown: unknown): string {
  return isError(thrown) ? describe(thrown) : notAnError(inspect(thrown, { describe, depth: 2, room: 2000 }));
}

/** What `import()` is in the user's code: only modules that were given are found, whatever name was computed. */
export function importFrom(importer: string): (specifier: unknown) => Promise<unknown> {
  return async (specifier) => {
    const asked = `${specifier}`;
    const name = meant(asked, importer, (name) => given[name] === true);
    // Asked again, because what the search is made of may be the code's own by now.
    if (typeof name !== "string" || given[name] !== true) throw new Error(nothingCalled(asked, Object.keys(given)));
    return import(`/${name}`);
  };
}
