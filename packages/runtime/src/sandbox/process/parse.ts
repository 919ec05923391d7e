import { type Node, parse as parseScript, type Program } from "acorn";
import { createSyntaxError, type SourceError, type SourceFile } from "./source-error.ts";
import { type Stripper, stripTypes, type SyntaxIssue } from "./typescript.ts";

/** JavaScript is read as it is; what cannot be read so is tried as TypeScript. */

export interface ParsedSource extends SourceFile {
  program: Program;
  isTypeScript: boolean;
}

export type Language = "javascript" | "typescript" | "either";

/** `f<T>(x)` is two comparisons in JavaScript. Nobody means those. */
const generics = /[\w$]<[^()=;]{1,200}>\s*\(/;

export async function parseSource(
  name: string,
  given: string,
  language: Language,
  isBody: boolean,
  stripper: Stripper,
): Promise<ParsedSource> {
  const script: SourceFile = { name, given, text: given, drift: {} };
  const read = language === "typescript" ? undefined : parseProgram(script, isBody);
  if (read && "type" in read && !(language === "either" && generics.test(given)))
    return { ...script, program: read, isTypeScript: false };
  if (language === "javascript") throw toSourceError(script, read as SyntaxIssue);
  const typed = await parseTypeScript(script, isBody, stripper);
  if ("program" in typed) return typed;
  if (read && "type" in read) return { ...script, program: read, isTypeScript: false };
  // Whichever reading got further understood more of it.
  throw read && (read.pos ?? 0) > (typed.unread.pos ?? 0)
    ? toSourceError(script, read)
    : toSourceError(typed.source, typed.unread);
}

async function parseTypeScript(
  script: SourceFile,
  isBody: boolean,
  stripper: Stripper,
): Promise<ParsedSource | { source: SourceFile; unread: SyntaxIssue }> {
  const stripped = await stripTypes(script.given, stripper);
  if ("message" in stripped) return { source: script, unread: stripped };
  const source: SourceFile = { ...script, ...stripped };
  const read = parseProgram(source, isBody);
  return "type" in read ? { ...source, program: read, isTypeScript: true } : { source, unread: read };
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

function toSourceError(source: SourceFile, { message, pos }: SyntaxIssue): SourceError {
  // Code that is nested too deeply for the parser is no syntax error to it.
  if (pos === undefined) return createSyntaxError(source, 0, `The code cannot be read: ${message}`);
  return createSyntaxError(source, pos, message.replace(/ \(\d+:\d+\)$/, ""));
}

/** Calls back with every node of a tree, parents first. */
export function visit(node: Node, see: (node: Node) => void): void {
  const left: Node[] = [node];
  for (let next = left.pop(); next; next = left.pop()) {
    see(next);
    for (const value of Object.values(next)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (child !== null && typeof child === "object" && typeof (child as Node).type === "string")
          left.push(child as Node);
      }
    }
  }
}
