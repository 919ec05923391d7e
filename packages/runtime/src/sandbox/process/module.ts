import type {
  ExportAllDeclaration,
  ExportNamedDeclaration,
  Identifier,
  ImportDeclaration,
  ImportExpression,
  Literal,
  Node,
} from "acorn";
import { createBlank, type Edit, applyEdits, findUnusedName } from "./column-map.ts";
import { resolveModule, describeMissingModule } from "./names.ts";
import { type ParsedSource, visit } from "./parse.ts";
import { createSyntaxError } from "./source-error.ts";

/** One file of the code as a module: what it imports is found, and everything else stays where it was. */

/** What a module offers to others; `undefined` if that cannot be told from its text alone. */
export type Exports = ReadonlyMap<string, ReadonlySet<string> | undefined>;

/** Every module of the user begins with one line of ours. */
export function toModule(parsed: ParsedSource, exports: Exports): string {
  const { head, edits } = rewriteImports(parsed, exports);
  return `${head.join("")}\n${applyEdits(parsed.text, edits)}`;
}

export interface Imports {
  /** What goes to the line of ours. */
  head: string[];
  edits: Edit[];
}

/** Imports go to the first line, where their module has its full name; an import in mid-code becomes a call of ours. */
export function rewriteImports(parsed: ParsedSource, exports: Exports): Imports {
  const { text, program, name } = parsed;
  const head: string[] = [];
  const edits: Edit[] = [];
  // A line for the shell comes first or not at all.
  if (text.startsWith("#!")) edits.push({ start: 0, end: 2, text: "//" });
  for (const statement of program.body) {
    if (
      statement.type !== "ImportDeclaration" &&
      statement.type !== "ExportAllDeclaration" &&
      statement.type !== "ExportNamedDeclaration"
    )
      continue;
    if (!statement.source) continue;
    const from = requireModule(parsed, statement.source, exports);
    head.push(renderStatement(parsed, statement, from, exports.get(from)));
    edits.push(createBlank(text, statement.start, statement.end));
  }
  if (!text.includes("import")) return { head, edits };
  const importer = findUnusedName(text, "$impor");
  let isUsed = false;
  visit(program, (node) => {
    if (node.type !== "ImportExpression") return;
    isUsed = true;
    edits.push({ start: node.start, end: node.start + importer.length, text: importer });
  });
  if (isUsed)
    head.push(
      `import{importFrom as ${importer}_}from"/thinkery/harness.js";const ${importer}=${importer}_(${JSON.stringify(name)});`,
    );
  return { head, edits };
}

/** What a module imports, with the place. One in mid-code may never be made. */
export function listImports({
  text,
  program,
}: ParsedSource): { specifier: string; start: number; isCertain: boolean }[] {
  const found: { specifier: string; start: number; isCertain: boolean }[] = [];
  const add = (source: Node, isCertain: boolean) => {
    const { value } = source as Literal;
    if (source.type === "Literal" && typeof value === "string")
      found.push({ specifier: value, start: source.start, isCertain });
  };
  for (const statement of program.body) {
    if (
      (statement.type === "ImportDeclaration" ||
        statement.type === "ExportAllDeclaration" ||
        statement.type === "ExportNamedDeclaration") &&
      statement.source
    )
      add(statement.source, true);
  }
  if (text.includes("import"))
    visit(program, (node) => node.type === "ImportExpression" && add((node as ImportExpression).source, false));
  return found;
}

function requireModule(parsed: ParsedSource, source: Literal, exports: Exports): string {
  const specifier = String(source.value);
  const found = resolveModule(specifier, parsed.name, (name) => exports.has(name));
  if (found === undefined)
    throw createSyntaxError(parsed, source.start, describeMissingModule(specifier, [...exports.keys()]));
  return found;
}

type FromStatement = ImportDeclaration | ExportAllDeclaration | ExportNamedDeclaration;

function renderStatement(
  parsed: ParsedSource,
  statement: FromStatement,
  module: string,
  offered: ReadonlySet<string> | undefined,
): string {
  const from = JSON.stringify(`/${module}`);
  const check = (node: Node, name: string) => {
    if (!offered || offered.has(name)) return;
    const has = offered.size > 0 ? `it has ${[...offered].slice(0, 20).join(", ")}` : "it exports nothing";
    throw createSyntaxError(parsed, node.start, `“${module}” does not export “${name}”; ${has}`);
  };
  if (statement.type === "ExportAllDeclaration")
    return `export*${statement.exported ? ` as ${renderName(statement.exported)} ` : ""}from${from};`;
  if (statement.type === "ExportNamedDeclaration") {
    // Only TypeScript knows that a name it passes on is a type, and then there is nothing to pass on.
    const kept = statement.specifiers.filter(
      ({ local }) => !parsed.isTypeScript || !offered || offered.has(getName(local)),
    );
    for (const { local } of kept) check(local, getName(local));
    return `export{${kept.map(({ local, exported }) => `${renderName(local)} as ${renderName(exported)}`).join(",")}}from${from};`;
  }
  const parts: string[] = [];
  const names: string[] = [];
  for (const specifier of statement.specifiers) {
    if (specifier.type === "ImportNamespaceSpecifier") {
      parts.push(`* as ${specifier.local.name}`);
    } else if (specifier.type === "ImportDefaultSpecifier") {
      check(specifier, "default");
      parts.unshift(specifier.local.name);
    } else {
      check(specifier, getName(specifier.imported));
      names.push(`${renderName(specifier.imported)} as ${specifier.local.name}`);
    }
  }
  if (names.length > 0) parts.push(`{${names.join(",")}}`);
  return parts.length > 0 ? `import ${parts.join(",")} from${from};` : `import${from};`;
}

function getName(node: Identifier | Literal): string {
  return node.type === "Identifier" ? node.name : String(node.value);
}

/** As it is written in code: a name that is no identifier is a string. */
function renderName(node: Identifier | Literal): string {
  return node.type === "Identifier" ? node.name : JSON.stringify(node.value);
}

/** The names a module exports, unless it passes on everything of another one. */
export function listExportedNames({ program }: ParsedSource): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const statement of program.body) {
    if (statement.type === "ExportDefaultDeclaration") names.add("default");
    if (statement.type === "ExportAllDeclaration") {
      if (!statement.exported) return undefined;
      names.add(getName(statement.exported));
    }
    if (statement.type !== "ExportNamedDeclaration") continue;
    for (const { exported } of statement.specifiers) names.add(getName(exported));
    if (!statement.declaration) continue;
    if (statement.declaration.type !== "VariableDeclaration") names.add(statement.declaration.id.name);
    // Patterns are walked whole: a name too many only means a later complaint, by the engine itself.
    else
      for (const { id } of statement.declaration.declarations)
        visit(id, (node) => node.type === "Identifier" && names.add((node as Identifier).name));
  }
  return names;
}
