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

/** The exported names of each module; undefined if they cannot be determined from its text alone. */
export type Exports = ReadonlyMap<string, ReadonlySet<string> | undefined>;

/** Turns one file of the code into a module. Its imports are resolved in an extra first line; nothing else moves. */
export function toModule(parsed: ParsedSource, exports: Exports): string {
  const { head, edits } = rewriteImports(parsed, exports);
  return `${head.join("")}\n${applyEdits(parsed.text, edits)}`;
}

export interface Imports {
  /** Statements for the extra first line. */
  head: string[];
  edits: Edit[];
}

/** Moves imports to the first line, with resolved names, and replaces `import()` by a function of the harness. */
export function rewriteImports(parsed: ParsedSource, exports: Exports): Imports {
  const { text, program, name } = parsed;
  const head: string[] = [];
  const edits: Edit[] = [];
  // A hashbang is only valid in the first line, so it becomes a comment.
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

/** Returns what a module imports, and where. An `import()` is not certain to be executed. */
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
  exported: ReadonlySet<string> | undefined,
): string {
  const from = JSON.stringify(`/${module}`);
  const check = (node: Node, name: string) => {
    if (!exported || exported.has(name)) return;
    const names = exported.size > 0 ? [...exported].slice(0, 20).join(", ") : "nothing";
    throw createSyntaxError(parsed, node.start, `“${module}” does not export “${name}”; it exports ${names}`);
  };
  if (statement.type === "ExportAllDeclaration")
    return `export*${statement.exported ? ` as ${renderName(statement.exported)} ` : ""}from${from};`;
  if (statement.type === "ExportNamedDeclaration") {
    // In TypeScript, a re-exported name may be a type, which does not exist at run time.
    const specifiers = statement.specifiers.filter(
      ({ local }) => !parsed.isTypeScript || !exported || exported.has(getName(local)),
    );
    for (const { local } of specifiers) check(local, getName(local));
    return `export{${specifiers.map((one) => `${renderName(one.local)} as ${renderName(one.exported)}`).join(",")}}from${from};`;
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

/** Renders a name as code: as a string unless it is an identifier. */
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
    // Patterns are walked entirely: a name too many only means that the engine reports the error later.
    else
      for (const { id } of statement.declaration.declarations)
        visit(id, (node) => node.type === "Identifier" && names.add((node as Identifier).name));
  }
  return names;
}
