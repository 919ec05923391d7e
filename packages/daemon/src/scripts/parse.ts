import { fail, type Problem, validateScript, type Script } from "@thinkery/sdk";
import { type Document, isNode, LineCounter, parseDocument } from "yaml";

/** Reads the text of a script. `file` is how messages call it. */
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
      `${file}, ${formatPosition(error.pos[0])}: this is not valid YAML (${lowercaseFirst(error.message)}).`,
    );

  const { script, problems } = validateScript(toPlainValue(file, document));
  if (script) return script;
  const told = problems.map(({ path, message }) => ({
    path,
    message: `${message} (${formatPosition(findOffset(document, path))})`,
  }));
  const { path = [], message = "not valid" } = problems[0] ?? {};
  const subject = path.length > 0 ? `${path.join(".")}: ` : "";
  throw fail("bad_request", `${file}, ${formatPosition(findOffset(document, path))}: ${subject}${message}.`, {
    problems: told,
  });
}

// Without the parser's excerpts: a message must not show what else is in a file.
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
    throw fail("bad_request", `${file} refers to its own parts too often, or to some that are not there.`);
  }
}

// What is missing is looked for where it should have been.
function findOffset(document: Document, path: Problem["path"]): number {
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
