import { type Node, parse as parseScript, type Program } from "acorn";
import { createSyntaxError, type SourceError, type SourceFile } from "./source-error.ts";
import { type Stripper, stripTypes, type SyntaxIssue } from "./typescript.ts";

export interface ParsedSource extends SourceFile {
  program: Program;
  isTypeScript: boolean;
}

export type Language = "javascript" | "typescript" | "either";

/** `f<T>(x)` is two comparisons in JavaScript, which nobody means. */
const genericCallPattern = /[\w$]<[^()=;]{1,200}>\s*\(/;

/** Parses a file as JavaScript; if that fails, or looks wrong, as TypeScript. */
export async function parseSource(
  name: string,
  source: string,
  language: Language,
  isBody: boolean,
  stripper: Stripper,
): Promise<ParsedSource> {
  const script: SourceFile = { name, source, text: source, columnMap: {} };
  const program = language === "typescript" ? undefined : parseProgram(script, isBody);
  if (program && "type" in program && !(language === "either" && genericCallPattern.test(source)))
    return { ...script, program, isTypeScript: false };
  if (language === "javascript") throw toSourceError(script, program as SyntaxIssue);
  const typed = await parseTypeScript(script, isBody, stripper);
  if ("program" in typed) return typed;
  if (program && "type" in program) return { ...script, program, isTypeScript: false };
  // The parser that got further understood more of it.
  throw program && (program.pos ?? 0) > (typed.issue.pos ?? 0)
    ? toSourceError(script, program)
    : toSourceError(typed.file, typed.issue);
}

async function parseTypeScript(
  script: SourceFile,
  isBody: boolean,
  stripper: Stripper,
): Promise<ParsedSource | { file: SourceFile; issue: SyntaxIssue }> {
  const stripped = await stripTypes(script.source, stripper);
  if ("message" in stripped) return { file: script, issue: stripped };
  const file: SourceFile = { ...script, ...stripped };
  const program = parseProgram(file, isBody);
  return "type" in program ? { ...file, program, isTypeScript: true } : { file, issue: program };
}

function parseProgram({ text }: SourceFile, isBody: boolean): Program | SyntaxIssue {
  try {
    return parseScript(text, {
      ecmaVersion: "latest",
      sourceType: "module",
      allowReturnOutsideFunction: isBody,
      allowHashBang: true,
    });
  } catch (error) {
    const { message, pos } = error as SyntaxIssue;
    return { message, pos };
  }
}

function toSourceError(file: SourceFile, { message, pos }: SyntaxIssue): SourceError {
  // Errors without a position are not syntax errors, for example if the code is nested too deeply for the parser.
  if (pos === undefined) return createSyntaxError(file, 0, `The code cannot be parsed: ${message}`);
  return createSyntaxError(file, pos, message.replace(/ \(\d+:\d+\)$/, ""));
}

/** Calls back with every node of a tree, parents first. */
export function visit(node: Node, callback: (node: Node) => void): void {
  const left: Node[] = [node];
  for (let next = left.pop(); next; next = left.pop()) {
    callback(next);
    for (const value of Object.values(next)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (child !== null && typeof child === "object" && typeof (child as Node).type === "string")
          left.push(child as Node);
      }
    }
  }
}
