import type { App, Job } from "../run.ts";
import { asBody } from "./body.ts";
import type { Drift } from "./drift.ts";
import { asModule, exportedNames, importedBy } from "./module.ts";
import { codeName, filesMeant, meant, misnamed, noFile, withoutDot } from "./names.ts";
import { type Language, type Parsed, parsed } from "./parse.ts";
import { misread, misreadAt, Problem } from "./problem.ts";
import type { Stripper } from "./typescript.ts";

/** What was written, as modules that a Worker can be loaded with. */

export type LoadedModule = { js: string } | { json: unknown } | { text: string };

export interface Prepared {
  modules: Record<string, LoadedModule>;
  /** Of every file with code: what moved within its lines. */
  drifts: Record<string, Drift>;
  /** As they were given, to be shown where something is wrong. */
  given: Record<string, string>;
}

const maxModules = 100;
const maxSourceBytes = 1024 * 1024;

/** Answers the first of these files of the workspace that there is. */
export type Finder = (paths: readonly string[]) => Promise<{ path: string; text: string } | undefined>;

/** Where there is a workspace, its files can be imported by their paths, and what is given by name comes first. */
export async function prepareJob({ code, modules }: Pick<Job, "code" | "modules">, stripper: Stripper, find?: Finder): Promise<Prepared & { exportsDefault: boolean }> {
  const files = await readFiles(modules, code, stripper);
  const body = await parsed(codeName, lines(code), "either", true, stripper);
  if (find) await addImported(files, body, find, stripper);
  const { text, exportsDefault } = asBody(body, files.exports);
  const prepared = assemble(files);
  prepared.modules[codeName] = { js: text };
  prepared.drifts[codeName] = body.drift;
  prepared.given[codeName] = body.given;
  return { ...prepared, exportsDefault };
}

export async function prepareApp({ modules, main }: Pick<App, "modules" | "main">, stripper: Stripper): Promise<Prepared & { main: string }> {
  const files = await readFiles(modules, "", stripper);
  const name = withoutDot(main);
  if (!files.scripts.has(name)) throw new Problem("syntax", `The app has no module “${name}” with code, which is to be its main module.`);
  return { ...assemble(files), main: name };
}

interface Files {
  bytes: number;
  scripts: Map<string, Parsed>;
  data: Map<string, Exclude<LoadedModule, { js: string }>>;
  exports: Map<string, ReadonlySet<string> | undefined>;
}

async function readFiles(modules: Record<string, string>, code: string, stripper: Stripper): Promise<Files> {
  const entries = Object.entries(modules).map(([name, text]) => [withoutDot(name), text] as const);
  if (entries.length > maxModules) throw new Problem("limit", `There are ${entries.length} modules; there may be ${maxModules}.`);
  const bytes = [code, ...Object.values(modules)].reduce((sum, text) => sum + sizeOf(text), 0);
  if (bytes > maxSourceBytes) throw new Problem("limit", `Code and modules have ${bytes} bytes in all; they may have ${maxSourceBytes}. Hand over data as input, or read it through tools.`);
  const files: Files = { bytes, scripts: new Map(), data: new Map(), exports: new Map() };
  for (const [name, given] of entries) {
    const why = misnamed(name) ?? (files.exports.has(name) ? `There are two modules called “${name}”.` : undefined);
    if (why) throw new Problem("syntax", why);
    await addFile(files, name, given, stripper);
  }
  return files;
}

async function addFile(files: Files, name: string, given: string, stripper: Stripper): Promise<Parsed | undefined> {
  const language = languageOf(name);
  if (language) files.scripts.set(name, await parsed(name, lines(given), language, false, stripper));
  else files.data.set(name, name.endsWith(".json") ? { json: dataOf(name, given) } : { text: given });
  const script = files.scripts.get(name);
  files.exports.set(name, script ? exportedNames(script) : new Set(["default"]));
  return script;
}

/** What the code imports of the workspace, and what that imports, and so on. */
async function addImported(files: Files, body: Parsed, find: Finder, stripper: Stripper): Promise<void> {
  const left = [body, ...files.scripts.values()];
  for (let next = left.shift(); next; next = left.shift()) {
    const importer = next;
    for (const { specifier, start, isCertain } of importedBy(importer)) {
      if (meant(specifier, importer.name, (name) => files.exports.has(name)) !== undefined || !/^\.{0,2}\//.test(specifier)) continue;
      const paths = filesMeant(specifier, importer.name);
      const found = paths.length > 0 ? await find(paths) : undefined;
      // Whether an import in mid-code is ever made is not known; if it is, it fails there.
      if (!found && !isCertain) continue;
      if (!found) throw misread(importer, start, noFile(specifier, importer.name));
      const why = misnamed(found.path);
      if (why) throw misread(importer, start, why.replace(/\.$/, ""));
      files.bytes += sizeOf(found.text);
      if (files.exports.size >= maxModules || files.bytes > maxSourceBytes) {
        throw new Problem("limit", `The code and all that it imports are too much: there may be ${maxModules} modules, with ${maxSourceBytes} bytes in all. Read data through tools.`);
      }
      const script = await addFile(files, found.path, found.text, stripper);
      if (script) left.push(script);
    }
  }
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** What is written in no language of ours is data. */
function languageOf(name: string): Language | undefined {
  const ending = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase();
  if (ending === undefined) return "either";
  if (ending === "js" || ending === "mjs") return "javascript";
  if (ending === "ts" || ending === "mts") return "typescript";
  if (["jsx", "tsx", "cjs", "cts"].includes(ending)) {
    throw new Problem("syntax", `“${name}” cannot be run here: modules are ES modules in JavaScript (.js) or TypeScript (.ts), without JSX.`);
  }
  return undefined;
}

function dataOf(name: string, given: string): unknown {
  try {
    return JSON.parse(given);
  } catch (error) {
    const { message } = error as Error;
    const offset = Number(/at position (\d+)/.exec(message)?.[1] ?? given.length);
    const before = given.slice(0, offset).split("\n");
    throw misreadAt(name, given, before.length, before.at(-1)?.length ?? 0, message.replace(/ at position.*| in JSON.*/, "").replace(/, ?(\.\.\.)?".*/s, ""));
  }
}

function assemble({ scripts, data, exports }: Files): Prepared {
  const prepared: Prepared = { modules: Object.fromEntries(data), drifts: {}, given: {} };
  for (const [name, script] of scripts) {
    prepared.modules[name] = { js: asModule(script, exports) };
    prepared.drifts[name] = script.drift;
    prepared.given[name] = script.given;
  }
  return prepared;
}

/** Every engine counts its lines, and reads its template strings, as if they had ended like this. */
function lines(given: string): string {
  return given.replace(/\r\n?/g, "\n");
}
