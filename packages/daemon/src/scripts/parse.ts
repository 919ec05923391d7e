import { fail, type ValidationIssue, validateScript, type Script } from "@thinkery/sdk";
import { type Document, isNode, LineCounter, parseDocument } from "yaml";

/** Parses and validates a script. `file` is its name in error messages. */
export function parseScript(file: string, text: string): Script {
  const lines = new LineCounter();
  const formatPosition = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  const document = readDocument(file, text, lines);
  const [error] = document.errors;
  if (error)
    throw fail(
      "bad_request",
      `${file}, ${formatPosition(error.pos[0])}: invalid YAML (${lowercaseFirst(error.message)}).`,
    );

  const { script, issues } = validateScript(toPlainValue(file, document));
  if (script) return script;
  const located = issues.map(({ path, message }) => ({
    path,
    message: `${message} (${formatPosition(findOffset(document, path))})`,
  }));
  const { path = [], message = "invalid script" } = issues[0] ?? {};
  const subject = path.length > 0 ? `${path.join(".")}: ` : "";
  throw fail("bad_request", `${file}, ${formatPosition(findOffset(document, path))}: ${subject}${message}.`, {
    issues: located,
  });
}

// prettyErrors off: a message must not quote the file, which may contain secrets.
function readDocument(file: string, text: string, lineCounter: LineCounter): Document {
  try {
    return parseDocument(text.replace(/^\uFEFF/, ""), { lineCounter, prettyErrors: false });
  } catch {
    throw fail("bad_request", `${file} is nested too deeply.`);
  }
}

function toPlainValue(file: string, document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw fail("bad_request", `${file} has too many aliases, or an alias without an anchor.`);
  }
}

// For a missing value, returns the offset of its closest existing parent.
function findOffset(document: Document, path: ValidationIssue["path"]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function lowercaseFirst(message: string): string {
  const [first = "", ...rest] = message.split("\n")[0] ?? "";
  return first.toLowerCase() + rest.join("").replace(/\.$/, "");
}
