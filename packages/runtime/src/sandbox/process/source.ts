import type { App, Job } from "../run.ts";
import { asBody } from "./body.ts";
import type { Drift } from "./drift.ts";
import { asModule, exportedNames } from "./module.ts";
import { codeName, misnamed, withoutDot } from "./names.ts";
import { type Language, type Parsed, parsed } from "./parse.ts";
import { misreadAt, Problem } from "./problem.ts";
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

const mostModules = 100;
const mostBytes = 1024 * 1024;

export async function prepareJob({ code, modules }: Pick<Job, "code" | "modules">, stripper: Stripper): Promise<Prepared & { exportsDefault: boolean }> {
  const files = await readFiles(modules, code, stripper);
  const body = await parsed(codeName, lines(code), "either", true, stripper);
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
  scripts: Map<string, Parsed>;
  data: Map<string, Exclude<LoadedModule, { js: string }>>;
  exports: Map<string, ReadonlySet<string> | undefined>;
}

async function readFiles(modules: Record<string, string>, code: string, stripper: Stripper): Promise<Files> {
  const entries = Object.entries(modules).map(([name, text]) => [withoutDot(name), text] as const);
  if (entries.length > mostModules) throw new Problem("limit", `There are ${entries.length} modules; there may be ${mostModules}.`);
  const bytes = [code, ...Object.values(modules)].reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
  if (bytes > mostBytes) throw new Problem("limit", `Code and modules have ${bytes} bytes in all; they may have ${mostBytes}. Hand over data as input, or read it through tools.`);
  const files: Files = { scripts: new Map(), data: new Map(), exports: new Map() };
  for (const [name, given] of entries) {
    const why = misnamed(name) ?? (files.exports.has(name) ? `There are two modules called “${name}”.` : undefined);
    if (why) throw new Problem("syntax", why);
    const language = languageOf(name);
    if (language) files.scripts.set(name, await parsed(name, lines(given), language, false, stripper));
    else files.data.set(name, name.endsWith(".json") ? { json: dataOf(name, given) } : { text: given });
    const script = files.scripts.get(name);
    files.exports.set(name, script ? exportedNames(script) : new Set(["default"]));
  }
  return files;
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
