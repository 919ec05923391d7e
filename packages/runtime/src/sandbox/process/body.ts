import type { ExportDefaultDeclaration, ExportNamedDeclaration, ModuleDeclaration, Statement } from "acorn";
import { blank, type Edit, edited, unusedName } from "./drift.ts";
import { type Exports, importsOf } from "./module.ts";
import type { Parsed } from "./parse.ts";
import { misread } from "./problem.ts";

/** Code that is the body of an async function, as a module that exports that function. */

export interface Body {
  text: string;
  /** Did the code say what its result is by `export default`? If that is a function, it is to be called. */
  exportsDefault: boolean;
}

export function asBody(parsed: Parsed, exports: Exports): Body {
  const { head, edits } = importsOf(parsed, exports);
  const result = resultOf(parsed);
  const opening = `${head.join("")}export default async function(${result.parameter ?? ""}){`;
  const closing = result.returned ? `;return ${result.returned}}` : "}";
  return { text: `${opening}\n${edited(parsed.text, [...edits, ...result.edits])}\n${closing}`, exportsDefault: result.returned !== undefined };
}

interface Result {
  edits: Edit[];
  /** What the function gives back at its end. */
  returned?: string;
  /** Holds what was exported, until the end. */
  parameter?: string;
}

/** A function exports nothing: what was to be exported stays inside, and what is the default export is returned. */
function resultOf(parsed: Parsed): Result {
  const { program, text } = parsed;
  const result: Result = { edits: [] };
  const first = program.body.find(isExport);
  for (const statement of program.body) {
    if (statement.type === "ExportDefaultDeclaration") Object.assign(result, defaultExport(text, statement, result.edits));
    if (statement.type !== "ExportNamedDeclaration") continue;
    const named = statement.specifiers.find(({ exported }) => exported.type === "Identifier" && exported.name === "default");
    if (named && statement.source) throw misread(parsed, statement.start, "Import what is to be the result, and return it");
    if (named?.local.type === "Identifier") result.returned = named.local.name;
    if (!statement.source) result.edits.push(blank(text, statement.start, statement.declaration?.start ?? statement.end));
  }
  if (first && result.returned === undefined) {
    throw misread(parsed, first.start, "The code exports something, but not its result: return the result, or export it as default");
  }
  return result;
}

function isExport(statement: Statement | ModuleDeclaration): statement is ExportNamedDeclaration {
  return statement.type === "ExportNamedDeclaration" || statement.type === "ExportAllDeclaration" || statement.type === "ExportDefaultDeclaration";
}

function defaultExport(text: string, { start, declaration }: ExportDefaultDeclaration, edits: Edit[]): Pick<Result, "returned" | "parameter"> {
  const isDeclared = declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration";
  if (isDeclared && declaration.id) {
    edits.push(blank(text, start, declaration.start));
    return { returned: declaration.id.name };
  }
  const name = unusedName(text, "main");
  if (!isDeclared) {
    edits.push(blank(text, start, declaration.start, `${name}=`));
    return { returned: name, parameter: name };
  }
  // A declaration needs a name; there is room for it where “export default” was.
  const keyword = /^(async\s+function|function)(\s*\*)?|^class/.exec(text.slice(declaration.start))?.[0] ?? "";
  const end = declaration.start + keyword.length;
  const lines = blank(text, start, declaration.start).text.split("\n");
  lines.push(`${lines.pop()?.slice(0, -name.length - 1)}${keyword} ${name}`);
  edits.push({ start, end, text: lines.join("\n") });
  return { returned: name };
}
