/** What modules may be called, and which one an import means. */

/** What the code itself is called in positions. */
export const codeName = "code";

/** Where modules of ours are. */
export const ownFolder = "thinkery/";

const maxNameChars = 200;
const namePartPattern = /^[\p{L}\p{N}_@.+ -]+$/u;

/** Why a module may not have this name. */
export function explainInvalidName(name: string): string | undefined {
  if (name === "") return "A module has no name.";
  if (name.length > maxNameChars)
    return `A module has a name of more than ${maxNameChars} characters: “${name.slice(0, 40)}…”.`;
  if (name === codeName || name.startsWith(ownFolder))
    return `A module cannot be called “${name}”: the sandbox uses that name itself.`;
  const parts = name.split("/");
  if (parts.every((part) => namePartPattern.test(part) && ![".", "..", "__proto__"].includes(part))) return undefined;
  return `“${name}” is no name for a module. Names are relative paths like “util.js” or “lib/parse.ts”.`;
}

/** `./util.js` and `util.js` are the same module. */
export function stripDot(name: string): string {
  return name.startsWith("./") ? name.slice(2) : name;
}

/** Endings that may be left out, and what else a folder is asked for. */
const completions = ["", ".ts", ".js", ".mts", ".mjs", ".json", "/index.ts", "/index.js"];

/** Which of the modules is meant, if any; none has a name with a colon. TypeScript is also found under the name it would have as JavaScript. */
export function resolveModule(specifier: string, importer: string, has: (name: string) => boolean): string | undefined {
  return listCandidates(specifier, importer).find(has);
}

/** Where a file may be that is imported by a path; nothing where that is outside, or no path. */
export function listFileCandidates(specifier: string, importer: string): string[] {
  return /^(?:\.\.?)?\//.test(specifier) ? listCandidates(specifier, importer) : [];
}

function listCandidates(specifier: string, importer: string): string[] {
  const path = resolvePath(specifier, importer);
  if (path === undefined || path === "") return [];
  // Code may know the workspace by the folder that shells know it by.
  const inside = specifier.startsWith("/work/") ? [path, path.slice("work/".length)] : [path];
  return inside.flatMap((one) => {
    const script = /^(.*)\.(m?)js$/.exec(one);
    return [...completions.map((completion) => one + completion), ...(script ? [`${script[1]}.${script[2]}ts`] : [])];
  });
}

function resolvePath(specifier: string, importer: string): string | undefined {
  const isRelative = /^\.\.?(\/|$)/.test(specifier);
  const parts = isRelative ? importer.split("/").slice(0, -1) : [];
  for (const part of specifier.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

/** In words: there is no such file. */
export function describeMissingFile(specifier: string, importer: string): string {
  const [path] = listFileCandidates(specifier, importer);
  const shown = specifier.slice(0, 200);
  return path === undefined
    ? `“${shown}” is outside of the workspace`
    : `There is no file “${(specifier.startsWith("/work/") ? path.slice("work/".length) : path).slice(0, 200)}” in the workspace`;
}

/** In words: nothing is there under this name, but what is. */
export function describeMissingModule(specifier: string, names: readonly string[]): string {
  const given =
    names
      .slice(0, 10)
      .map((name) => `“${name}”`)
      .join(", ") + (names.length > 10 ? ` and ${names.length - 10} more` : "");
  const why = /^[a-z][a-z\d+.-]*:/i.test(specifier)
    ? "Code here runs without the modules of a platform"
    : "Only modules that were given can be imported";
  return `There is no module “${specifier.slice(0, 200)}”. ${why}; ${names.length > 0 ? `given: ${given}` : "none was given"}.`;
}
