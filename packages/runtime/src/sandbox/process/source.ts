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

/** A module as the Worker Loader takes it. */
export type LoadedModule = { js: string } | { json: unknown } | { text: string };

export interface PreparedCode {
  modules: Record<string, LoadedModule>;
  /** For every file with code. */
  columnMaps: Record<string, ColumnMap>;
  /** The original sources, quoted in errors. */
  sources: Record<string, string>;
}

const maxModules = 100;
const maxSourceBytes = 1024 * 1024;

/** Returns the first of these files that exists in the workspace. */
export type ModuleFinder = (paths: readonly string[]) => Promise<{ path: string; text: string } | undefined>;

/** Prepares code for its isolate. With `find`, it can import workspace files by path; modules of the job come first. */
export async function prepareJob(
  { code, modules }: Pick<Job, "code" | "modules">,
  stripper: Stripper,
  find?: ModuleFinder,
): Promise<PreparedCode & { exportsDefault: boolean }> {
  const files = await readFiles(modules, code, stripper);
  const body = await parseSource(codeName, normalizeLineEndings(code), "either", true, stripper);
  if (find) await addImported(files, body, find, stripper);
  const { text, exportsDefault } = toFunctionModule(body, files.exports);
  const prepared = assemble(files);
  prepared.modules[codeName] = { js: text };
  prepared.columnMaps[codeName] = body.columnMap;
  prepared.sources[codeName] = body.source;
  return { ...prepared, exportsDefault };
}

export async function prepareApp(
  { modules, main }: Pick<App, "modules" | "main">,
  stripper: Stripper,
): Promise<PreparedCode & { main: string }> {
  const files = await readFiles(modules, "", stripper);
  const name = stripDot(main);
  if (!files.scripts.has(name))
    throw new SourceError("syntax", `The app has no module “${name}” with code. It is the app's main module.`);
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
    throw new SourceError("limit", `There are ${entries.length} modules; the limit is ${maxModules}.`);
  const bytes = [code, ...Object.values(modules)].reduce((sum, text) => sum + countBytes(text), 0);
  if (bytes > maxSourceBytes)
    throw new SourceError(
      "limit",
      `Code and modules have ${bytes} bytes in total; the limit is ${maxSourceBytes}. Pass data as input, or read it with tools.`,
    );
  const files: Files = { bytes, scripts: new Map(), data: new Map(), exports: new Map() };
  for (const [name, source] of entries) {
    const issue =
      explainInvalidName(name) ?? (files.exports.has(name) ? `There are two modules named “${name}”.` : undefined);
    if (issue) throw new SourceError("syntax", issue);
    await addFile(files, name, source, stripper);
  }
  return files;
}

async function addFile(
  files: Files,
  name: string,
  source: string,
  stripper: Stripper,
): Promise<ParsedSource | undefined> {
  const language = getLanguage(name);
  if (language)
    files.scripts.set(name, await parseSource(name, normalizeLineEndings(source), language, false, stripper));
  else files.data.set(name, name.endsWith(".json") ? { json: parseData(name, source) } : { text: source });
  const script = files.scripts.get(name);
  files.exports.set(name, script ? listExportedNames(script) : new Set(["default"]));
  return script;
}

/** Adds the workspace files that the code imports, transitively. */
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
      // An `import()` may never be executed; if it is, it fails at run time.
      if (!found && !isCertain) continue;
      if (!found) throw createSyntaxError(importer, start, describeMissingFile(specifier, importer.name));
      const issue = explainInvalidName(found.path);
      if (issue) throw createSyntaxError(importer, start, issue.replace(/\.$/, ""));
      files.bytes += countBytes(found.text);
      if (files.exports.size >= maxModules || files.bytes > maxSourceBytes) {
        throw new SourceError(
          "limit",
          `The code and its imports are too large: the limit is ${maxModules} modules with ${maxSourceBytes} bytes in total. Read data with tools.`,
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

/** Returns undefined for data. */
function getLanguage(name: string): Language | undefined {
  const extension = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase();
  if (extension === undefined) return "either";
  if (extension === "js" || extension === "mjs") return "javascript";
  if (extension === "ts" || extension === "mts") return "typescript";
  if (["jsx", "tsx", "cjs", "cts"].includes(extension)) {
    throw new SourceError(
      "syntax",
      `“${name}” cannot be run here: modules are ES modules in JavaScript (.js) or TypeScript (.ts), without JSX.`,
    );
  }
  return undefined;
}

function parseData(name: string, source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    const { message } = error as Error;
    const offset = Number(/at position (\d+)/.exec(message)?.[1] ?? source.length);
    const before = source.slice(0, offset).split("\n");
    throw createSyntaxErrorAt(
      name,
      source,
      before.length,
      before.at(-1)?.length ?? 0,
      message.replace(/ at position.*| in JSON.*/, "").replace(/, ?(\.\.\.)?".*/s, ""),
    );
  }
}

function assemble({ scripts, data, exports }: Files): PreparedCode {
  const prepared: PreparedCode = { modules: Object.fromEntries(data), columnMaps: {}, sources: {} };
  for (const [name, script] of scripts) {
    prepared.modules[name] = { js: toModule(script, exports) };
    prepared.columnMaps[name] = script.columnMap;
    prepared.sources[name] = script.source;
  }
  return prepared;
}

/** Engines count lines, and read template strings, as if all lines ended in `\n`. */
function normalizeLineEndings(source: string): string {
  return source.replace(/\r\n?/g, "\n");
}
