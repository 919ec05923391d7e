/** The name of the code itself in positions. */
export const codeName = "code";

/** The module with the code of a user agent. */
export const agentModule = "agent.js";

/** The folder of our own modules. */
export const ownFolder = "thinkery/";

const maxNameChars = 200;
const namePartPattern = /^[\p{L}\p{N}_@.+ -]+$/u;

/** Returns why a module cannot have this name, if so. */
export function explainInvalidName(name: string): string | undefined {
  if (name === "") return "A module has no name.";
  if (name.length > maxNameChars)
    return `A module name has more than ${maxNameChars} characters: “${name.slice(0, 40)}…”.`;
  if (name === codeName || name.startsWith(ownFolder))
    return `A module cannot be named “${name}”: the sandbox uses that name itself.`;
  const parts = name.split("/");
  if (parts.every((part) => namePartPattern.test(part) && ![".", "..", "__proto__"].includes(part))) return undefined;
  return `“${name}” is not a valid module name. Use a relative path such as “util.js” or “lib/parse.ts”.`;
}

/** `./util.js` and `util.js` are the same module. */
export function stripDot(name: string): string {
  return name.startsWith("./") ? name.slice(2) : name;
}

/** Extensions that may be omitted, and the index files of a folder. */
const completions = ["", ".ts", ".js", ".mts", ".mjs", ".json", "/index.ts", "/index.js"];

/** Returns the module that a specifier refers to, if any. A `.ts` file is also found as `.js`. */
export function resolveModule(specifier: string, importer: string, has: (name: string) => boolean): string | undefined {
  return listCandidates(specifier, importer).find(has);
}

/** Returns where an imported file may be; empty if the specifier is not a path or leads outside the workspace. */
export function listFileCandidates(specifier: string, importer: string): string[] {
  return /^(?:\.\.?)?\//.test(specifier) ? listCandidates(specifier, importer) : [];
}

function listCandidates(specifier: string, importer: string): string[] {
  const path = resolvePath(specifier, importer);
  if (path === undefined || path === "") return [];
  // Shells see the workspace as /work, so code may use that path, too.
  const paths = specifier.startsWith("/work/") ? [path, path.slice("work/".length)] : [path];
  return paths.flatMap((base) => {
    const script = /^(.*)\.(m?)js$/.exec(base);
    return [...completions.map((completion) => base + completion), ...(script ? [`${script[1]}.${script[2]}ts`] : [])];
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

export function describeMissingFile(specifier: string, importer: string): string {
  const [path] = listFileCandidates(specifier, importer);
  const shown = specifier.slice(0, 200);
  return path === undefined
    ? `“${shown}” is outside the workspace`
    : `There is no file “${(specifier.startsWith("/work/") ? path.slice("work/".length) : path).slice(0, 200)}” in the workspace`;
}

export function describeMissingModule(specifier: string, names: readonly string[]): string {
  const provided =
    names
      .slice(0, 10)
      .map((name) => `“${name}”`)
      .join(", ") + (names.length > 10 ? ` and ${names.length - 10} more` : "");
  const reason = /^[a-z][a-z\d+.-]*:/i.test(specifier)
    ? "Platform modules are not available here"
    : "Only modules that were passed along can be imported";
  return `There is no module “${specifier.slice(0, 200)}”. ${reason}; ${names.length > 0 ? `available: ${provided}` : "there are none"}.`;
}
