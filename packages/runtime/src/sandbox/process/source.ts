import type { App, Job } from "../run.ts";
import type { ColumnMap } from "./column-map.ts";
import { toFunctionModule } from "./function-module.ts";
import { toModule, listExportedNames, listImports } from "./module.ts";
import {
  codeName,
  listFileCandidates,
  resolveModule,
  explainInvalidName,
  describeMissingFile,
  stripDot,
} from "./names.ts";
import { type Language, type ParsedSource, parseSource } from "./parse.ts";
import { createSyntaxError, createSyntaxErrorAt, SourceError } from "./source-error.ts";
import type { Stripper } from "./typescript.ts";

/** What was written, as modules that a Worker can be loaded with. */

export type LoadedModule = { js: string } | { json: unknown } | { text: string };

export interface PreparedCode {
  modules: Record<string, LoadedModule>;
  /** Of every file with code: what moved within its lines. */
  drifts: Record<string, ColumnMap>;
  /** As they were given, to be shown where something is wrong. */
  given: Record<string, string>;
}

const maxModules = 100;
const maxSourceBytes = 1024 * 1024;

/** Answers the first of these files of the workspace that there is. */
export type ModuleFinder = (paths: readonly string[]) => Promise<{ path: string; text: string } | undefined>;

/** Where there is a workspace, its files can be imported by their paths, and what is given by name comes first. */
export async function prepareJob(
  { code, modules }: Pick<Job, "code" | "modules">,
  stripper: Stripper,
  find?: ModuleFinder,
): Promise<PreparedCode & { exportsDefault: boolean }> {
  const files = await readFiles(modules, code, stripper);
  const body = await parseSource(codeName, normalizeLineEnds(code), "either", true, stripper);
  if (find) await addImported(files, body, find, stripper);
  const { text, exportsDefault } = toFunctionModule(body, files.exports);
  const prepared = assemble(files);
  prepared.modules[codeName] = { js: text };
  prepared.drifts[codeName] = body.drift;
  prepared.given[codeName] = body.given;
  return { ...prepared, exportsDefault };
}

export async function prepareApp(
  { modules, main }: Pick<App, "modules" | "main">,
  stripper: Stripper,
): Promise<PreparedCode & { main: string }> {
  const files = await readFiles(modules, "", stripper);
  const name = stripDot(main);
  if (!files.scripts.has(name))
    throw new SourceError("syntax", `The app has no module “${name}” with code, which is to be its main module.`);
  return { ...assemble(files), main: name };
}

interface Files {
  bytes: number;
  scripts: Map<string, ParsedSource>;
  data: Map<string, Exclude<LoadedModule, { js: string }>>;
  exports: Map<string, ReadonlySet<string> | undefined>;
}

async function readFiles(modules: Record<string, string>, code: string, stripper: Stripper): Promise<Files> {
  const entries = Object.entries(modules).map(([name, text]) => [stripDot(name), text] as const);
  if (entries.length > maxModules)
    throw new SourceError("limit", `There are ${entries.length} modules; there may be ${maxModules}.`);
  const bytes = [code, ...Object.values(modules)].reduce((sum, text) => sum + countBytes(text), 0);
  if (bytes > maxSourceBytes)
    throw new SourceError(
      "limit",
      `Code and modules have ${bytes} bytes in all; they may have ${maxSourceBytes}. Hand over data as input, or read it through tools.`,
    );
  const files: Files = { bytes, scripts: new Map(), data: new Map(), exports: new Map() };
  for (const [name, given] of entries) {
    const why =
      explainInvalidName(name) ?? (files.exports.has(name) ? `There are two modules called “${name}”.` : undefined);
    if (why) throw new SourceError("syntax", why);
    await addFile(files, name, given, stripper);
  }
  return files;
}

async function addFile(
  files: Files,
  name: string,
  given: string,
  stripper: Stripper,
): Promise<ParsedSource | undefined> {
  const language = getLanguage(name);
  if (language) files.scripts.set(name, await parseSource(name, normalizeLineEnds(given), language, false, stripper));
  else files.data.set(name, name.endsWith(".json") ? { json: parseData(name, given) } : { text: given });
  const script = files.scripts.get(name);
  files.exports.set(name, script ? listExportedNames(script) : new Set(["default"]));
  return script;
}

/** What the code imports of the workspace, and what that imports, and so on. */
async function addImported(files: Files, body: ParsedSource, find: ModuleFinder, stripper: Stripper): Promise<void> {
  const left = [body, ...files.scripts.values()];
  for (let next = left.shift(); next; next = left.shift()) {
    const importer = next;
    for (const { specifier, start, isCertain } of listImports(importer)) {
      if (
        resolveModule(specifier, importer.name, (name) => files.exports.has(name)) !== undefined ||
        !/^\.{0,2}\//.test(specifier)
      )
        continue;
      const paths = listFileCandidates(specifier, importer.name);
      const found = paths.length > 0 ? await find(paths) : undefined;
      // Whether an import in mid-code is ever made is not known; if it is, it fails there.
      if (!found && !isCertain) continue;
      if (!found) throw createSyntaxError(importer, start, describeMissingFile(specifier, importer.name));
      const why = explainInvalidName(found.path);
      if (why) throw createSyntaxError(importer, start, why.replace(/\.$/, ""));
      files.bytes += countBytes(found.text);
      if (files.exports.size >= maxModules || files.bytes > maxSourceBytes) {
        throw new SourceError(
          "limit",
          `The code and all that it imports are too much: there may be ${maxModules} modules, with ${maxSourceBytes} bytes in all. Read data through tools.`,
        );
      }
      const script = await addFile(files, found.path, found.text, stripper);
      if (script) left.push(script);
    }
  }
}

function countBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** What is written in no language of ours is data. */
function getLanguage(name: string): Language | undefined {
  const ending = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase();
  if (ending === undefined) return "either";
  if (ending === "js" || ending === "mjs") return "javascript";
  if (ending === "ts" || ending === "mts") return "typescript";
  if (["jsx", "tsx", "cjs", "cts"].includes(ending)) {
    throw new SourceError(
      "syntax",
      `“${name}” cannot be run here: modules are ES modules in JavaScript (.js) or TypeScript (.ts), without JSX.`,
    );
  }
  return undefined;
}

function parseData(name: string, given: string): unknown {
  try {
    return JSON.parse(given);
  } catch (error) {
    const { message } = error as Error;
    const offset = Number(/at position (\d+)/.exec(message)?.[1] ?? given.length);
    const before = given.slice(0, offset).split("\n");
    throw createSyntaxErrorAt(
      name,
      given,
      before.length,
      before.at(-1)?.length ?? 0,
      message.replace(/ at position.*| in JSON.*/, "").replace(/, ?(\.\.\.)?".*/s, ""),
    );
  }
}

function assemble({ scripts, data, exports }: Files): PreparedCode {
  const prepared: PreparedCode = { modules: Object.fromEntries(data), drifts: {}, given: {} };
  for (const [name, script] of scripts) {
    prepared.modules[name] = { js: toModule(script, exports) };
    prepared.drifts[name] = script.drift;
    prepared.given[name] = script.given;
  }
  return prepared;
}

/** Every engine counts its lines, and reads its template strings, as if they had ended like this. */
function normalizeLineEnds(given: string): string {
  return given.replace(/\r\n?/g, "\n");
}
