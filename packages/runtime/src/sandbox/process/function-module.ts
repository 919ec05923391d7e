import type { ExportDefaultDeclaration, ExportNamedDeclaration, ModuleDeclaration, Statement } from "acorn";
import { createBlank, type Edit, applyEdits, findUnusedName } from "./column-map.ts";
import { type Exports, rewriteImports } from "./module.ts";
import type { ParsedSource } from "./parse.ts";
import { createSyntaxError } from "./source-error.ts";

export interface FunctionModule {
  text: string;
  /** Whether the code exports its result as default. If that is a function, it is called. */
  exportsDefault: boolean;
}

/** Turns code that is the body of an async function into a module that exports that function. */
export function toFunctionModule(parsed: ParsedSource, exports: Exports): FunctionModule {
  const { head, edits } = rewriteImports(parsed, exports);
  const result = rewriteExports(parsed);
  const opening = `${head.join("")}export default async function(${result.parameter ?? ""}){`;
  const closing = result.returned ? `;return ${result.returned}}` : "}";
  return {
    text: `${opening}\n${applyEdits(parsed.text, [...edits, ...result.edits])}\n${closing}`,
    exportsDefault: result.returned !== undefined,
  };
}

interface ResultRewrite {
  edits: Edit[];
  /** The expression that the function returns at its end. */
  returned?: string;
  /** A parameter that holds the exported value until then. */
  parameter?: string;
}

/** Removes exports, since a function cannot have any, and returns the default export. */
function rewriteExports(parsed: ParsedSource): ResultRewrite {
  const { program, text } = parsed;
  const result: ResultRewrite = { edits: [] };
  const first = program.body.find(isExport);
  for (const statement of program.body) {
    if (statement.type === "ExportDefaultDeclaration")
      Object.assign(result, rewriteDefaultExport(text, statement, result.edits));
    if (statement.type !== "ExportNamedDeclaration") continue;
    const named = statement.specifiers.find(
      ({ exported }) => exported.type === "Identifier" && exported.name === "default",
    );
    if (named && statement.source)
      throw createSyntaxError(parsed, statement.start, "The result cannot be re-exported: import it and return it");
    if (named?.local.type === "Identifier") result.returned = named.local.name;
    if (!statement.source)
      result.edits.push(createBlank(text, statement.start, statement.declaration?.start ?? statement.end));
  }
  if (first && result.returned === undefined) {
    throw createSyntaxError(
      parsed,
      first.start,
      "The code exports something, but not its result: return the result, or export it as default",
    );
  }
  return result;
}

function isExport(statement: Statement | ModuleDeclaration): statement is ExportNamedDeclaration {
  return (
    statement.type === "ExportNamedDeclaration" ||
    statement.type === "ExportAllDeclaration" ||
    statement.type === "ExportDefaultDeclaration"
  );
}

function rewriteDefaultExport(
  text: string,
  { start, declaration }: ExportDefaultDeclaration,
  edits: Edit[],
): Pick<ResultRewrite, "returned" | "parameter"> {
  const isDeclared = declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration";
  if (isDeclared && declaration.id) {
    edits.push(createBlank(text, start, declaration.start));
    return { returned: declaration.id.name };
  }
  const name = findUnusedName(text, "main");
  if (!isDeclared) {
    edits.push(createBlank(text, start, declaration.start, `${name}=`));
    return { returned: name, parameter: name };
  }
  // A declaration needs a name; there is space for one where “export default” was.
  const keyword = /^(async\s+function|function)(\s*\*)?|^class/.exec(text.slice(declaration.start))?.[0] ?? "";
  const end = declaration.start + keyword.length;
  const lines = createBlank(text, start, declaration.start).text.split("\n");
  lines.push(`${lines.pop()?.slice(0, -name.length - 1)}${keyword} ${name}`);
  edits.push({ start, end, text: lines.join("\n") });
  return { returned: name };
}
